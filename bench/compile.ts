/**
 * Prints how long it takes to compile, type-check and start a server for 1,000 tables, or as many as BENCH_TABLES says, on
 * a real PostgreSQL, and what others need for the same tables. Absolute times depend on the machine: compare runs on one
 * machine only.
 */

import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createMemoCache } from '@tablewright/compiler';
import { parseSchema } from '@tablewright/introspect';
import type { Schema } from '@tablewright/introspect/schema';
import { compileProject, writeProject } from '../packages/cli/src/compile/compile-project.ts';
import { loadFacts } from '../packages/cli/src/compile/steps.ts';
import { noteOutput, rewriteOutput } from '../packages/cli/src/dev/rebuild.ts';
import { loadProject } from '../packages/cli/src/project/project.ts';
import { silent } from '../packages/cli/src/terminal/progress.ts';
import { startAnswering } from '../test/support/answering.ts';
import { asking, createProject, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres } from '../test/support/postgres.ts';
import { typeCheck } from '../test/support/type-check.ts';
import { timeDev } from './compile-dev.ts';
import { buildPostgraphile, makeOpenapiTypes, type Peer } from './compile-peers.ts';
import { permissionsOf, schemaOf } from './compile-schema.ts';
import { measured, type Usage } from './measured.ts';
import { median } from './statistics.ts';

const tables = Number(process.env.BENCH_TABLES ?? 1000);

/** What a thousand tables may take, in seconds and megabytes; the issue's targets on a machine that does nothing else. */
const targets = { database: 6, schema: 3, change: 0.3, ready: 2, first: 0.05, memoCache: 1024 } as const;

/** Measures and prints. */
export async function benchCompile(): Promise<void> {
  const server = await startPostgres();
  const database = await createDatabaseOn(server.url, schemaOf(tables));
  const connected = await createProject();
  const [project, ...others] = await Promise.all([createProject(), createProject(), createProject()] as const);
  try {
    const cold = await generate(connected.folder, database.url);
    report('platform generate, nothing there yet', cold, targets.database, targets.memoCache);
    report('platform generate again', await generate(connected.folder, database.url), targets.database);
    // Not in the same folder: file systems take a second to make thousands of files where as many were just removed.
    const runs: Usage[] = [];
    for (const { folder } of [...others, project]) {
      await copyFile(join(connected.folder, 'platform.schema.json'), join(folder, 'platform.schema.json'));
      runs.push(await generate(folder));
    }
    report('the same from platform.schema.json, cold', middle(runs), targets.schema, targets.memoCache);
    report('platform generate --offline again', await generate(project.folder), targets.schema);
    await changeSchema(project.folder);
    report('one table changed, in a process of its own', await generate(project.folder));
    await benchServing(project.folder, database.url);
    const times = await timeChanges(project.folder);
    reportTime('one table changed, in the same process', median(times.map(({ compiled }) => compiled)));
    const written = median(times.map((time) => time.compiled + time.written));
    reportTime('the same until it is written', written, targets.change);
    const served = median(await timeDev(connected.folder, database.url));
    reportTime('under platform dev, from the database', served, targets.change);
    await benchRoles(project.folder);
    await benchPeers(project.folder, database.url);
  } finally {
    await Promise.all([connected, project, ...others].map(({ remove }) => remove()));
    await database.drop();
    await server.stop();
  }
}

/** The run of three or more that took neither the longest nor the shortest time. */
function middle(runs: readonly Usage[]): Usage {
  const sorted = runs.toSorted((a, b) => a.ms - b.ms);
  const run = sorted[Math.floor(sorted.length / 2)];
  if (run === undefined) throw new Error('Nothing was run.');
  return run;
}

/** Runs the command over a database, or without one from `platform.schema.json`. */
async function generate(folder: string, databaseUrl?: string): Promise<Usage> {
  const { result, usage } = await measured((variables) =>
    runPlatform(['generate', ...(databaseUrl === undefined ? ['--offline'] : []), '--project', folder], {
      ...variables,
      DATABASE_URL: databaseUrl ?? '',
    }),
  );
  if (result.code !== 0) throw new Error(result.stderr);
  return usage;
}

async function benchServing(folder: string, databaseUrl: string): Promise<void> {
  await loadClient();
  const ready = await timed(() => startUnchecked(folder, databaseUrl, {}, []));
  reportTime('platform start until it listens', ready.ms, targets.ready);
  const answer = await timed(() => ready.value.admin('/items/table_000?limit=1'));
  reportTime('first answer', answer.ms, targets.first);
  const other = await timed(() => ready.value.admin('/items/table_001?limit=1'));
  reportTime('first answer of another collection', other.ms, targets.first);
  await ready.value.stop();
  const check = await timed(() => typeCheck(folder));
  if (check.value !== '') throw new Error(check.value);
  reportTime('tsc over the output', check.ms);
}

