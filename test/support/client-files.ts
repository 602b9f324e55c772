/** Generated clients on disk, where the packages of this repository are found from. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Schema } from '@tablewright/introspect/schema';
import { emitClient } from '../../packages/compiler/src/client/index.ts';
import type { GeneratedFile } from '../../packages/compiler/src/emit/generated-file.ts';
import { compileTemplates } from '../../packages/compiler/src/emit/templates.ts';
import { resolveApi } from '../../packages/compiler/src/passes/resolve-api.ts';
import { templates } from '../../packages/compiler/src/testing/compile-fixture.ts';
import { compilerOptions } from './compilers.ts';

const repository = join(import.meta.dirname, '../..');

/** A folder of files. */
export interface ClientFolder {
  readonly folder: string;
  /** Adds files. */
  write(files: Readonly<Record<string, string>>): Promise<void>;
  remove(): Promise<void>;
}

/** The files of clients: of all access classes of a schema, or of those that are named. */
export function emitClients(schema: Schema, classes?: readonly string[]): readonly GeneratedFile[] {
  const api = resolveApi(schema);
  const render = compileTemplates(templates);
  const wanted = api.access.filter(({ access }) => classes === undefined || classes.includes(access.name));
  return wanted.flatMap(({ access }) => emitClient(api, access, render));
}

/**
 * Bytes that a browser loads of each client besides the library, for each collection of its class on average: the script,
 * compressed as it was generated. Clients without collections are left out.
 */
export function bytesPerCollection(files: readonly GeneratedFile[]): readonly number[] {
  const scripts = files.filter(({ path }) => path.endsWith('/index.js'));
  return scripts.flatMap(({ path, contents }) => {
    const folder = `${dirname(path)}/collections/`;
    const collections = files.filter((file) => file.path.startsWith(folder)).length;
    return collections === 0 ? [] : [gzipSync(contents).length / collections];
  });
}

/** Writes the clients of a schema's access classes, and a project beside them; with names, of those classes only. */
export async function writeClients(schema: Schema, classes?: readonly string[]): Promise<ClientFolder> {
  const parent = join(repository, '.tmp');
  await mkdir(parent, { recursive: true });
  const folder = await mkdtemp(join(parent, 'client-'));
  const files = emitClients(schema, classes);
  const write = async (texts: Readonly<Record<string, string>>): Promise<void> => {
    for (const [path, text] of Object.entries(texts)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  };
  await write({
    ...Object.fromEntries(files.map(({ path, contents }) => [path, contents])),
    'tsconfig.json': JSON.stringify({
      compilerOptions: { ...compilerOptions, skipLibCheck: false },
      include: ['*.ts'],
    }),
    'tsconfig.fast.json': JSON.stringify({
      compilerOptions: { ...compilerOptions, skipLibCheck: true },
      include: ['*.ts'],
    }),
  });
  return { folder, write, remove: () => rm(folder, { recursive: true, force: true }) };
}
