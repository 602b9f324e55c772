import { join, sep } from 'node:path';
import ts from 'typescript';

/** The strictness that generated code promises to pass. */
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
};

/** What projects import, by its path: parsed once for all of them. */
const imported = new Map<string, ts.SourceFile>();

/**
 * Type-checks a folder of generated code as a user would; returns what the compiler says of its files, empty when they are
 * clean. The packages that they import are taken for declarations, as they are for a user: their own sources are checked
 * once, beside the tests. `looser` are options in the place of ours, for code that others generate.
 */
export async function typeCheck(
  folder: string,
  looser: Readonly<Record<string, boolean | readonly string[]>> = {},
): Promise<string> {
  const json = { compilerOptions: { ...compilerOptions, ...looser }, include: ['generated', 'extensions'] };
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(json, ts.sys, folder);
  const program = ts.createProgram({ options, rootNames: fileNames, host: sharingHost(options, folder) });
  const own = program.getSourceFiles().filter(({ fileName }) => isIn(folder, fileName));
  if (own.length === 0) return 'There are no files to check.';
  const diagnostics = [
    ...errors,
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...own.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ];
  return ts.formatDiagnostics(diagnostics, {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: () => folder,
    getNewLine: () => '\n',
  });
}

function sharingHost(options: ts.CompilerOptions, folder: string): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    getSourceFile(name, target, ...rest) {
      if (isIn(folder, name)) return host.getSourceFile(name, target, ...rest);
      const file = imported.get(name) ?? host.getSourceFile(name, target, ...rest);
      if (file !== undefined) imported.set(name, file);
      return file;
    },
  };
}

function isIn(folder: string, name: string): boolean {
  return join(name).startsWith(join(folder) + sep);
}
