/**
 * What the last run of the compiler made of what: a run that would make the same of the same, and finds the files as that
 * one left them, need not make it.
 *
 * Compiling is a pure function of the schema and the inputs, so equal digests of these are equal files. Whether somebody
 * has touched a file is told by what the file system says of it, as version control does it: where that differs in any way,
 * as after a checkout, everything is made and compared.
 */
import { createHash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompileOptions, CompileSummary } from '@platform/compiler';
import type { Project } from '../project.ts';
import { replaceFile } from '../replace-file.ts';
import { markOfCompiler } from './mark.ts';

/** What is kept of a run, in `.platform/cache/last-run.json`. */
interface LastRun {
  readonly form: 1;
  /** Of what it was made from. */
  readonly digest: string;
  readonly summary: CompileSummary;
  /** What the file system said of each file, by its path below the output folder. */
  readonly files: readonly (readonly [path: string, mark: string])[];
}

/** A run that may be the same as the last. */
export interface RunSources {
  readonly inputs: Omit<CompileOptions, 'memory' | 'archive' | 'part'>;
  /** The text of `platform.schema.json`. */
  readonly schema: string;
}

/** What the last run made, where it is what this one would make and all of it is there; else null. */
export async function findUntouched(project: Project, sources: RunSources): Promise<CompileSummary | null> {
  const last = await readLastRun(project);
  if (last === null || last.digest !== (await digestOf(sources))) return null;
  return last.files.every(([path, mark]) => markOf(join(project.output, path)) === mark) ? last.summary : null;
}

/** Keeps what a run has made. Where that cannot be written, the next run makes it again. */
export async function keepRun(
  project: Project,
  sources: RunSources,
  summary: CompileSummary,
  paths: readonly string[],
): Promise<void> {
  const files = paths.map((path) => [path, markOf(join(project.output, path))] as const);
  const run: LastRun = { form: 1, digest: await digestOf(sources), summary, files };
  const path = pathOf(project);
  try {
    await mkdir(join(path, '..'), { recursive: true });
    await replaceFile(path, JSON.stringify(run));
  } catch {
    // Nothing is lost but time.
  }
}

/**
 * Whether files follow from the compiler and its sources alone: statements of documents are planned by the runtime, and
 * types of other generators made by these.
 */
export function isWhollyCompiled(project: Project, inputs: RunSources['inputs']): boolean {
  return (inputs.documents ?? []).length === 0 && project.config.openapiTypes !== true;
}

async function readLastRun(project: Project): Promise<LastRun | null> {
  try {
    const run: LastRun = JSON.parse(await readFile(pathOf(project), 'utf8'));
    return run.form === 1 ? run : null;
  } catch {
    return null;
  }
}

function pathOf({ stateFolder }: Project): string {
  return join(stateFolder, 'cache', 'last-run.json');
}

async function digestOf({ inputs, schema }: RunSources): Promise<string> {
  const told = JSON.stringify({ ...inputs, templates: [...inputs.templates] });
  const hash = createHash('sha256').update(`${await markOfCompiler()} ${told.length} ${told}\n`);
  return hash.update(schema).digest('base64');
}

/** Another one whenever a file was replaced or written, whatever it holds now. */
function markOf(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}
