import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from '../process/once.ts';

/** The packages that decide about texts of the compiler. */
const packages = ['@tablewright/compiler', '@tablewright/runtime/language'] as const;

/**
 * A text that differs for every version of the compiler, also one under development, and is the same for one version on
 * every machine. It is computed once, because modules that a process has loaded do not change.
 */
export const compilerStamp: () => string = once(takeStamp);

/** Hundreds of short files, which threads of their own would take longer to read. */
function takeStamp(): string {
  const hash = createHash('sha256').update(process.versions.v8);
  for (const name of packages) {
    const folder = dirname(fileURLToPath(import.meta.resolve(name)));
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isModule).sort();
    for (const path of paths) {
      const text = readFileSync(join(folder, path));
      hash.update(`${path} ${text.length}\n`).update(text);
    }
  }
  // The versions of the libraries that it prints with.
  hash.update(readFileSync(fileURLToPath(new URL('../package.json', import.meta.resolve(packages[0])))));
  return hash.digest('base64');
}

function isModule(path: string): boolean {
  return /\.[jt]s$/.test(path) && !/\.(?:d|test)\.ts$/.test(path);
}
