import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompileOptions, CompileSummary } from '@tablewright/compiler';
import type { Chunk } from '@tablewright/compiler/files';
import type { Diagnostic } from '@tablewright/introspect';
import {
  parseSchema,
  printDiagnostics,
  printSchemaChunks,
  resolveSchema,
  routinesOf,
} from '@tablewright/introspect/resolve';
import type { Schema } from '@tablewright/introspect/schema';
import { CommandError, DiagnosticsError, exitCodes } from '../errors/failures.ts';
import { loadExamples } from '../examples/load.ts';
import { isPresent } from '../modules/import-config.ts';
import { holdsText } from '../output/output-file.ts';
import { type StagedText, stageText } from '../output/staged-files.ts';
import type { WriteResult } from '../output/write-files.ts';
import { loadExtensions, loadModules, outputOf } from '../project/extensions.ts';
import type { Project } from '../project/project.ts';
import { digestSources } from '../project/source-digests.ts';
import { clientPackagesOf, loadDocuments, loadTemplates } from '../project/templates.ts';
import { choosePermissions } from '../sources/permission-source.ts';
import type { Source } from '../sources/source.ts';
import { count } from '../terminal/format.ts';
import type { Progress } from '../terminal/progress.ts';
import type { Facts } from './facts.ts';

/** Result of one run of the compiler. */
export interface GenerateResult {
  readonly schema: Schema;
  readonly summary: CompileSummary;
  readonly written: WriteResult;
  /** All that was reported, also the notes that were only counted. None is an error. */
  readonly diagnostics: readonly Diagnostic[];
}