/** The first request of a process loads its client, which takes longer than the answer that is timed. */
async function loadClient(): Promise<void> {
  const server = await startAnswering();
  await asking(server.url).ask('/');
  await server.close();
}

/** Roles of twenty classes of access: as many as classes, and ten times as many. */
const roleCounts = [20, 200];

/** Compiles them by turns, each time in a folder where nothing is yet, and prints the middle one of three. */
async function benchRoles(from: string): Promise<void> {
  const projects: { remove(): Promise<void> }[] = [];
  const runs = new Map(roleCounts.map((count): [number, Usage[]] => [count, []]));
  try {
    for (let turn = 0; turn < 3; turn += 1) {
      for (const [count, usages] of runs) {
        const project = await createProject();
        projects.push(project);
        await copyFile(join(from, 'platform.schema.json'), join(project.folder, 'platform.schema.json'));
        await writeFile(join(project.folder, 'permissions.yaml'), permissionsOf(count, 20, tables));
        usages.push(await generate(project.folder));
      }
    }
    for (const [count, usages] of runs) report(`${count} roles of 20 classes, cold`, middle(usages));
  } finally {
    await Promise.all(projects.map((project) => project.remove()));
  }
}

async function benchPeers(folder: string, databaseUrl: string): Promise<void> {
  await peer('PostGraphile', () => buildPostgraphile(databaseUrl));
  await peer('openapi-typescript', () => makeOpenapiTypes(folder));
}

/** What cannot be had, or does not manage, is said and is no reason to stop. */
async function peer(name: string, work: () => Promise<Peer>): Promise<void> {
  try {
    const { name: what, usage } = await work();
    report(what, usage);
  } catch (error) {
    const lines = (error instanceof Error ? error.message : String(error)).trim().split('\n');
    const reason = lines.find((line) => /error/i.test(line)) ?? lines.at(-1) ?? '';
    process.stdout.write(`${name.padEnd(46)} not measured: ${reason.trim()}\n`);
  }
}

/** Changes of one table that are timed. */
const changes = 5;

/**
 * What `platform dev` does when it has read the tables: it resolves and compiles a project, and writes it when it serves it
 * already. Milliseconds of both, each time that the columns of one table have another comment.
 */
async function timeChanges(
  folder: string,
): Promise<readonly { readonly compiled: number; readonly written: number }[]> {
  const project = await loadProject(folder);
  const memoCache = createMemoCache();
  let facts = await loadFacts(project);
  let last = await compileProject(project, silent, { facts, memoCache });
  await writeProject(project, last, silent);
  const times: { readonly compiled: number; readonly written: number }[] = [];
  for (let change = 0; change < changes; change += 1) {
    const left = noteOutput(project.output, last.files);
    // Tables that did not change are the same objects, as where some are read again.
    facts = { ...facts, tables: changedTables(facts.tables), previous: last.schema };
    const compiled = await timed(() => compileProject(project, silent, { facts, memoCache }));
    const written = await timed(() => rewriteOutput(project, left, compiled.value));
    await written.value.cleared;
    times.push({ compiled: compiled.ms, written: written.ms });
    last = compiled.value;
  }
  return times;
}

/** Gives the columns of the last table another comment. */
async function changeSchema(folder: string): Promise<void> {
  const file = join(folder, 'platform.schema.json');
  const schema = await readSchema(folder);
  await writeFile(file, JSON.stringify({ ...schema, tables: changedTables(schema.tables) }, null, 2));
}

function changedTables(tables: Schema['tables']): Schema['tables'] {
  const comment = `Changed at ${performance.now()}.`;
  const last = tables.length - 1;
  return tables.map((table, at) =>
    at === last ? { ...table, columns: table.columns.map((column) => ({ ...column, comment })) } : table,
  );
}

async function readSchema(folder: string): Promise<Schema> {
  const parsed = parseSchema(await readFile(join(folder, 'platform.schema.json'), 'utf8'));
  if ('schema' in parsed) return parsed.schema;
  throw new Error(parsed.diagnostic.message);
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}

/** A line of the table: by the clock, of the processor, in memory. */
function report(what: string, { ms, processorMs, megabytes }: Usage, seconds?: number, memoCache?: number): void {
  const time = `${inSeconds(ms)}  processor ${inSeconds(processorMs)}  ${megabytes.toFixed(0).padStart(5)} MB`;
  process.stdout.write(`${what.padEnd(46)} ${time}${wanted(seconds, memoCache)}\n`);
}

function reportTime(what: string, ms: number, seconds?: number): void {
  process.stdout.write(`${what.padEnd(46)} ${inSeconds(ms, 3)}${wanted(seconds)}\n`);
}

function inSeconds(ms: number, digits = 2): string {
  return `${(ms / 1000).toFixed(digits).padStart(4 + digits)} s`;
}

function wanted(seconds?: number, memoCache?: number): string {
  if (seconds === undefined || tables !== 1000) return '';
  return `  target ${seconds} s${memoCache === undefined ? '' : `, ${memoCache} MB`}`;
}
