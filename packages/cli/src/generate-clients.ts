/** `platform generate --clients-only`: the client packages of some access classes, and no other file. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { printJson } from '@tablewright/compiler/files';
import type { JsonValue } from '@tablewright/runtime/contract';
import type { Progress } from './progress.ts';
import type { Project } from './project.ts';
import { count, factsOf, loadInputs, report, resolveProject } from './steps.ts';
import { type OutputFile, writeFiles } from './write-files.ts';

/** The clients to write, and the source of the schema. */
export interface ClientsOptions {
  /** Access classes by name. */
  readonly classes: readonly string[] | 'all';
  /** Compile `platform.schema.json`, without a database. */
  readonly offline: boolean;
}

/** Compiles and writes the clients. Everything else in the output folder stays, and so does `platform.schema.json`. */
export async function generateClients(project: Project, progress: Progress, options: ClientsOptions): Promise<void> {
  const files = await compileClients(project, progress, options);
  const folders = new Set(files.map(({ path }) => folderOf(path)));
  const covers = (path: string): boolean => folders.has(folderOf(path));
  const list = await listWith(project, files, covers);
  const result = await progress.phase('write', () => writeFiles(project.output, [...files, list], undefined, covers));
  const folder = relative(process.cwd(), project.output) || '.';
  const { paths: _, ...written } = result;
  progress.event('summary', { clients: [...folders].sort(), ...written, folder });
  progress.say(
    `Compiled ${count(folders.size, 'client')} in ${folder}/: ${[...folders].sort().join(', ')} ` +
      `(${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed).`,
  );
}

async function compileClients(
  project: Project,
  progress: Progress,
  { classes, offline }: ClientsOptions,
): Promise<readonly OutputFile[]> {
  const facts = await factsOf(project, progress, { offline });
  const inputs = await loadInputs(project);
  const { schema } = await progress.phase('resolve', () => resolveProject(project, facts, progress));
  const { compile } = await import('@tablewright/compiler/compile');
  const result = await progress.phase('compile', () => compile(schema, { ...inputs, clientsOf: classes }));
  report(result.diagnostics, progress);
  return result.files;
}

/** The folder of the client that a file belongs to: `client/editor`. */
function folderOf(path: string): string {
  return path.split('/', 2).join('/');
}

/** `manifest.json` as the last run left it, with the files of these clients in the place of those they had. */
async function listWith(
  project: Project,
  clients: readonly OutputFile[],
  covers: (path: string) => boolean,
): Promise<OutputFile> {
  const path = 'manifest.json';
  const manifest = parseManifest(await readFile(join(project.output, path), 'utf8').catch(() => ''));
  const kept = manifest.files.filter((file) => !covers(file));
  const files = [...kept, ...clients.map((client) => client.path)].sort();
  return { path, contents: printJson({ ...manifest, files }) };
}

interface Manifest {
  readonly [key: string]: JsonValue;
  readonly files: readonly string[];
}

/** The manifest; where there is none, or one that cannot be read, that of an empty folder. */
function parseManifest(text: string): Manifest {
  try {
    const manifest: Manifest = JSON.parse(text);
    return { ...manifest, files: manifest.files.map(String) };
  } catch {
    return { format: 1, files: ['manifest.json'] };
  }
}
