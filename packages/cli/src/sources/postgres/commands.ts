import type { Parameter, Statement } from '@tablewright/runtime';
import { modelLock } from '@tablewright/runtime/language';
import { createProjectLedgerSql, recordMigrationSql } from '@tablewright/runtime/postgres';
import { ownTables, type ProjectMigration, platformVersion } from '@tablewright/runtime/tools';
import pg from 'pg';
import { CommandError, exitCodes, reasonOf } from '../../errors/exit-codes.ts';
import { type ConnectionFacts, type FamilyCommands, isLocalHost } from '../commands.ts';
import { type MissingIndex, nodesOf, type Scan, type TablesByName, withoutIndex } from '../missing-index.ts';
import { runOwn, type Source } from '../source.ts';
import { hearTables } from './events.ts';
import { postgresExaminations } from './examine.ts';

/** Asks for the limits of connections of the server, of the role and of the database; -1 is none. */
const postgresLimitsSql = `SELECT (pg_catalog.current_setting('max_connections')::int
  - pg_catalog.current_setting('superuser_reserved_connections')::int
  - coalesce(pg_catalog.current_setting('reserved_connections', true)::int, 0))::text,
  (SELECT rolconnlimit::text FROM pg_catalog.pg_roles WHERE rolname = current_user),
  (SELECT datconnlimit::text FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())`;

/** The commands on PostgreSQL. */
export const postgresCommands: FamilyCommands = {
  examinations: postgresExaminations,
  connection: postgresConnection,
  limitsSql: postgresLimitsSql,
  explain: explainPostgres,
  missingIndexes: missingInPostgres,
  hearTables,
  // Changes are transactions, so none is half done.
  async waitForChanges() {},
  applyMigration: applyPostgresMigration,
};

/** Reads an address as the driver does, which also takes variables such as PGSSLMODE. */
function postgresConnection(url: string): ConnectionFacts {
  const client = new pg.Client({ connectionString: url });
  const ssl: unknown = client.ssl;
  const isUnchecked = typeof ssl === 'object' && ssl !== null && Reflect.get(ssl, 'rejectUnauthorized') === false;
  return {
    isLocal: isLocalHost(client.host),
    encryption: isUnchecked ? 'unchecked' : ssl ? 'checked' : 'none',
    checking: 'sslmode=verify-full',
  };
}

/** The plan as EXPLAIN prints it; with `analyze` the statement runs. */
async function explainPostgres(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  analyze: boolean,
): Promise<readonly string[]> {
  const options = analyze ? 'ANALYZE, BUFFERS' : 'COSTS';
  const rows = await source.read(statement, parameters, `EXPLAIN (${options}) `);
  return rows.map(([line]) => line ?? '');
}

/** Asks for a plan that avoids reading tables as a whole; a table that it still reads so lacks an index. */
async function missingInPostgres(
  source: Source,
  statement: Statement,
  parameters: readonly Parameter[],
  tables: TablesByName,
): Promise<readonly MissingIndex[]> {
  const rows = await source.read(statement, parameters, 'EXPLAIN (FORMAT JSON, VERBOSE) ', ['enable_seqscan = off']);
  const plan: unknown = JSON.parse(rows.map(([text]) => text ?? '').join('\n'));
  return withoutIndex(nodesOf(plan).flatMap((node) => scanOf(node, tables)));
}

function scanOf(node: Readonly<Record<string, unknown>>, tables: TablesByName): readonly Scan[] {
  const { Filter: condition, 'Index Cond': served, 'Relation Name': name, Schema: schema, Alias: alias } = node;
  if (typeof condition !== 'string' || served !== undefined) return [];
  return [{ table: tables.get(`${schema}.${name}`), alias: `${alias}`, condition }];
}

/** Applies one under the lock of the model; false if another process has done so meanwhile. */
async function applyPostgresMigration(
  source: Source,
  schema: string,
  { name, checksum, script: sql }: ProjectMigration,
): Promise<boolean> {
  await source.script('BEGIN');
  const { turn, statements } = ownTables({ schema, dialect: source.dialect });
  try {
    await runOwn(source, turn(), [modelLock]);
    await source.script(createProjectLedgerSql(schema));
    const applied = await source.run(statements.model.migrations, []);
    const isNew = applied.every(([appliedName]) => appliedName !== name);
    if (isNew) {
      await source.script(sql);
      await source.run(recordMigrationSql(schema), [name, checksum, sql, platformVersion()]);
    }
    await source.script('COMMIT');
    return isNew;
  } catch (error) {
    await source.script('ROLLBACK').catch(() => undefined);
    throw new CommandError(
      exitCodes.database,
      `The migration ${name} cannot be applied: ${reasonOf(error)}. Nothing of it stays.`,
      'Correct what is in its way, and run `platform migrate` again.',
    );
  }
}
