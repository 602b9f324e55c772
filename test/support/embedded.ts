/**
 * Embedded databases of tests are copies of one that PGlite has made: to make one takes four seconds of a processor. Tests
 * that start the command by its file, as users do, have it make theirs.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
const entry = JSON.stringify(pathToFileURL(join(folder, 'index.js')).href);

/** Makes the file that opens an empty database in memory, from the folder of one. */
function emptyFile(): string {
  const [whole, copy] = [emptyFolder(), join(root, '.tmp', `pglite-copy-${process.pid}`)];
  try {
    return keep('.tar', (made) => {
      rmSync(copy, { recursive: true, force: true });
      cpSync(whole, copy, { recursive: true });
      return `const database = await PGlite.create(${JSON.stringify(copy)});
        const dump = await database.dumpDataDir('none');
        writeFileSync(${JSON.stringify(made)}, new Uint8Array(await dump.arrayBuffer()));`;
    });
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** The folder of an empty database, which is copied in less time than a file is unpacked. */
function emptyFolder(): string {
  return keep('', (made) => `const database = await PGlite.create(${JSON.stringify(made)});`);
}

/** Makes a database of the version that is installed, unless a former run has. */
function keep(suffix: string, create: (made: string) => string): string {
  const { version } = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8'));
  const path = join(root, '.tmp', `pglite-${version}${suffix}`);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const made = `${path}.${process.pid}`;
  const script = `import { writeFileSync } from 'node:fs';
    import { PGlite } from ${entry};
    ${create(made)}
    await database.close();`;
  // Code that runs once is not worth a second, better compilation.
  const once = ['--liftoff-only', '--no-wasm-tier-up', '--no-wasm-dynamic-tiering'];
  execFileSync(process.execPath, [...once, '--input-type=module', '--eval', script]);
  try {
    renameSync(made, path);
  } catch (error) {
    // Another run may have made the same meanwhile.
    if (!existsSync(path)) throw error;
    rmSync(made, { recursive: true });
  }
  return path;
}

/** Opens an empty database in memory, or in a folder that is not there yet. */
export function createEmbedded(dataDir?: string): Promise<PGlite> {
  if (dataDir === undefined) return PGlite.create({ loadDataDir: new Blob([readFileSync(emptyFile())]) });
  cpSync(emptyFolder(), dataDir, { recursive: true });
  return PGlite.create(dataDir);
}

/** A module in the place of PGlite's own, by which databases that commands make are copies. */
export function copyingModule(): string {
  return `import { cpSync, existsSync, readdirSync } from 'node:fs';
import { PGlite as Original } from ${entry};
export * from ${entry};
export const PGlite = {
  create(source, options) {
    const dataDir = typeof source === 'string' ? source : source?.dataDir;
    const isFolder = dataDir !== undefined && !dataDir.includes('://');
    const isNew = isFolder && (!existsSync(dataDir) || readdirSync(dataDir).length === 0);
    if (isNew) cpSync(${JSON.stringify(emptyFolder())}, dataDir, { recursive: true });
    return Original.create(source, options);
  },
};
`;
}
