/** The thread that checks types. Started by type-checks.ts; not meant to be imported. */
import { existsSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type ts from 'typescript';
import { isOwnPackage } from '../modules/own-packages.ts';
import type { TypeSources, TypeVerdict } from './type-checks.ts';

const { folder, folders }: TypeSources = workerData;

/** The strictness that generated code promises to pass; a `tsconfig.json` of the project comes first. */
const defaults = {
  target: 'es2024',
  lib: ['es2024'],
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
};

type Compiler = typeof ts;

let builder: ts.SemanticDiagnosticsBuilderProgram | undefined;
/** Files of the last checks by their paths. Most are those of packages, and parsing them took half of a check. */
const parsed = new Map<string, { readonly stamp: string; readonly file: ts.SourceFile }>();
let latest = 0;
/** Milliseconds, more than between two looks of the watcher. */
const betweenTries = 1_000;

parentPort?.on('message', (number: number) => {
  latest = number;
  // Other waiting messages are read first, so that only the last one is answered.
  setImmediate(() => void checkFor(number));
});

/**
 * Answers a request, unless another has come. The compiler ends where files go while it reads them, and the watcher misses
 * files that come and go between two looks. So it is tried twice.
 */
async function checkFor(number: number): Promise<void> {
  let verdict: TypeVerdict | undefined;
  for (let tries = 0; tries < 2 && verdict?.kind !== 'checked'; tries++) {
    if (tries > 0) await wait(betweenTries);
    if (number !== latest) return;
    verdict = await verdictOf();
  }
  parentPort?.postMessage({ number, verdict });
}

async function verdictOf(): Promise<TypeVerdict> {
  const start = performance.now();
  const compiler = await import('typescript').then(
    (module) => module.default,
    () => null,
  );
  if (compiler === null) return { kind: 'unchecked', reason: 'typescript is not installed' };
  const { version } = compiler;
  // TypeScript 7 is a command without functions that other programs can call.
  if (!('createSemanticDiagnosticsBuilderProgram' in compiler)) {
    return { kind: 'unchecked', reason: `typescript ${version} runs as a command only; run \`npx tsc\`` };
  }
  try {
    return { kind: 'checked', errors: check(compiler), ms: Math.round(performance.now() - start) };
  } catch (error) {
    builder = undefined;
    parsed.clear();
    return { kind: 'unchecked', reason: error instanceof Error ? error.message.replace(/\.+$/, '') : String(error) };
  }
}

function check(compiler: Compiler): readonly string[] {
  const configFile = join(folder, 'tsconfig.json');
  const config = existsSync(configFile) ? compiler.readConfigFile(configFile, compiler.sys.readFile).config : {};
  const json = {
    ...config,
    compilerOptions: { ...defaults, ...config.compilerOptions, noEmit: true },
    include: folders,
  };
  const { options, fileNames } = compiler.parseJsonConfigFileContent(json, compiler.sys, folder);
  const host = hostOf(compiler, options);
  builder = compiler.createSemanticDiagnosticsBuilderProgram(fileNames, options, host, builder);
  const program = builder;
  const files = program.getSourceFiles().filter(({ fileName }) => join(fileName).startsWith(folder + sep));
  const diagnostics = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...files.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]),
  ];
  return diagnostics.map(({ file, start, messageText }) => {
    const text = compiler.flattenDiagnosticMessageText(messageText, '\n').replace(/\n */g, ' ');
    if (file === undefined || start === undefined) return text;
    const { line } = file.getLineAndCharacterOfPosition(start);
    return `${relative(folder, file.fileName)}:${line + 1}: ${text}`;
  });
}

/** Files have versions, which determine what to check again; packages are those of the project, else of the command. */
function hostOf(compiler: Compiler, options: ts.CompilerOptions): ts.CompilerHost {
  const host = compiler.createIncrementalCompilerHost(options);
  const here = fileURLToPath(import.meta.url);
  const resolve = (name: string, from: string, mode: ts.ResolutionMode) =>
    compiler.resolveModuleName(name, from, options, host, undefined, undefined, mode);
  return {
    ...host,
    getSourceFile: (name, target, onError, isParsedAnew) => {
      const stamp = stampOf(name);
      const earlier = isParsedAnew === true ? undefined : parsed.get(name);
      const format = typeof target === 'object' ? target.impliedNodeFormat : undefined;
      if (earlier !== undefined && earlier.stamp === stamp && earlier.file.impliedNodeFormat === format)
        return earlier.file;
      const file = host.getSourceFile(name, target, onError, isParsedAnew);
      if (file !== undefined && stamp !== undefined) parsed.set(name, { stamp, file });
      return file;
    },
    resolveModuleNameLiterals: (literals, containing, redirected, _options, file) =>
      literals.map((literal) => {
        const mode = compiler.getModeForUsageLocation(file, literal, redirected?.commandLine.options ?? options);
        const found = resolve(literal.text, containing, mode);
        const isLent = found.resolvedModule === undefined && isOwnPackage(literal.text);
        return isLent ? resolve(literal.text, here, mode) : found;
      }),
  };
}

/** Differs after a change; undefined where there is no such file. */
function stampOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.mtimeMs} ${found.size}`;
}
