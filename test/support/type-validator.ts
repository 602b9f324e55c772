/** TypeScript types → what JSON they allow, so that answers can be compared with the types that were inferred for them. */
import ts from 'typescript';

/** Says where a value is not of a type: `[0].author.name: number is not string`; null when it is. */
export type Validate = (value: unknown) => string | null;

/** Reads the types that a file exports, by name. Throws when the file has an error. */
export function readTypes(file: string, options: ts.CompilerOptions): ReadonlyMap<string, Validate> {
  const program = ts.createProgram([file], options);
  const [problem] = ts.getPreEmitDiagnostics(program);
  if (problem) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, '\n'));
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const symbol = source && checker.getSymbolAtLocation(source);
  const exported = symbol ? checker.getExportsOfModule(symbol) : [];
  return new Map(
    exported.map((one) => {
      const type = checker.getDeclaredTypeOfSymbol(one);
      return [one.name, (value: unknown) => fault(checker, type, value, '')];
    }),
  );
}

function fault(checker: ts.TypeChecker, type: ts.Type, value: unknown, path: string): string | null {
  if (isJson(checker, type)) return null;
  if (type.isUnion()) {
    const faults = type.types.map((one) => fault(checker, one, value, path));
    // The fault that lies deepest tells most.
    return faults.includes(null) ? null : (faults.toSorted((a, b) => (b ?? '').length - (a ?? '').length)[0] ?? null);
  }
  if (checker.isArrayType(type)) {
    const [element] = checker.getTypeArguments(asReference(type));
    if (!Array.isArray(value) || element === undefined) return differs(checker, type, value, path);
    return firstFault(value.map((one, index) => () => fault(checker, element, one, `${path}[${index}]`)));
  }
  const { flags } = type;
  if (flags & ts.TypeFlags.Object) return objectFault(checker, type, value, path);
  const fits =
    (flags & ts.TypeFlags.StringLiteral && type.isStringLiteral() && value === type.value) ||
    (flags & ts.TypeFlags.String && typeof value === 'string') ||
    (flags & ts.TypeFlags.Number && typeof value === 'number') ||
    (flags & ts.TypeFlags.BooleanLiteral && String(value) === checker.typeToString(type)) ||
    (flags & ts.TypeFlags.Boolean && typeof value === 'boolean') ||
    (flags & ts.TypeFlags.Null && value === null);
  return fits ? null : differs(checker, type, value, path);
}

/** Objects have exactly the members of their type. */
function objectFault(checker: ts.TypeChecker, type: ts.Type, value: unknown, path: string): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return differs(checker, type, value, path);
  const found = new Map(Object.entries(value));
  const members = checker.getPropertiesOfType(type);
  const names = new Set(members.map(({ name }) => name));
  const more = [...found.keys()].find((name) => !names.has(name));
  if (more !== undefined) return `${path}.${more}: nobody asked for it`;
  return firstFault(
    members.map((member) => () => {
      if (!found.has(member.name)) return `${path}.${member.name}: it is missing`;
      return fault(checker, checker.getTypeOfSymbol(member), found.get(member.name), `${path}.${member.name}`);
    }),
  );
}

function firstFault(checks: readonly (() => string | null)[]): string | null {
  for (const check of checks) {
    const found = check();
    if (found !== null) return found;
  }
  return null;
}

function isJson(checker: ts.TypeChecker, type: ts.Type): boolean {
  return /(^|\| )(JsonValue|JsonObject|readonly JsonValue\[\])($| \|)/.test(checker.typeToString(type));
}

function asReference(type: ts.Type): ts.TypeReference {
  if (!isReference(type)) throw new Error('An array has an element.');
  return type;
}

function isReference(type: ts.Type): type is ts.TypeReference {
  return 'target' in type;
}

function differs(checker: ts.TypeChecker, type: ts.Type, value: unknown, path: string): string {
  const shown = (JSON.stringify(value) ?? 'undefined').slice(0, 60);
  return `${path}: ${shown} is not ${checker.typeToString(type).slice(0, 200)}`;
}
