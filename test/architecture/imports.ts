/**
 * The law of directions: contract ← runtime; contract ← introspect; contract and introspect ← compiler; cli may import
 * all; client imports nothing; generated code imports the public entry of runtime, its own files and the project's
 * extensions. Nothing reaches into another package's folder, and what a package imports, its package.json names.
 */
import { dirname, join } from 'node:path/posix';
import ts from 'typescript';
import { nodesOf, parseSource, placeOf } from './files.ts';

/** A part of the repository and what it may import. */
export interface Layer {
  /** Folder its files lie in; relative imports must stay inside. */
  readonly folder: string;
  /** Another folder that relative imports may lead to. */
  readonly beside?: string;
  /** Public entries of our own packages that it may import. */
  readonly ours: readonly string[];
  /** Packages of others that it may import; `node:` stands for Node's own modules. */
  readonly others: readonly string[];
}

/** The imports of one file that its layer does not allow, each as `path:line imports 'name': reason`. */
export function importViolations(layer: Layer, path: string, text: string): string[] {
  return importsOf(parseSource(path, text)).flatMap((name) => {
    const reason = refusal(layer, path, name.text);
    return reason ? [`${placeOf(name)} imports '${name.text}': ${reason}`] : [];
  });
}

/** The packages that one file imports; `node:` stands for Node's own modules. */
export function packagesImported(path: string, text: string): string[] {
  const names = importsOf(parseSource(path, text)).map(({ text: name }) => name);
  return names.filter((name) => !name.startsWith('.')).map(packageOf);
}

/** The names of what a file imports, or exports again, of a module, without types; `*` for all of it. */
export function valuesImported(path: string, text: string, module: string): string[] {
  return importsOf(parseSource(path, text))
    .filter((name) => name.text === module)
    .flatMap(({ parent }) => {
      if (ts.isLiteralTypeNode(parent)) return [];
      if (ts.isImportDeclaration(parent)) return importedBy(parent.importClause);
      if (!ts.isExportDeclaration(parent)) return ['*'];
      const { exportClause, isTypeOnly } = parent;
      if (isTypeOnly) return [];
      return exportClause && ts.isNamedExports(exportClause) ? valuesOf(exportClause.elements) : ['*'];
    });
}

function importedBy(clause: ts.ImportClause | undefined): string[] {
  if (clause === undefined) return ['*'];
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return [];
  const { name, namedBindings } = clause;
  const own = name === undefined ? [] : ['default'];
  if (namedBindings === undefined) return own;
  return [...own, ...(ts.isNamedImports(namedBindings) ? valuesOf(namedBindings.elements) : ['*'])];
}

function valuesOf(elements: ts.NodeArray<ts.ImportSpecifier | ts.ExportSpecifier>): string[] {
  return elements.filter(({ isTypeOnly }) => !isTypeOnly).map(({ name, propertyName }) => (propertyName ?? name).text);
}

function refusal(layer: Layer, path: string, name: string): string | undefined {
  if (name.startsWith('.')) {
    const target = join(dirname(path), name);
    const reachable = [layer.folder, layer.beside ?? layer.folder];
    return reachable.some((folder) => target.startsWith(`${folder}/`)) ? undefined : `leaves ${layer.folder}`;
  }
  if (packageOf(name) === 'tablewright' || name.startsWith('@tablewright/')) {
    return layer.ours.includes(name) ? undefined : `${layer.folder} may import of ours only [${layer.ours.join(', ')}]`;
  }
  return layer.others.includes(packageOf(name)) ? undefined : 'not in the dependencies of its package.json';
}

function packageOf(name: string): string {
  if (name.startsWith('node:')) return 'node:';
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Module names by the file: several laws ask for those of the same files. */
const found = new WeakMap<ts.SourceFile, readonly ts.StringLiteral[]>();

function importsOf(source: ts.SourceFile): readonly ts.StringLiteral[] {
  const names = found.get(source) ?? [...findImports(source)];
  found.set(source, names);
  return names;
}

/** The module names of `import`, `export … from`, `import()`, `import.meta.resolve()` and `import('…')` types. */
function* findImports(source: ts.SourceFile): Generator<ts.StringLiteral> {
  // Most files have the word in no other place than at the start of their statements.
  const words = source.text.match(/\bimport\b|\bmodule\b|\bnamespace\b/g)?.length ?? 0;
  const isFlat = words === source.statements.filter(ts.isImportDeclaration).length;
  for (const node of isFlat ? source.statements : nodesOf(source)) {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      if (node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) yield node.moduleSpecifier;
    } else if (ts.isCallExpression(node) && isImporter(node.expression)) {
      const [name] = node.arguments;
      if (name && ts.isStringLiteral(name)) yield name;
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      if (ts.isStringLiteral(node.argument.literal)) yield node.argument.literal;
    }
  }
}

function isImporter(called: ts.Expression): boolean {
  if (called.kind === ts.SyntaxKind.ImportKeyword) return true;
  return (
    ts.isPropertyAccessExpression(called) && ts.isMetaProperty(called.expression) && called.name.text === 'resolve'
  );
}
