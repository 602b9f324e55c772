import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { once } from '../once.ts';

/** The packages that decide about texts of the compiler. */
const packages = ['@platform/compiler', '@platform/runtime/contract'] as const;

/**
 * A text that is another one for every other version of the compiler, also of one under development, and the same for one
 * version on every machine. It is taken once: what a process has loaded does not change.
 */
export const markOfCompiler: () => Promise<string> = once(takeMark);

async function takeMark(): Promise<string> {
  const hash = createHash('sha256').update(process.versions.v8);
  for (const name of packages) {
    const folder = dirname(fileURLToPath(import.meta.resolve(name)));
    const paths = (await readdir(folder, { recursive: true })).filter(isModule).sort();
    const texts = await Promise.all(paths.map((path) => readFile(join(folder, path))));
    for (const [at, text] of texts.entries()) hash.update(`${paths[at]} ${text.length}\n`).update(text);
  }
  // The versions of what it prints with.
  hash.update(await readFile(fileURLToPath(new URL('../package.json', import.meta.resolve(packages[0])))));
  return hash.digest('base64');
}

function isModule(path: string): boolean {
  return /\.[jt]s$/.test(path) && !/\.(?:d|test)\.ts$/.test(path);
}
