/** `platform generate --clients-only`: the client packages of some access classes, and no other file. */
import { relative } from 'node:path';
import { resealManifest } from '../output/manifest.ts';
import { type OutputFile, writeFiles } from '../output/write-files.ts';
import type { Project } from '../project/project.ts';
import { count } from '../terminal/format.ts';
import type { Progress } from '../terminal/progress.ts';
import { refuseWriting } from './compile-project.ts';
import { factsOf, loadInputs, report, resolveProject } from './steps.ts';

/** The clients to write, and the source of the schema. */
interface ClientsOptions {
  /** Access classes by name. */
  readonly classes: readonly string[] | 'all';
  /** Compile `platform.schema.json`, without a database. */
  readonly offline: boolean;
  /** Overwrite files that were edited. */
  readonly force: boolean;
}

/** Compiles and writes the clients. Everything else in the output folder stays, and so does `platform.schema.json`. */
export async function generateClients(project: Project, progress: Progress, options: ClientsOptions): Promise<void> {
  const files = await compileClients(project, progress, options);
  const folders = new Set(files.map(({ path }) => folderOf(path)));
  const covers = (path: string): boolean => folders.has(folderOf(path));
  const manifest = await resealManifest(project.output, files, covers);
  const result = await progress
    .phase('write', () => writeFiles(project.output, [...files, manifest], { covers, force: options.force }))
    .catch((error: unknown) => refuseWriting(error, project, progress));
  const folder = relative(process.cwd(), project.output) || '.';
  const { paths: _, ...written } = result;
  progress.event('summary', { clients: [...folders].sort(), ...written, folder });
  progress.print(
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
