/**
 * Inputs and outputs of the compiler's last run. A run with the same inputs that finds the files unchanged need not
 * compile again.
 *
 * Compiling is a pure function of the schema and the inputs, so equal digests of these mean equal files. If a file was
 * touched in any way, as after a checkout, everything is made and compared.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompileOptions, CompileSummary } from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import { removeLeftovers } from '../output/leftovers.ts';
import { manifestFile, readManifest } from '../output/manifest.ts';
import type { OutputFile } from '../output/output-file.ts';
import { replaceFile } from '../output/replace-file.ts';
import type { KnownContents } from '../output/write-files.ts';
import { once } from '../process/once.ts';
import type { Project } from '../project/project.ts';
import { compilerStamp } from './compiler-stamp.ts';
import { isUntouched, knownContents, type LeftFile, leftFile } from './left-files.ts';

/** Record of a run, in `.platform/cache/last-run.json`. */
interface LastRun {
  readonly form: 3;
  /** Digest of the inputs. */
  readonly digest: string;
  readonly summary: CompileSummary;
  readonly files: readonly LeftFile[];
}

/** Where a project has its files. */
type Folders = Pick<Project, 'output' | 'stateFolder'>;

/** A run that may be the same as the last. */
export interface RunSources {
  readonly inputs: Omit<CompileOptions, 'memoCache' | 'clientsOf' | 'described'>;
  /** The text of `platform.schema.json` in chunks, printed when it is first asked for. */
  readonly schema: () => readonly string[];
}

/** State that the last run has left, and state that this one will leave. */
export interface Runs {
  /** Summary of the last run, if this one would make the same and all files are there; else null. */
  readonly untouched: CompileSummary | null;
  readonly holds: KnownContents;
  /** Caches the result of this run. If it cannot be written, the next run compiles again. */
  keep(summary: CompileSummary, files: readonly OutputFile[]): Promise<void>;
}

/** Checks the files that the last run of a project has left. */
export async function lookAtLastRun(project: Folders, sources: RunSources): Promise<Runs> {
  const last = await readLastRun(project);
  const digest = once(() => digestOf(sources));
  const isAsLeft = (file: LeftFile): boolean => isUntouched(project.output, file);
  const left = last?.files ?? [];
  // A manifest that was touched says nothing about files that were not.
  const isSealed = left.some((file) => file[0] === manifestFile && isAsLeft(file));
  const manifest = isSealed ? await readManifest(project.output) : null;
  return {
    untouched: last !== null && last.digest === digest() && last.files.every(isAsLeft) ? last.summary : null,
    holds: knownContents(project.output, left, manifest?.digests ?? new Map()),
    async keep(summary, made) {
      const files = made.map(({ path: name }) => leftFile(project.output, name));
      const run: LastRun = { form: 3, digest: digest(), summary, files };
      const path = pathOf(project);
      try {
        await mkdir(join(path, '..'), { recursive: true });
        await removeLeftovers(join(path, '..'));
        // The file belongs to this machine, regardless of the project's rules for its other files.
        await writeFile(join(path, '..', '.gitignore'), '*\n');
        await replaceFile(path, JSON.stringify(run));
      } catch {
        // Nothing is lost but time.
      }
    },
  };
}

/** Number of collections from which on a run is worth noting. */
const worthwhile = 100;

/** True if a schema has that many collections. */
export function isWorthNoting({ collections }: Schema): boolean {
  return collections.length >= worthwhile;
}

/**
 * True if files follow from the compiler and its sources alone. Statements of documents are planned by the runtime, and
 * other generators make their own types.
 */
export function isWhollyCompiled(project: Project, inputs: RunSources['inputs']): boolean {
  return (inputs.documents ?? []).length === 0 && project.config.openapiTypes !== true;
}

async function readLastRun(project: Folders): Promise<LastRun | null> {
  try {
    const run: LastRun = JSON.parse(await readFile(pathOf(project), 'utf8'));
    return run.form === 3 ? run : null;
  } catch {
    return null;
  }
}

function pathOf({ stateFolder }: Folders): string {
  return join(stateFolder, 'cache', 'last-run.json');
}

function digestOf({ inputs, schema }: RunSources): string {
  const serialized = JSON.stringify({ ...inputs, templates: [...inputs.templates] });
  const hash = createHash('sha256').update(`${compilerStamp()} ${serialized.length} ${serialized}\n`);
  for (const chunk of schema()) hash.update(chunk);
  return hash.digest('base64');
}
