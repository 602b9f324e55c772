/** The law of examples: functions and methods that users call show a call, which type-checks against the packages. */
import { relative } from 'node:path';
import ts from 'typescript';
import { root } from './files.ts';

/** An example, and the declaration that it belongs to. */
export interface Example {
  /** `path:line name` */
  readonly place: string;
  /** Empty where a declaration that needs one has none. */
  readonly text: string;
  /** Entry file that exports the declaration, and what else that one exports. */
  readonly entry: string;
  readonly names: readonly string[];
}

/** Examples are files of this folder, which are in memory only. */
const folder = `${root}/.tmp/examples`;

/** Modules that examples import, by their names. */
const modules: Record<string, string[]> = {
  '@tablewright/client': [`${root}/packages/client/src/index.ts`],
  '@tablewright/runtime': [`${root}/packages/runtime/src/index.ts`],
};

/** Values that examples may use without saying where they come from. */
const surroundings = `
import type { AnySchema, Client } from '@tablewright/client';
import type * as runtime from '@tablewright/runtime';
type Text = { readonly id: number; title?: string; author?: number; checked?: boolean };
type Things = runtime.CollectionTypes<number, Text, Text | { title: string }, Partial<Text>, never>;
type Page = runtime.SingletonTypes<{ text: string }, { text: string }, never>;
declare global {
  type Collections = { articles: Things; authors: runtime.CollectionTypes<number, Text, { name: string }, Text, never>; about: Page };
  type Role = 'editor';
  const client: Client<AnySchema>;
  const api: runtime.CompiledApi;
  const articles: runtime.CollectionDescriptor;
  const about: runtime.CollectionDescriptor;
  const rules: readonly runtime.WriteRule[];
  const progress: import('../../packages/cli/src/index.ts').Progress;
  const collections: readonly runtime.CollectionDescriptor[];
  const { access, dialect, routes, fingerprint, openapi, model }: runtime.CompiledApi;
  const { before, after, afterCommit, route }: runtime.ExtensionTools<Collections, Role>;
  const { items, transaction }: runtime.RouteRequest<Collections, {}>;
}
`;

/** Every exported function and class of the entry files, and every method of their interfaces; types of options too. */
export function examplesOf(entries: readonly string[], program = programOf(entries)): readonly Example[] {
  const checker = program.getTypeChecker();
  return entries.flatMap((entry) => {
    const source = program.getSourceFile(entry);
    const module = source && checker.getSymbolAtLocation(source);
    const exports = module ? checker.getExportsOfModule(module) : [];
    const names = exports.map(({ name }) => name);
    return exports.flatMap((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      return [symbol, ...methodsOf(symbol)]
        .filter((found) => isOurs(found) && (needsExample(checker, found) || exampleTags(checker, found).length > 0))
        .flatMap((found) => examplesAt(checker, found).map((example) => ({ ...example, entry, names })));
    });
  });
}

/** Errors of the type checker in examples, each as `place: message`. */
export function exampleErrors(examples: readonly Example[], program: ts.Program): readonly string[] {
  const options = program.getCompilerOptions();
  const host = ts.createCompilerHost(options);
  const texts = new Map([[`${folder}/surroundings.ts`, surroundings]]);
  for (const [index, example] of examples.entries())
    if (example.text !== '')
      texts.set(`${folder}/${index}.ts`, `${importsFor(example)}\n${example.text}\nexport {};\n`);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => texts.has(path) || fileExists(path);
  host.readFile = (path) => texts.get(path) ?? readFile(path);
  host.getSourceFile = (path, version, ...rest) => {
    const text = texts.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, version);
    return program.getSourceFile(path) ?? getSourceFile(path, version, ...rest);
  };
  const checked = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap((path) => {
    const source = checked.getSourceFile(path);
    const index = Number(/(\d+)\.ts$/.exec(path)?.[1] ?? -1);
    return [...checked.getSyntacticDiagnostics(source), ...checked.getSemanticDiagnostics(source)].map(
      ({ messageText }) =>
        `${examples[index]?.place ?? 'surroundings'}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    );
  });
}

/** Imports of the names that the module of an example exports, as far as the example names them. */
function importsFor({ text, entry, names }: Example): string {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(text));
  return used.length === 0 ? '' : `import { ${used.join(', ')} } from '${relative(folder, entry)}';`;
}

function methodsOf(symbol: ts.Symbol): readonly ts.Symbol[] {
  return symbol.flags & ts.SymbolFlags.Interface ? [...(symbol.members?.values() ?? [])] : [];
}

/** Files whose interfaces have methods that users call. */
const methodFiles = /client\/src\/(?!options)|extensions\/types/;

/** Functions, classes and methods; of the configuration each type. */
function needsExample(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  const declaration = symbol.declarations?.[0];
  if (declaration === undefined) return false;
  if (ts.isMethodSignature(declaration)) return methodFiles.test(declaration.getSourceFile().fileName);
  if (ts.isInterfaceDeclaration(declaration)) return declaration.getSourceFile().fileName.endsWith('/config/config.ts');
  if (!(symbol.flags & ts.SymbolFlags.Value) || ts.isPropertySignature(declaration)) return false;
  const type = checker.getTypeOfSymbolAtLocation(symbol, declaration);
  return type.getCallSignatures().length + type.getConstructSignatures().length > 0;
}

/** Methods of operations are printed from their declarations, and the codes of other packages are theirs. */
function isOurs(symbol: ts.Symbol): boolean {
  const path = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
  return (
    path.startsWith(`${root}/packages/`) &&
    !path.includes('/node_modules/') &&
    !path.endsWith('/client/src/operations.ts')
  );
}

function examplesAt(checker: ts.TypeChecker, symbol: ts.Symbol): readonly Pick<Example, 'place' | 'text'>[] {
  const declaration = symbol.declarations?.[0];
  if (declaration === undefined) return [];
  const source = declaration.getSourceFile();
  const line = source.getLineAndCharacterOfPosition(declaration.getStart()).line + 1;
  const place = `${relative(root, source.fileName)}:${line} ${symbol.name}`;
  const found = exampleTags(checker, symbol);
  return found.length === 0 ? [{ place, text: '' }] : found.map((text) => ({ place, text }));
}

function exampleTags(checker: ts.TypeChecker, symbol: ts.Symbol): readonly string[] {
  return symbol
    .getJsDocTags(checker)
    .filter(({ name }) => name === 'example')
    .map(({ text }) =>
      ts
        .displayPartsToString(text)
        .replaceAll(/^```\w*$/gm, '')
        .trim(),
    );
}

/** A program of entry files under the options of the repository, in which examples can be compiled as well. */
export function programOf(entries: readonly string[]): ts.Program {
  const { config } = ts.readConfigFile(`${root}/tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [], include: [] }, ts.sys, root);
  const names = { verbatimModuleSyntax: false, isolatedModules: false, noUnusedLocals: false };
  return ts.createProgram(entries, { ...options, ...names, paths: modules });
}
