import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The packages that decide about texts of the compiler. */
const packages = ['@platform/compiler', '@platform/runtime/contract'] as const;

/** A text that is another one for every other version of the compiler, also of one under development. */
export async function markOfCompiler(): Promise<string> {
  const hash = createHash('sha256').update(process.versions.v8);
  for (const name of packages) {
    const folder = dirname(fileURLToPath(import.meta.resolve(name)));
    const paths = (await readdir(folder, { recursive: true })).filter((path) => /\.[jt]s$/.test(path)).sort();
    const found = await Promise.all(paths.map((path) => stat(join(folder, path))));
    for (const [at, { size, mtimeMs }] of found.entries()) hash.update(`${paths[at]} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('base64');
}
