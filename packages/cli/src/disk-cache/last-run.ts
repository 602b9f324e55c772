/**
 * Inputs and outputs of the compiler's last run. A run with the same inputs that finds the files unchanged need not
 * compile again.
 *
 * Compiling is a pure function of the schema and the inputs, so equal digests of these mean equal files. If a file was
 * touched in any way, as after a checkout, everything is made and compared.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CompileOptions, CompileSummary } from '@tablewright/compiler';
import type { Schema } from '@tablewright/introspect/schema';
import { once } from '@tablewright/runtime/language';
import { manifestFile, readManifest } from '../output/manifest.ts';
import { digestOf, type OutputFile } from '../output/output-file.ts';
import { removeLeftovers, replaceFile } from '../output/staged-files.ts';
import type { KnownContents } from '../output/write-files.ts';
import type { Project } from '../project/project.ts';

/** Record of a run, in `.platform/cache/last-run.json`. */
interface LastRun {
  readonly form: 3;
  readonly digest: string;
  readonly summary: CompileSummary;
  readonly files: readonly LeftFile[];
}

type Folders = Pick<Project, 'output' | 'stateFolder'>;

/** A run that may be the same as the last. */
interface RunSources {
  readonly inputs: Omit<CompileOptions, 'memoCache' | 'clientsOf' | 'described'>;
  /** The text of `platform.schema.json` in chunks, printed when it is first asked for. */
  readonly schema: () => readonly string[];
}

/** State that the last run has left, and state that this one will leave. */
interface Runs {
  /** Summary of the last run, if this one would make the same and all files are there; else null. */
  readonly untouched: CompileSummary | null;
  readonly holds: KnownContents;
  /** Caches the result of this run. If it cannot be written, the next run compiles again. */
  keep(summary: CompileSummary, files: readonly OutputFile[]): Promise<void>;
}

export async function lookAtLastRun(project: Folders, sources: RunSources): Promise<Runs> {
  const last = await readLastRun(project);
  const digest = once(() => digestOfSources(sources));
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
        replaceFile(path, JSON.stringify(run));
      } catch {
        // Nothing is lost but time.
      }
    },
  };
}

/** Number of collections from which on a run is worth noting. */
const worthwhile = 100;

export function isWorthNoting({ collections }: Schema): boolean {
  return collections.length >= worthwhile;
}

/** True if files follow from the compiler and its sources alone: no documents, and no other generators. */
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

function digestOfSources({ inputs, schema }: RunSources): string {
  const serialized = JSON.stringify({ ...inputs, templates: [...inputs.templates] });
  const hash = createHash('sha256').update(`${compilerStamp()} ${serialized.length} ${serialized}\n`);
  for (const chunk of schema()) hash.update(chunk);
  return hash.digest('base64');
}

/** A file by its path below the output folder, and its metadata in the file system. */
export type LeftFile = readonly [path: string, stamp: string];

/** Reads the metadata of a file as it is now. */
export function leftFile(output: string, path: string): LeftFile {
  return [path, stampOf(join(output, path))];
}

/** True if a file is untouched since. */
export function isUntouched(output: string, [path, stamp]: LeftFile): boolean {
  return stampOf(join(output, path)) === stamp;
}

/** Looks up known contents by the state in which files were left, and by the digests of their contents then. */
function knownContents(output: string, files: readonly LeftFile[], hashes: ReadonlyMap<string, string>): KnownContents {
  const left = new Map(files.map((file) => [file[0], file]));
  return (file) => {
    const found = left.get(file.path);
    const digest = hashes.get(file.path);
    if (found === undefined || digest === undefined || !isUntouched(output, found)) return null;
    return digestOf(file) === digest;
  };
}

/** Stamp of a file, which differs whenever it was replaced or written, regardless of its content. */
function stampOf(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

/** The packages that decide about texts of the compiler. */
const packages = ['@tablewright/compiler', '@tablewright/runtime/language'] as const;

/** A text that differs for every version of the compiler, also one under development. */
const compilerStamp: () => string = once(takeStamp);

/** Hundreds of short files, which threads of their own would take longer to read. */
function takeStamp(): string {
  const hash = createHash('sha256').update(process.versions.v8);
  for (const name of packages) {
    const folder = dirname(fileURLToPath(import.meta.resolve(name)));
    const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isModule).sort();
    for (const path of paths) {
      const text = readFileSync(join(folder, path));
      hash.update(`${path} ${text.length}\n`).update(text);
    }
  }
  // The versions of the libraries that it prints with.
  hash.update(readFileSync(fileURLToPath(new URL('../package.json', import.meta.resolve(packages[0])))));
  return hash.digest('base64');
}

function isModule(path: string): boolean {
  return /\.[jt]s$/.test(path) && !/\.(?:d|test)\.ts$/.test(path);
}
