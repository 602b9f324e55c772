/**
 * What others need for the same: PostGraphile to build its schema over the same database, openapi-typescript to make types
 * of the same document. Each is a process of its own.
 */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readClassDocument } from '../test/support/class-documents.ts';
import { measured, run, type Usage } from './measured.ts';

const repository = join(import.meta.dirname, '..');
const scripts = join(import.meta.dirname, 'compile-peers');

/** What somebody else took. */
export interface Peer {
  readonly name: string;
  readonly usage: Usage;
}

/** Of the whole project: it is installed when it is measured, because nothing else needs its 300 MB. */
const postgraphile = '5.1.5';

/** Builds the schema of PostGraphile over a database. Rejects where it cannot be installed or does not manage. */
export async function buildPostgraphile(databaseUrl: string): Promise<Peer> {
  const folder = join(repository, '.tmp', 'postgraphile');
  if (!existsSync(join(folder, 'node_modules', 'postgraphile'))) await install(folder);
  const script = join(scripts, 'postgraphile.mjs');
  const { usage } = await measured((variables) =>
    run(process.execPath, [script], folder, { ...variables, DATABASE_URL: databaseUrl }),
  );
  return { name: `PostGraphile ${postgraphile} builds its schema`, usage };
}

async function install(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const manifest = { private: true, type: 'module', dependencies: { postgraphile } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--no-audit', '--no-fund', '--silent'], folder, {});
}

/** Makes types of the OpenAPI document of administrators of a compiled project. Rejects where memory does not last. */
export async function makeOpenapiTypes(folder: string): Promise<Peer> {
  const document = join(folder, 'openapi-admin.json');
  await writeFile(document, await readClassDocument(folder, 'openapi', 'admin'));
  const script = join(scripts, 'openapi-typescript.mjs');
  const { usage } = await measured((variables) => run(process.execPath, [script, document], repository, variables));
  return { name: 'openapi-typescript 7 over the OpenAPI document of admin', usage };
}