export interface Resolution {
  readonly schema: Schema;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads the database's catalog and resolves it under the project's configuration. Replaces `platform.schema.json`.
 * @example const schema = await introspectProject(await loadProject('.'), progress, null);
 */
export async function introspectProject(project: Project, progress: Progress, before: Schema | null): Promise<Schema> {
  const facts = await factsOf(project, progress);
  const { schema } = await progress.phase('resolve', () => resolveProject(project, facts, progress, before));
  await writeSchemaText(project, printSchemaChunks(schema));
  return schema;
}

/** Code that reads a database is loaded only when needed: it is half of all modules. */
export async function factsOf(
  project: Project,
  progress: Progress,
  { offline = false, source }: { readonly offline?: boolean; readonly source?: Source } = {},
): Promise<Facts> {
  if (offline) return loadFacts(project);
  const { readFacts } = await import('./read-facts.ts');
  return readFacts(project, progress, source);
}

/** Additions of a project to its database: templates, its own code, its documents. */
export async function loadInputs(project: Project): Promise<CompileOptions> {
  const extensions = await loadExtensions(project);
  const clientPackages = await clientPackagesOf(project);
  return {
    ...(clientPackages && { clientPackages }),
    templates: await loadTemplates(project),
    extensions,
    modules: await loadModules(project, extensions),
    documents: await loadDocuments(project),
    examples: await loadExamples(project),
    output: outputOf(project),
    sources: { ...(await digestSources(project)) },
  };
}

/** `public` and `admin`, which no file lists. */
const builtInRoles = 2;

/** Rejects with the errors if the permissions file does not compile with the database. */
export async function checkPermissions(project: Project, source: Source, progress: Progress): Promise<void> {
  const facts = await factsOf(project, progress, { source });
  const { diagnostics } = resolveSchema(facts, project.config, project.permissions);
  const errors = [...project.diagnostics, ...diagnostics].filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw invalid(errors);
}

/** Prints a summary of the compilation: the last lines of `generate` and `start`. */
export function printSummary(project: Project, result: GenerateResult, progress: Progress): void {
  const { schema, summary } = result;
  const { paths: _, ...written } = result.written;
  const warnings = result.diagnostics.filter(({ severity }) => severity === 'warning').length;
  const notes = result.diagnostics.length - warnings;
  const folder = relative(process.cwd(), project.output) || '.';
  const roles = schema.roles.length + builtInRoles;
  progress.event('summary', { ...summary, ...written, roles, warnings, notes, phases: progress.phases, folder });
  progress.print(
    `Compiled ${count(schema.collections.length, 'collection')}, ${count(relationsIn(schema), 'relation')}, ` +
      `${count(roles, 'role')} into ${count(summary.files, 'file')} in ${folder}/ ` +
      `(${written.written} written, ${written.unchanged} unchanged, ${written.removed} removed); ` +
      `${diagnosticsLine(warnings, notes)}.`,
  );
  if (schema.collections.some(({ system }) => system === undefined)) return;
  progress.print(
    'There is no table to serve yet: make one and compile again, or check DATABASE_URL and `database` in platform.config.ts.',
  );
}

/** Counts of zero are left out: they would read like errors. */
function diagnosticsLine(warnings: number, notes: number): string {
  const counts = [...(warnings > 0 ? [count(warnings, 'warning')] : []), ...(notes > 0 ? [count(notes, 'note')] : [])];
  return counts.length > 0 ? counts.join(', ') : 'no diagnostics';
}

/** Takes the tables from `platform.schema.json`. Rejects when there is no such file. */
export async function loadFacts(project: Project): Promise<Facts> {
  const schema = await loadSchema(project);
  if (schema !== null) {
    const { dialect, tables, enums, model } = schema;
    const facts = { dialect, tables, enums, routines: routinesOf(schema), model: model ?? null, diagnostics: [] };
    return { ...facts, permissions: 'offline', previous: schema };
  }
  throw new CommandError(
    exitCodes.invalid,
    'There is no platform.schema.json to compile from.',
    'Run `platform introspect` once with the database at hand and commit the file.',
  );
}

/** The schema compiled before, or null. */
export async function loadSchema(project: Project): Promise<Schema | null> {
  if (!isPresent(project.schemaFile)) return null;
  const parsed = parseSchema(await readFile(project.schemaFile, 'utf8'));
  if ('schema' in parsed) return parsed.schema;
  throw invalid([parsed.diagnostic]);
}

/** The same if the file is about to be written anew: its errors are warnings, and do not stop the command. */
export async function loadReplaced(project: Project, progress: Progress): Promise<Schema | null> {
  try {
    return await loadSchema(project);
  } catch (error) {
    if (!(error instanceof DiagnosticsError)) throw error;
    const warnings = error.diagnostics.map(
      (diagnostic): Diagnostic => ({ ...diagnostic, severity: 'warning', hint: 'It is written anew.' }),
    );
    report(warnings, progress);
    return null;
  }
}

/**
 * Resolves facts under the project's configuration and permissions, and reports their diagnostics. Rejects with errors.
 * `previous` is the schema compiled before; default: that of the file.
 */
export async function resolveProject(
  project: Project,
  facts: Facts,
  progress: Progress,
  previous?: Schema | null,
): Promise<Resolution> {
  const before = previous === undefined ? (facts.previous ?? (await loadSchema(project))) : previous;
  const resolution = resolveFacts(project, facts, before);
  report(resolution.diagnostics, progress);
  return resolution;
}

/** The same without output, even on errors: with an error among the diagnostics the schema cannot be compiled. */
export function resolveFacts(project: Project, facts: Facts, previous: Schema | null): Resolution {
  const { resolution, sources } = resolveSources(project, facts, previous);
  return { ...resolution, diagnostics: [...sources, ...resolution.diagnostics] };
}

/** The same with the diagnostics of the sources apart: an error there means that a part of them is not known. */
export function resolveSources(
  project: Project,
  facts: Facts,
  previous: Schema | null,
): { readonly resolution: Resolution; readonly sources: readonly Diagnostic[] } {
  const chosen = choosePermissions(project, facts);
  const resolution = resolveSchema(facts, project.config, chosen.document, previous === null ? {} : { previous });
  const sources = [...project.diagnostics, ...facts.diagnostics, ...chosen.diagnostics];
  return { resolution, sources: sources.filter((diagnostic) => isRelevant(diagnostic, project)) };
}

/**
 * The rows that the connection's role sees matter only while callers are not passed on to policies. Its rights matter
 * only while they have no roles of their own, but those on the tables of the platform always do.
 */
function isRelevant(diagnostic: Diagnostic, { config }: Project): boolean {
  const { code } = diagnostic;
  const passed = config.database?.rowSecurity || undefined;
  if (code === 'row-security') return passed === undefined;
  if (passed?.roles === undefined || !/^unreadable-(?:tables|columns)$/.test(code)) return true;
  const schema = config.database?.systemSchema ?? 'platform';
  return diagnostic.place === `schema ${schema}` || diagnostic.place.startsWith(`table ${schema}.`);
}

/** Writes the text of `platform.schema.json` if it changes: readers always find the whole text. */
export async function writeSchemaText(project: Project, chunks: readonly Chunk[]): Promise<void> {
  const staged = await stageSchemaText(project, () => chunks);
  try {
    staged?.place();
  } finally {
    await staged?.close();
  }
}

/** The same up to its last step; null where the file holds the text already. It is asked for in a later turn. */
export async function stageSchemaText(
  { schemaFile: path }: Project,
  text: () => readonly Chunk[],
): Promise<StagedText | null> {
  await nextTurn();
  const chunks = text();
  const isThere = await holdsText(path, chunks).catch(() => false);
  return isThere ? null : stageText(path, chunks);
}

/** Shows the diagnostics, notes only when asked for; stops when one is an error. */
export function report(diagnostics: readonly Diagnostic[], progress: Progress): void {
  for (const diagnostic of diagnostics) progress.event('diagnostic', { ...diagnostic });
  if (diagnostics.some(({ severity }) => severity === 'error')) throw invalid(diagnostics);
  const shown = diagnostics.filter(({ severity }) => progress.notes || severity !== 'info');
  if (shown.length > 0) progress.print(printDiagnostics(shown, { color: progress.color }));
  const infos = diagnostics.length - shown.length;
  if (infos > 0) progress.print(`  ${count(infos, 'note')} about the database (--notes shows them)`);
}

function invalid(diagnostics: readonly Diagnostic[]): DiagnosticsError {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  return new DiagnosticsError(
    errors,
    `${printDiagnostics(errors, { color: false })}\n${count(errors.length, 'error')}: nothing was written.`,
  );
}

function relationsIn(schema: Schema): number {
  return schema.collections.reduce((sum, { relations }) => sum + relations.length, 0);
}
