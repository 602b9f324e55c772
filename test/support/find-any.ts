/** Searches types for `any`, which is also what TypeScript makes of a name that nothing declares. */
import ts from 'typescript';

/** Places of `any` in what files export: `client/admin/index.d.ts: Client.activity.readOne()`. */
export function findAny(program: ts.Program, files: readonly ts.SourceFile[]): readonly string[] {
  const checker = program.getTypeChecker();
  const seen = new Set<ts.Type>();
  const found: string[] = [];

  function visit(type: ts.Type, place: string): void {
    if ((type.flags & ts.TypeFlags.Any) !== 0) found.push(place);
    if (seen.has(type)) return;
    seen.add(type);
    for (const [part, name] of partsOf(type)) visit(part, `${place}${name}`);
  }

  function partsOf(type: ts.Type): readonly Part[] {
    const passed = isReference(type) ? checker.getTypeArguments(type) : [];
    const values = [...(type.aliasTypeArguments ?? []), ...passed].map((part, at): Part => [part, `<${at}>`]);
    if ((type.flags & ts.TypeFlags.TypeParameter) !== 0) return constraintOf(type);
    if (type.isUnionOrIntersection()) return [...values, ...type.types.map((part, at): Part => [part, `|${at}`])];
    if ((type.flags & ts.TypeFlags.Object) === 0) return values;
    // The standard library has `any` in places; what it is given is looked at all the same.
    return isStandard(type) ? values : [...values, ...membersOf(type)];
  }

  function membersOf(type: ts.Type): readonly Part[] {
    return [
      ...checker.getPropertiesOfType(type).map((one): Part => [checker.getTypeOfSymbol(one), `.${one.name}`]),
      ...checker.getIndexInfosOfType(type).map(({ type: part }): Part => [part, '[]']),
      ...[...type.getCallSignatures(), ...type.getConstructSignatures()].flatMap((signature) => [
        ...(signature.typeParameters ?? []).map((part): Part => [part, '<>']),
        ...signature.parameters.map((one): Part => [checker.getTypeOfSymbol(one), `(${one.name})`]),
        [signature.getReturnType(), '()'] as const,
      ]),
    ];
  }

  function constraintOf(type: ts.Type): readonly Part[] {
    const constraint = checker.getBaseConstraintOfType(type);
    return constraint === undefined ? [] : [[constraint, ' extends']];
  }

  function isStandard(type: ts.Type): boolean {
    return (type.symbol?.declarations ?? []).some((one) => program.isSourceFileDefaultLibrary(one.getSourceFile()));
  }

  for (const file of files) {
    const module = checker.getSymbolAtLocation(file);
    for (const one of module === undefined ? [] : checker.getExportsOfModule(module)) {
      const symbol = (one.flags & ts.SymbolFlags.Alias) === 0 ? one : checker.getAliasedSymbol(one);
      const isType = (symbol.flags & ts.SymbolFlags.Type) !== 0;
      const type = isType ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol);
      visit(type, `${file.fileName}: ${one.name}`);
    }
  }
  return found;
}

/** A type that another one is made of, and what stands for it behind the name of that one. */
type Part = readonly [ts.Type, string];

function isReference(type: ts.Type): type is ts.TypeReference {
  return 'objectFlags' in type && (Number(type.objectFlags) & ts.ObjectFlags.Reference) !== 0;
}
