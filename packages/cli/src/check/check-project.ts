/**
 * `platform check`: the live database, `platform.schema.json`, the generated files and `permissions.yaml`, two by two.
 *
 * Nothing is written, and no verdict depends on another one: each names the differences between its two.
 */
import { relative } from 'node:path';
import { compile, resolveApi } from '@tablewright/compiler';
import type { PermissionDocument } from '@tablewright/introspect';
import { compareFacts, type Diagnostic, resolveSchema, routinesOf, type SchemaFacts } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import { defaultDialect } from '@tablewright/runtime/language';
import type { Facts } from '../compile/facts.ts';
import { readFacts } from '../compile/read-facts.ts';
import { loadInputs, loadSchema } from '../compile/steps.ts';
import { finishFiles } from '../output/finish-files.ts';
import { readManifest } from '../output/manifest.ts';
import { compareFiles } from '../output/write-files.ts';
import type { Project } from '../project/project.ts';
import { refuseNewDatabase } from '../project/settings.ts';
import { choosePermissions } from '../sources/permission-source.ts';
import { type Progress, silent } from '../terminal/progress.ts';
import { offlineAdvice, type ReadOutput, readOutput } from './check-output.ts';
import { compareAccess, compareFingerprints, type Finding, unknown, type Verdict, verdictOf } from './verdict.ts';

/** Everything that is compared. */
interface Parties {
  readonly project: Project;
  /** Null if the database is not needed. */
  readonly live: Facts | null;
  /** The rules that are compiled: those of the file, or of the tables if the configuration says so. */
  readonly permissions: PermissionDocument;
  /** Problems of the rules in their source. */
  readonly complaints: readonly Diagnostic[];
  readonly file: Schema | null;
  readonly output: ReadOutput | null;
}

/** Compares every pair; offline only those without the database. Rejects when a party cannot be read. */
export async function checkProject(
  project: Project,
  progress: Progress,
  { offline }: { readonly offline: boolean },
): Promise<readonly Verdict[]> {
  if (!offline) refuseNewDatabase(project, offlineAdvice);
  const live = offline ? null : await readFacts(project, progress);
  const file = await loadSchema(project);
  const chosen = choosePermissions(project, live ?? { tables: file?.tables ?? [], permissions: 'offline' });
  const parties: Parties = {
    project,
    live,
    permissions: chosen.document,
    complaints: chosen.diagnostics,
    file,
    output: await readOutput(project.output),
  };
  return progress.phase('compare', async () => [
    ...(live === null ? [] : withDatabase(parties, live)),
    await fileAndOutput(parties),
    fileAndPermissions(parties),
    outputAndPermissions(parties),
  ]);
}

/** A database with which something is wrong by itself fits nothing. */
function withDatabase(parties: Parties, live: SchemaFacts): readonly Verdict[] {
  const { file, output } = parties;
  const first = ['database', 'platform.schema.json'] as const;
  const second = ['database', 'generated'] as const;
  const now = fingerprintOf(parties, live);
  const problems = complaints(live.diagnostics);
  return [
    file === null ? missingFile(first) : verdictOf(first, [...problems, ...compareFacts(file, live)]),
    output === null || now === null
      ? missing(second, output)
      : verdictOf(second, [
          ...problems,
          ...compareFingerprints(live.dialect ?? defaultDialect, output.fingerprint, now),
        ]),
    verdictOf(
      ['database', 'permissions.yaml'],
      [...problems, ...complaints(resolveUnder(parties, live, parties.permissions).diagnostics)],
    ),
  ];
}

/** Fingerprint that compiling the tables would give; rules are left out, so their mistakes do not hide it. */
function fingerprintOf(parties: Parties, facts: SchemaFacts): ReadOutput['fingerprint'] | null {
  // The configuration may name roles.
  const { fileName, roles } = parties.permissions;
  const none: PermissionDocument = { fileName, roles, rules: [] };
  const { schema, diagnostics } = resolveUnder(parties, facts, none);
  return diagnostics.some(isError) ? null : resolveApi(schema).fingerprint;
}

