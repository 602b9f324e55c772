/** From a project to its generated files. */
import { relative } from 'node:path';
import type { CompileOptions, MemoCache, ModelData } from '@tablewright/compiler';
import type { CompileResult, GeneratedFile } from '@tablewright/compiler/compile';
import { printSchemaChunks } from '@tablewright/introspect/resolve';
import type { Schema } from '@tablewright/introspect/schema';
import { once } from '@tablewright/runtime/language';
import { isWhollyCompiled, isWorthNoting, lookAtLastRun } from '../disk-cache/last-run.ts';
import { finishFiles } from '../output/finish-files.ts';
import { EditedFilesError } from '../output/manifest.ts';
import { bothOf, removeLeftoversBeside } from '../output/staged-files.ts';
import { type OutputFile, openOutput, type WriteResult, writeFiles } from '../output/write-files.ts';
import type { Project } from '../project/project.ts';
import type { Source } from '../sources/source.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Facts } from './facts.ts';
import {
  factsOf,
  type GenerateResult,
  loadInputs,
  type Resolution,
  report,
  resolveProject,
  stageSchemaText,
  writeSchemaText,
} from './steps.ts';

export interface GenerateOptions {
  /** From `platform.schema.json`, without a database. */
  readonly offline?: boolean;
  /** Overwrite generated files that were edited. */
  readonly force?: boolean;
  /** A database that is open already. */
  readonly source?: Source;
  /** Facts from the database; it is not read again. */
  readonly facts?: Facts;
  /** Cache of a process that compiles repeatedly. */
  readonly memoCache?: MemoCache;
}

/**
 * The whole way from the database (or, offline, from `platform.schema.json`) to the generated files. A large project is
 * not compiled if the result would be the files that the last run has left.
 * @example
 * const project = await loadProject('.');
 * const { written } = await generateProject(project, progress, { offline: true });
 * console.log(written.paths);
 */
export async function generateProject(
  project: Project,
  progress: Progress,
  options: GenerateOptions = {},
): Promise<GenerateResult> {
  return withSchema(project, progress, options, async (compilable) => {
    const { schema, schemaText, inputs, diagnostics } = compilable;
    const isKept = isWorthNoting(schema) && isWhollyCompiled(project, inputs);
    const runs = isKept ? await lookAtLastRun(project, { inputs, schema: schemaText }) : null;
    const summary = runs?.untouched ?? null;
    if (summary !== null) {
      await writeSchemaText(project, schemaText());
      return { schema, summary, diagnostics, written: { paths: [], written: 0, unchanged: summary.files, removed: 0 } };
    }
    const output = openOutput(project.output, { holds: runs?.holds, force: options.force });
    try {
      const compilation = await compileResolved(project, progress, compilable, async (files) => {
        await output.stage(files);
        schemaText();
      });
      const result = await writeProject(project, compilation, progress, output.finish);
      // A run that is skipped repeats no warning of the compiler.
      const isQuiet = compilation.diagnostics.length === diagnostics.length;
      await bothOf(output.close(), (isQuiet && runs?.keep(result.summary, compilation.files)) || Promise.resolve());
      return result;
    } finally {
      await output.close();
    }
  });
}

/** Writes the compiled files, by default to the output folder. */
export async function writeProject(
  project: Project,
  compilation: Compilation,
  progress: Progress,
  write = (files: readonly OutputFile[]): Promise<WriteResult> => writeFiles(project.output, files),
): Promise<GenerateResult> {
  const { result, clear } = await placeProject(project, compilation, progress, write);
  await clear();
  await Promise.all([project.output, project.schemaFile].map(removeLeftoversBeside));
  return result;
}

