/**
 * Prints how long it takes to compile, type-check and start a server for 200 tables on a real PostgreSQL. Absolute times
 * depend on the machine: compare runs on one machine only.
 */

import { createProject, runPlatform, startUnchecked } from '../test/support/platform.ts';
import { createDatabaseOn, startPostgres } from '../test/support/postgres.ts';
import { typeCheck } from '../test/support/type-check.ts';

const tables = 200;

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
    const ready = await timed(() => startUnchecked(project.folder, database.url, {}, []));
    const answer = await timed(() => ready.value.admin('/items/table_000?limit=1'));
    await ready.value.stop();
    const check = await timed(() => typeCheck(project.folder));
    if (check.value !== '') throw new Error(check.value);
    process.stdout.write(cold.value.stderr);
    report('platform generate, nothing there yet', cold.ms);
    report('platform generate again', warm.ms);
    report('platform start until it listens', ready.ms);
    report('first answer', answer.ms);
    report('tsc over the output', check.ms);
  } finally {
    await project.remove();
    await database.drop();
    await server.stop();
  }
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

function report(what: string, ms: number): void {
  process.stdout.write(`${what.padEnd(40)} ${(ms / 1000).toFixed(2)} s\n`);
}