async function fileAndOutput({ project, file, output }: Parties): Promise<Verdict> {
  const pair = ['platform.schema.json', 'generated'] as const;
  if (file === null) return missingFile(pair);
  if (output === null) return missing(pair, output);
  // Changed rules are the verdict of another pair.
  const { sources = {} } = (await readManifest(project.output)) ?? {};
  const result = compile(file, { ...(await loadInputs(project)), sources });
  if (result.diagnostics.some(isError)) return verdictOf(pair, complaints(result.diagnostics));
  const files = await finishFiles(project, file.dialect, result.files, silent);
  const different = await compareFiles(project.output, files);
  if (different.length === 0) return verdictOf(pair, []);
  const api = resolveApi(file);
  const named = [
    ...compareFingerprints(file.dialect, output.fingerprint, api.fingerprint),
    ...compareAccess(
      output.access,
      api.access.map(({ access }) => access),
    ),
  ];
  const folder = relative(project.folder, project.output);
  const paths = different.map(({ path, before, after }) => ({
    object: `${folder}/${path}`,
    message:
      before === null ? 'It is missing.' : after === null ? 'It is not made any more.' : 'It is not what is compiled.',
  }));
  // A change of a table or a rule changes many files; where one is named they say nothing more.
  return verdictOf(pair, named.length > 0 ? named : paths);
}

function fileAndPermissions(parties: Parties): Verdict {
  const { file } = parties;
  const pair = ['platform.schema.json', 'permissions.yaml'] as const;
  if (file === null) return missingFile(pair);
  const { schema, diagnostics } = resolveUnder(parties, factsOf(file), parties.permissions);
  const problems = complaints(diagnostics);
  if (problems.length > 0) return verdictOf(pair, problems);
  const access = (schema: Schema) => resolveApi(schema).access.map(({ access: entry }) => entry);
  return verdictOf(pair, [...compareAccess(access(file), access(schema)), ...compareRest(file, schema)]);
}

/** Compares the other results of the configuration: names, relations, notes, served functions. */
function compareRest(file: Schema, now: Schema): readonly Finding[] {
  return [
    ...compareNamed('collection', file.collections, now.collections),
    ...compareNamed('function', file.functions ?? [], now.functions ?? []),
  ];
}

function compareNamed(
  kind: string,
  was: readonly { readonly name: string }[],
  is: readonly { readonly name: string }[],
): readonly Finding[] {
  const text = (value: unknown): string => JSON.stringify(sorted(value));
  const [before, after] = [was, is].map((all) => new Map(all.map((part) => [part.name, text(part)])));
  const names = [...new Set([...was, ...is].map(({ name }) => name))].sort();
  return names.flatMap((name) => {
    if (before?.get(name) === after?.get(name)) return [];
    return [{ object: `${kind} ${name}`, message: 'The configuration makes something else of it.' }];
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)]);
}

function outputAndPermissions(parties: Parties): Verdict {
  const { live, file, output } = parties;
  const pair = ['generated', 'permissions.yaml'] as const;
  if (output === null) return missing(pair, output);
  const facts = file === null ? live : factsOf(file);
  if (facts === null) return missingFile(pair);
  const { schema, diagnostics } = resolveUnder(parties, facts, parties.permissions);
  const problems = complaints(diagnostics);
  if (problems.length > 0) return verdictOf(pair, problems);
  return verdictOf(
    pair,
    compareAccess(
      output.access,
      resolveApi(schema).access.map(({ access }) => access),
    ),
  );
}

function resolveUnder(
  { project: { config, diagnostics: read }, file, permissions: chosen, complaints: problems }: Parties,
  facts: SchemaFacts,
  permissions: PermissionDocument,
): { readonly schema: Schema; readonly diagnostics: readonly Diagnostic[] } {
  const { schema, diagnostics } = resolveSchema(facts, config, permissions, file === null ? {} : { previous: file });
  return { schema, diagnostics: [...read, ...(permissions === chosen ? problems : []), ...diagnostics] };
}

function complaints(diagnostics: readonly Diagnostic[]): readonly Finding[] {
  return diagnostics.filter(isError).map(({ place: location, message }) => ({ object: location, message }));
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

function factsOf(schema: Schema): SchemaFacts {
  const { dialect, tables, enums, model = null } = schema;
  return { dialect, tables, enums, routines: routinesOf(schema), model, diagnostics: [] };
}

function missingFile(pair: Verdict['pair']): Verdict {
  return unknown(pair, 'platform.schema.json', 'There is no such file: run `platform schema pull`.');
}

function missing(pair: Verdict['pair'], output: ReadOutput | null): Verdict {
  return output === null
    ? unknown(pair, 'generated', 'Nothing is generated: run `platform generate`.')
    : unknown(pair, 'platform.config.ts', 'The configuration does not fit the database.');
}
