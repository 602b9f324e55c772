/**
 * Prints how long it takes to compile, type-check and start a server for 200 tables, or as many as BENCH_TABLES says, on a
 * real PostgreSQL. Absolute times depend on the machine: compare runs on one machine only.
 */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compile, createCompileMemory } from '@platform/compiler';
import { parseSchema } from '@platform/introspect';
import type { Schema } from '@platform/introspect/schema';

import { createProject, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres } from '../test/support/postgres.ts';
import { typeCheck } from '../test/support/type-check.ts';

const tables = Number(process.env.BENCH_TABLES ?? 200);

/** What a thousand tables may take, in seconds; the targets on a machine that does nothing else. */
const targets = { database: 6, schema: 3, change: 0.3, ready: 2, first: 0.05 } as const;

/** Measures and prints. */
export async function benchCompile(): Promise<void> {
  const server = await startPostgres();
  const database = await createDatabaseOn(server.url, schemaOf(tables));
  const project = await createProject();
  try {
    const environment = { DATABASE_URL: database.url };
    const cold = await timed(() => runPlatform(['generate', '--project', project.folder], environment));
    if (cold.value.code !== 0) throw new Error(cold.value.stderr);
    const warm = await timed(() => runPlatform(['generate', '--project', project.folder], environment));
    const offline = await timed(() => runPlatform(['generate', '--offline', '--project', project.folder], environment));
    const changed = await timeChange(project.folder);
    const ready = await timed(() => startUnchecked(project.folder, database.url, {}, []));
    const answer = await timed(() => ready.value.admin('/items/table_000?limit=1'));
    await ready.value.stop();
    const check = await timed(() => typeCheck(project.folder));
    if (check.value !== '') throw new Error(check.value);
    process.stdout.write(cold.value.stderr);
    report('platform generate, nothing there yet', cold.ms, targets.database);
    report('platform generate again', warm.ms, targets.database);
    report('platform generate --offline', offline.ms, targets.schema);
    report('one table changed, in the same process', changed, targets.change);
    report('platform start until it listens', ready.ms, targets.ready);
    report('first answer', answer.ms, targets.first);
    report('tsc over the output', check.ms);
  } finally {
    await project.remove();
    await database.drop();
    await server.stop();
  }
}

/** Compiles what was introspected, and again after the columns of one table have another comment: milliseconds of the second time. */
async function timeChange(folder: string): Promise<number> {
  const templates = join(import.meta.dirname, '..', 'templates');
  const names = (await readdir(templates)).filter((name) => name.endsWith('.hbs'));
  const texts = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(templates, name), 'utf8')] as const)),
  );
  const schema = await readSchema(folder);
  const again = await readSchema(folder);
  const last = again.tables.length - 1;
  const tablesNow = again.tables.map((table, at) =>
    at === last ? { ...table, columns: table.columns.map((column) => ({ ...column, comment: 'Changed.' })) } : table,
  );
  const memory = createCompileMemory();
  compile(schema, { templates: texts, memory });
  const { ms } = await timed(async () => compile({ ...again, tables: tablesNow }, { templates: texts, memory }));
  return ms;
}

async function readSchema(folder: string): Promise<Schema> {
  const parsed = parseSchema(await readFile(join(folder, 'platform.schema.json'), 'utf8'));
  if ('schema' in parsed) return parsed.schema;
  throw new Error(parsed.diagnostic.message);
}

/** Tables of twelve columns; each points at two earlier ones. */
function schemaOf(count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const name = `table_${String(index).padStart(3, '0')}`;
    const reference = (divisor: number): string =>
      index === 0 ? 'integer' : `integer REFERENCES table_${String(Math.floor(index / divisor)).padStart(3, '0')} (id)`;
    return `CREATE TABLE ${name} (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL, slug varchar(80) UNIQUE, body text,
      status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')), amount numeric(12,2), big bigint,
      happened_at timestamptz DEFAULT now(), flags boolean[], data jsonb,
      first_id ${reference(2)}, second_id ${reference(3)});
      COMMENT ON TABLE ${name} IS 'Table ${index} of the benchmark.';`;
  }).join('\n');
}

async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const start = performance.now();
  const value = await work();
  return { value, ms: performance.now() - start };
}

function report(what: string, ms: number, target?: number): void {
  const wanted = target === undefined || tables !== 1000 ? '' : `  target ${target} s`;
  process.stdout.write(`${what.padEnd(40)} ${(ms / 1000).toFixed(2)} s${wanted}\n`);
}
