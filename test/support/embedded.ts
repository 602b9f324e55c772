/**
 * Embedded databases of tests are copies of one that PGlite has made: to make one takes four seconds of a processor. Tests
 * that start the command by its file, as users do, have it make theirs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { PGlite } from '@electric-sql/pglite';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
const entry = JSON.stringify(pathToFileURL(join(folder, 'index.js')).href);

/** File of an empty database of the version that is installed. It is made once. */
function emptyDatabase(): string {
  const { version } = JSON.parse(readFileSync(join(folder, '..', 'package.json'), 'utf8'));
  const file = join(root, '.tmp', `pglite-${version}.tar`);
  if (existsSync(file)) return file;
  mkdirSync(dirname(file), { recursive: true });
  const made = `${file}.${process.pid}`;
  const script = `import { writeFileSync } from 'node:fs';
    import { PGlite } from ${entry};
    const database = await PGlite.create();
    const dump = await database.dumpDataDir('none');
    writeFileSync(${JSON.stringify(made)}, new Uint8Array(await dump.arrayBuffer()));
    await database.close();`;
  execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
  renameSync(made, file);
  return file;
}

/** Opens an empty database in memory, or in a folder that is not there yet. */
export function createEmbedded(dataDir?: string): Promise<PGlite> {
  const loadDataDir = new Blob([readFileSync(emptyDatabase())]);
  if (dataDir !== undefined) mkdirSync(dataDir, { recursive: true });
  return PGlite.create({ ...(dataDir !== undefined && { dataDir }), loadDataDir });
}

/** A module in the place of PGlite's own, by which databases that commands make are copies. */
export function copyingModule(): string {
  return `import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { PGlite as Original } from ${entry};
export * from ${entry};
export const PGlite = {
  create(source, options) {
    const { dataDir, ...rest } = typeof source === 'string' ? { ...options, dataDir: source } : { ...source };
    const isFolder = dataDir !== undefined && !dataDir.includes('://');
    if (!isFolder || (existsSync(dataDir) && readdirSync(dataDir).length > 0)) return Original.create(source, options);
    return Original.create({ ...rest, dataDir, loadDataDir: new Blob([readFileSync(${JSON.stringify(emptyDatabase())})]) });
  },
};
`;
}
