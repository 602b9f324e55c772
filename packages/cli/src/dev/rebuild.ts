/** One change of a project under development, from its files and tables to requests that it answers. */
import {
  createMemoCache,
  type Diff,
  diffSchemas,
  isSame,
  type ListedExtensions,
  listedFile,
  type MemoCache,
} from '@tablewright/compiler';
import type { ChangedRelations } from '@tablewright/introspect';
import type { CompiledApi } from '@tablewright/runtime';
import { type Compilation, compileProject, placeProject, writeProject } from '../compile/compile-project.ts';
import { type ReadFacts, readFacts } from '../compile/read-facts.ts';
import type { GenerateResult } from '../compile/steps.ts';
import { isUntouched, type LeftFile, leftFile } from '../disk-cache/last-run.ts';
import { CommandError, exitCodes, reasonOf } from '../errors/failures.ts';
import { haveSameText, type OutputFile } from '../output/output-file.ts';
import { bothOf } from '../output/staged-files.ts';
import { type KnownContents, openOutput } from '../output/write-files.ts';
import type { Project } from '../project/project.ts';
import type { Source } from '../sources/source.ts';
import { type Progress, silent } from '../terminal/progress.ts';
import { isExtended, linkCompilation } from './link-compilation.ts';
import type { HeldSource } from './renewable.ts';

/** Result of the last build, and start of the next one. */
export interface Built extends Rewritten {
  readonly project: Project;
  readonly facts: ReadFacts;
  readonly compilation: Compilation;
  readonly left: LeftOutput;
  readonly memoCache: MemoCache;
}

/** Null if a change of files came before the tables were read. */
export async function buildFirst(
  project: Project,
  source: Source,
  progress: Progress,
  waitFor: WaitForTables,
): Promise<Built | null> {
  const facts = await waitFor(readFacts(project, progress, source)).catch(refuseTables);
  if (facts === null) return null;
  const memoCache = createMemoCache();
  const compilation = await compileProject(project, progress, { facts, memoCache });
  const result = await writeProject(project, compilation, progress);
  const left = noteOutput(project.output, compilation.files);
  return { project, facts, compilation, result, left, memoCache, cleared: Promise.resolve() };
}

/** Waits for a reading of the tables, after so many milliseconds in vain. Null if a change of files comes first. */
type WaitForTables = <T>(reading: Promise<T>, longestMs?: number) => Promise<T | null>;

/** Facts of a change that a rebuild needs. */
interface ProjectChange {
  /** As it is after the change. */
  readonly project: Project;
  readonly number: number;
  /** Relations of the database, or of the choice of them, that may have changed; null where none did. */
  readonly tables: ChangedRelations | null;
  /** True if it is a change only if the facts of the database differ from the last ones. */
  readonly onlyTables: boolean;
  /** Its database is not used where no tables are read: it may be away. */
  readonly held: Pick<HeldSource, 'current'>;
  readonly waitFor: WaitForTables;
}

/** Served build, and the state of its files. */
interface Rebuild {
  readonly built: Built;
  /** Time when it was served, as of `performance.now()`; null if the facts are unchanged and nothing was compiled. */
  readonly served: number | null;
  /** Reason why its files could not be written; null where they are. */
  readonly unwritten: unknown;
}

/**
 * Builds a project again and serves it by `serve`. Rejects with its problems, and then goes on serving the last build. So
 * it does where the result is null: another change of files came before the tables were read. Files are written last if
 * none of them has to be loaded, since no caller waits for them.
 */
export async function rebuild(
  last: Built,
  { project, number, tables, onlyTables, held, waitFor }: ProjectChange,
  serve: (api: CompiledApi, project: Project) => Promise<void>,
): Promise<Rebuild | null> {
  const {
    memoCache,
    compilation: { schema: previous },
  } = last;
  const read = (changed: ChangedRelations) =>
    waitFor(readAgain(last, project, held.current(), changed), longestReading);
  const facts = tables === null ? last.facts : await read(tables).catch(refuseTables);
  if (facts === null) return null;
  if (onlyTables && isSameFacts(last.facts, facts)) return { built: { ...last, facts }, served: null, unwritten: null };
  const options = { facts: { ...facts, previous }, memoCache };
  const compilation = await compileProject(project, silent, options);
  const rewrite = (): Promise<Rewritten> => rewriteOutput(project, last.left, compilation);
  const early = isExtended(compilation.files) ? await rewrite() : null;
  await serve(await linkCompilation(project, compilation, number), project);
  const served = performance.now();
  const built = { project, facts, compilation, memoCache };
  const rewritten = early ?? (await rewrite().catch((error: unknown) => ({ error })));
  if (!('error' in rewritten)) {
    const left = noteOutput(project.output, compilation.files);
    return { built: { ...built, ...rewritten, left }, served, unwritten: null };
  }
  // The state of the folder is unknown now, so the next build reads it.
  const { result, cleared } = last;
  return { built: { ...built, result, cleared, left: new Map() }, served, unwritten: rewritten.error };
}

