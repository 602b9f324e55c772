/** The TypeScript compilers that generated clients promise to pass. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const own = createRequire(import.meta.url);
const others = createRequire(new URL('../compilers/package.json', import.meta.url));

/** Their commands, by version. */
export const compilers = {
  '5.4': others.resolve('typescript5/bin/tsc'),
  '5.9': own.resolve('typescript/bin/tsc'),
  '6.0': others.resolve('@typescript/typescript6/bin/tsc6'),
  '7.0': fileURLToPath(new URL('../compilers/node_modules/typescript/bin/tsc', import.meta.url)),
} as const;

/** A version of TypeScript. */
export type Version = keyof typeof compilers;

/** All of them, the oldest first. */
export const versions: readonly Version[] = ['5.4', '5.9', '6.0', '7.0'];

/** What users of generated clients have set, at its strictest. */
export const compilerOptions = {
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  noEmit: true,
  allowImportingTsExtensions: true,
};

/** What a compiler said of a project, its complaints and then its statistics. */
export interface Verdict {
  readonly complaints: string;
  readonly instantiations: number;
}

/** Checks the project at a `tsconfig.json`. */
export function check(version: Version, project: string): Promise<Verdict> {
  const args = [compilers[version], '--project', project, '--pretty', 'false', '--extendedDiagnostics'];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { maxBuffer: 1e8 }, (_, output) => {
      const [, instantiations] = /^Instantiations:\s+(\d+)$/m.exec(output) ?? [];
      const complaints = output
        .split('\n')
        .filter((line) => /error TS/.test(line))
        .join('\n');
      resolve({ complaints, instantiations: Number(instantiations ?? Number.NaN) });
    });
  });
}