/** The same, up to where every file is in its place. */
export async function placeProject(
  project: Project,
  { schema, schemaText, summary, files, diagnostics }: Compilation,
  progress: Progress,
  write: (files: readonly OutputFile[]) => Promise<WriteResult>,
) {
  const [outcome, staging] = await Promise.allSettled([
    progress.phase('write', () => write(files)),
    // It is printed while files are written.
    stageSchemaText(project, schemaText),
  ]);
  const staged = staging.status === 'fulfilled' ? staging.value : null;
  try {
    if (outcome.status === 'rejected') refuseWriting(outcome.reason, project, progress);
    if (staging.status === 'rejected') throw staging.reason;
    // Not without the files, which are all there or none is.
    staged?.place();
    const result = { schema, summary, written: outcome.value, diagnostics };
    return { result, clear: async () => staged?.close() };
  } catch (error) {
    await staged?.close();
    throw error;
  }
}

/** Throws the reason why files were not written; for edited files with their diagnostics. */
export function refuseWriting(error: unknown, { folder, output }: Project, progress: Progress): never {
  if (error instanceof EditedFilesError) report(error.diagnosticsOf(relative(folder, output)), progress);
  throw error;
}

/** Output that would be written. */
export interface Compilation extends Omit<GenerateResult, 'written'> {
  /** The text of `platform.schema.json` in chunks, printed when it is first asked for. */
  readonly schemaText: () => readonly string[];
  /** Below the output folder. */
  readonly files: readonly OutputFile[];
  /** Model for a server, as the files state it. */
  readonly model: ModelData | null;
}

/** The same way up to the texts of the files. Writes nothing but a folder beside the output, for the time it takes. */
export async function compileProject(
  project: Project,
  progress: Progress,
  options: GenerateOptions = {},
): Promise<Compilation> {
  return withSchema(project, progress, options, (compilable) => compileResolved(project, progress, compilable));
}

interface Compilable extends Resolution, Pick<Compilation, 'schemaText'> {
  readonly inputs: CompileOptions;
  readonly memoCache: MemoCache | null;
}

/** Passes the project's schema to `work`, with the other inputs. */
async function withSchema<Result>(
  project: Project,
  progress: Progress,
  options: GenerateOptions,
  work: (compilable: Compilable) => Promise<Result>,
): Promise<Result> {
  const { memoCache = null } = options;
  const read = options.facts ?? (await factsOf(project, progress, options));
  const facts = memoCache === null ? read : { ...read, tables: memoCache.recallTables(read.tables) };
  const inputs = await loadInputs(project);
  const resolution = await progress.phase('resolve', () => resolveProject(project, facts, progress));
  const schema = memoCache?.recallSchema(resolution.schema) ?? resolution.schema;
  return work({ ...resolution, schema, schemaText: once(() => printSchemaChunks(schema)), inputs, memoCache });
}

async function compileResolved(
  project: Project,
  progress: Progress,
  { schema, schemaText, diagnostics, inputs, memoCache }: Compilable,
  meanwhile?: Meanwhile,
): Promise<Compilation> {
  const options = { ...inputs, ...(memoCache && { memoCache }) };
  const result = await progress.phase('compile', () => runCompiler(schema, options, meanwhile));
  report(result.diagnostics, progress);
  return {
    schema,
    schemaText,
    summary: result.summary,
    files: await finishFiles(project, schema.dialect, result.files, progress),
    diagnostics: [...diagnostics, ...result.diagnostics],
    model: result.model ?? null,
  };
}

/** Work on files while others are still being made. It is not awaited, so it has to report its result itself. */
export type Meanwhile = (files: readonly GeneratedFile[]) => Promise<void>;

/** Compiles a schema. The compiler is loaded when it is needed. */
async function runCompiler(
  schema: Schema,
  options: CompileOptions,
  meanwhile: Meanwhile = async () => undefined,
): Promise<CompileResult> {
  const { compile } = await import('@tablewright/compiler/compile');
  const described = (file: GeneratedFile): void => void meanwhile([file]).catch(() => undefined);
  return compile(schema, { ...options, described });
}