/** Milliseconds after which a connection that hangs is given up. */
const longestReading = 120_000;

/** Unchanged tables are the same objects. */
async function readAgain(
  { facts: { reading }, memoCache }: Built,
  project: Project,
  source: Source,
  changed: ChangedRelations,
): Promise<ReadFacts> {
  const facts = await readFacts(project, silent, source, { reading, changed });
  return { ...facts, tables: memoCache.recallTables(facts.tables) };
}

function isSameFacts(was: ReadFacts, { tables, enums, routines, diagnostics, model, permissions }: ReadFacts): boolean {
  const now = { ...was, tables, enums, diagnostics, model, permissions, ...(routines && { routines }) };
  return isSame(now, was);
}

/** An obstacle to reading the tables may pass by itself, unlike mistakes in files. */
function refuseTables(error: unknown): never {
  if (error instanceof CommandError) throw error;
  throw new CommandError(
    exitCodes.database,
    `The tables cannot be read: ${reasonOf(error)}.`,
    'They are read again as soon as the database answers.',
  );
}

/** Effects of the change on clients; none if schema and extensions are unchanged. */
export function differenceOf(before: Built, after: Built): Diff {
  const [was, is] = [before.compilation, after.compilation];
  const isUnchanged = isSame(was.schema, is.schema) && textOfExtensions(was) === textOfExtensions(is);
  if (isUnchanged) return { changes: [], renames: [] };
  const extensions = { before: extensionsOf(was), after: extensionsOf(is) };
  return diffSchemas(was.schema, is.schema, { extensions });
}

function textOfExtensions({ files }: Compilation): string | undefined {
  return files.find(({ path }) => path === listedFile)?.contents;
}

function extensionsOf(compilation: Compilation): ListedExtensions {
  const text = textOfExtensions(compilation);
  return text === undefined ? { routes: [], hooks: [] } : JSON.parse(text);
}

/** Sentences of warnings that were not there before. */
export function newWarnings(before: Built, after: Built): readonly string[] {
  const earlier = new Set(warningsOf(before));
  return warningsOf(after).filter((text) => !earlier.has(text));
}

function warningsOf({ compilation }: Built): readonly string[] {
  const warnings = compilation.diagnostics.filter(({ severity }) => severity === 'warning');
  return warnings.map(({ place: location, message }) => `${location}: ${message}`);
}

/** Written files. */
interface Rewritten {
  readonly result: GenerateResult;
  /** Resolves when nothing is left of the files that were replaced. */
  readonly cleared: Promise<void>;
}

/**
 * Writes changed files, and does not read files that were untouched since they were written. The removal of replaced
 * files is not awaited, as it takes the system as long as the writing. Rejects, and leaves nothing, if that is impossible.
 */
export async function rewriteOutput(project: Project, left: LeftOutput, compilation: Compilation): Promise<Rewritten> {
  const output = openOutput(project.output, { holds: knownOutput(project.output, left) });
  try {
    const { result, clear } = await placeProject(project, compilation, silent, output.finish);
    // A file that cannot be removed takes space and does no other harm.
    const cleared = bothOf(output.close(), clear()).then(
      () => undefined,
      () => undefined,
    );
    return { result, cleared };
  } catch (error) {
    await output.close();
    throw error;
  }
}

/** Files by their paths below the output folder. */
export type LeftOutput = ReadonlyMap<string, Left>;

interface Left {
  readonly file: OutputFile;
  /** The file as it was left; digests are for other processes. */
  readonly left: LeftFile;
}

export function noteOutput(output: string, files: readonly OutputFile[]): LeftOutput {
  return new Map(files.map((file) => [file.path, { file, left: leftFile(output, file.path) }]));
}

/** Makes the look-up of known contents from the state in which this process has left the files. */
export function knownOutput(output: string, left: LeftOutput): KnownContents {
  return (file) => {
    const leftFile = left.get(file.path);
    return leftFile === undefined || !isUntouched(output, leftFile.left) ? null : haveSameText(leftFile.file, file);
  };
}
