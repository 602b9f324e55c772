/**
 * What the last run of the compiler made of what: a run that would make the same of the same, and finds the files as that
 * one left them, need not make it.
 *
 * Compiling is a pure function of the schema and the inputs, so equal digests of these are equal files. Whether somebody
 * has touched a file is told by what the file system says of it, as version control does it: where that differs in any way,
 * as after a checkout, everything is made and compared.
 */
import { createHash, hash } from 'node:crypto';
import { type Stats, statSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompileOptions, CompileSummary } from '@platform/compiler';
import { once } from '../once.ts';
import { type OutputFile, wholeText } from '../output-file.ts';
import type { Project } from '../project.ts';
import { replaceFile } from '../replace-file.ts';
import { markOfCompiler } from './mark.ts';

/** What is kept of a run, in `.platform/cache/last-run.json`. */
interface LastRun {
  readonly form: 2;
  /** Of what it was made from. */
  readonly digest: string;
  readonly summary: CompileSummary;
  readonly files: readonly LeftFile[];
}

/**
 * A file by its path below the output folder: what the file system said of it, and a digest of its text; null for one in
 * several pieces, which takes as long to digest as to compare.
 */
type LeftFile = readonly [path: string, mark: string, digest: string | null];

/** Where a project has its files. */
type Folders = Pick<Project, 'output' | 'stateFolder'>;

/** A run that may be the same as the last. */
export interface RunSources {
  readonly inputs: Omit<CompileOptions, 'memory' | 'archive' | 'part'>;
  /** The text of `platform.schema.json`, printed when it is first asked for. */
  readonly schema: () => string;
}

/** What the last run has left, and what this one will leave. */
export interface Runs {
  /** What the last run made, where it is what this one would make and all of it is there; else null. */
  readonly untouched: CompileSummary | null;
  /** Whether a file holds a text; null where only reading it can tell. */
  holds(file: OutputFile): boolean | null;
  /** Keeps what this run has made. Where that cannot be written, the next run makes it again. */
  keep(summary: CompileSummary, files: readonly OutputFile[]): Promise<void>;
}

/** Looks at what the last run of a project has left. */
export async function lookAtLastRun(project: Folders, sources: RunSources): Promise<Runs> {
  const last = await readLastRun(project);
  const digest = once(() => digestOf(sources));
  const left = new Map(last?.files.map((one) => [one[0], one]));
  const placeOf = (path: string): string => join(project.output, path);
  const isUntouched = ([path, mark]: LeftFile): boolean => markOf(placeOf(path)) === mark;
  return {
    untouched: last !== null && last.digest === (await digest()) && last.files.every(isUntouched) ? last.summary : null,
    holds(file) {
      const one = left.get(file.path);
      if (one === undefined || one[2] === null || !isUntouched(one)) return null;
      return digestOfText(file) === one[2];
    },
    async keep(summary, made) {
      const files = made.map((file): LeftFile => [file.path, markOf(placeOf(file.path)), digestOfText(file)]);
      const run: LastRun = { form: 2, digest: await digest(), summary, files };
      const path = pathOf(project);
      try {
        await mkdir(join(path, '..'), { recursive: true });
        await replaceFile(path, JSON.stringify(run));
      } catch {
        // Nothing is lost but time.
      }
    },
  };
}

/**
 * Whether files follow from the compiler and its sources alone: statements of documents are planned by the runtime, and
 * types of other generators made by these.
 */
export function isWhollyCompiled(project: Project, inputs: RunSources['inputs']): boolean {
  return (inputs.documents ?? []).length === 0 && project.config.openapiTypes !== true;
}

async function readLastRun(project: Folders): Promise<LastRun | null> {
  try {
    const run: LastRun = JSON.parse(await readFile(pathOf(project), 'utf8'));
    return run.form === 2 ? run : null;
  } catch {
    return null;
  }
}

function pathOf({ stateFolder }: Folders): string {
  return join(stateFolder, 'cache', 'last-run.json');
}

async function digestOf({ inputs, schema }: RunSources): Promise<string> {
  const told = JSON.stringify({ ...inputs, templates: [...inputs.templates] });
  const hash = createHash('sha256').update(`${await markOfCompiler()} ${told.length} ${told}\n`);
  return hash.update(schema()).digest('base64');
}

/** Another one whenever a file was replaced or written, whatever it holds now. */
function markOf(path: string): string {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}

/** Taken once of a file; null for one in several pieces. */
function digestOfText(file: OutputFile): string | null {
  const text = wholeText(file);
  if (text === null) return null;
  const digest = digests.get(file) ?? hash('sha256', text, 'base64');
  digests.set(file, digest);
  return digest;
}

const digests = new WeakMap<OutputFile, string>();
