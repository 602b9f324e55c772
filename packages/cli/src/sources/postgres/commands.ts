import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { modelLock } from '@tablewright/runtime/language';
import {
  addressConfig,
  createProjectLedgerSql,
  leave,
  localForms,
  recordMigrationSql,
} from '@tablewright/runtime/postgres';
import { ownTables, type ProjectMigration, platformVersion } from '@tablewright/runtime/tools';
import pg from 'pg';
import { CommandError, exitCodes, reasonOf } from '../../errors/failures.ts';
import { type ConnectionFacts, type FamilyCommands, type Hearers, isLocalHost, type TableEvents } from '../commands.ts';
import { nodesOf, type Scan, type TablesByName, withoutIndex } from '../missing-index.ts';
import { endConnection, runOwn, type Source } from '../source.ts';
import { postgresExaminations } from './examine.ts';

/** Asks for the limits of connections of the server, of the role and of the database; -1 is none. */
const postgresLimitsSql = `SELECT (pg_catalog.current_setting('max_connections')::int
  - pg_catalog.current_setting('superuser_reserved_connections')::int
  - coalesce(pg_catalog.current_setting('reserved_connections', true)::int, 0))::text,
  (SELECT rolconnlimit::text FROM pg_catalog.pg_roles WHERE rolname = current_user),
  (SELECT datconnlimit::text FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())`;

/** Milliseconds that a notice may take to come back to who has sent it. */
const timeoutMs = 2_000;

export const postgresCommands: FamilyCommands = {
  examinations: postgresExaminations,
  connection: postgresConnection,
  limitsSql: postgresLimitsSql,
  async explain(source, statement, parameters, analyze) {
    const options = analyze ? 'ANALYZE, BUFFERS' : 'COSTS';
    const rows = await source.read(statement, parameters, `EXPLAIN (${options}) `);
    return rows.map(([line]) => line ?? '');
  },
  // A plan is asked for that avoids reading tables as a whole; a table that it still reads so lacks an index.
  async missingIndexes(source, statement, parameters, tables) {
    const rows = await source.read(statement, parameters, 'EXPLAIN (FORMAT JSON, VERBOSE) ', ['enable_seqscan = off']);
    const plan: unknown = JSON.parse(rows.map(([text]) => text ?? '').join('\n'));
    return withoutIndex(nodesOf(plan).flatMap((node) => scanOf(node, tables)));
  },
  hearTables,
  // Changes are transactions, so none is half done.
  async waitForChanges() {},
  applyMigration: applyPostgresMigration,
};

/** Reads an address as the driver does, which also takes variables such as PGSSLMODE. */
function postgresConnection(url: string): ConnectionFacts {
  const client = new pg.Client(addressConfig(url));
  const ssl: unknown = client.ssl;
  const isUnchecked = typeof ssl === 'object' && ssl !== null && Reflect.get(ssl, 'rejectUnauthorized') === false;
  return {
    isLocal: isLocalHost(client.host),
    encryption: isUnchecked ? 'unchecked' : ssl ? 'checked' : 'none',
    checking: 'sslmode=verify-full',
  };
}

function scanOf(node: Readonly<Record<string, unknown>>, tables: TablesByName): readonly Scan[] {
  const { Filter: condition, 'Index Cond': served, 'Relation Name': name, Schema: schema, Alias: alias } = node;
  if (typeof condition !== 'string' || served !== undefined) return [];
  return [{ table: tables.get(`${schema}.${name}`), alias: `${alias}`, condition }];
}

/** Takes back the role that the session began with, which is no setting that RESET ALL resets. */
const resetRole = 'RESET SESSION AUTHORIZATION; RESET ROLE';

/** Applies one under the lock of the model; false if another process has done so meanwhile. */
async function applyPostgresMigration(
  source: Source,
  schema: string,
  { name, checksum, script: sql }: ProjectMigration,
): Promise<boolean> {
  await source.script(`BEGIN; ${localForms}`);
  const { turn, statements } = ownTables({ schema, dialect: source.dialect });
  try {
    await runOwn(source, turn(), [modelLock]);
    await source.script(createProjectLedgerSql(schema));
    const applied = await source.run(statements.model.migrations, []);
    const isNew = applied.every(([appliedName]) => appliedName !== name);
    if (isNew) {
      await source.script(sql);
      await source.script(resetRole);
      await source.run(recordMigrationSql(schema), [name, checksum, sql, platformVersion()]);
    }
    await source.script('COMMIT');
    return isNew;
  } catch (error) {
    throw await refusedMigration(source, { name, script: sql }, error);
  } finally {
    // Settings of a dump, such as an empty search_path, are not for the migrations after it.
    await source.script(`ROLLBACK; ${resetRole}; RESET ALL`).catch(() => undefined);
  }
}

/** A transaction that has failed answers nothing: one that does is over, because the file has ended it. */
async function refusedMigration(
  { run }: Source,
  { name, script: sql }: Pick<ProjectMigration, 'name' | 'script'>,
  error: unknown,
): Promise<CommandError> {
  const isOver = await run('SELECT 1', []).then(
    () => true,
    () => false,
  );
  return new CommandError(
    exitCodes.database,
    `The migration ${name} cannot be applied: ${reasonOf(error)}${lineIn(sql, error)}. ${isOver ? 'It ends its transaction itself, so a part of it may stay.' : 'Nothing of it stays.'}`,
    isOver
      ? 'Undo what stays, remove BEGIN and COMMIT from the file, and run `platform migrate` again.'
      : 'Correct what is in its way, and run `platform migrate` again.',
  );
}

/** Line of a text that the database names by the place of a character, as the end of a sentence. */
function lineIn(text: string, error: unknown): string {
  const position = error instanceof Error && 'position' in error ? Number(error.position) : 0;
  const lines = [...text].slice(0, position - 1).filter((character) => character === '\n').length + 1;
  return position > 0 ? `, in line ${lines}` : '';
}

/**
 * Begins to hear. Rejects with an error whose message says why that cannot be: mostly, only superusers may make event
 * triggers, or a pooler keeps notices to itself.
 *
 * Change events of tables in PostgreSQL: an event trigger sends a notification for every committed change of the
 * catalog. Its function is a temporary one of this session, and the trigger depends on it. So both end with the
 * session.
 */
export async function hearTables(url: string, { heard, lost }: Hearers): Promise<TableEvents> {
  const name = `platform_dev_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({
    ...addressConfig(url),
    application_name: 'platform dev',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query(installSql(name));
    await client.query(`LISTEN ${name}`);
    await hearOneself(client, name);
  } catch (error) {
    await remove(client, name);
    throw new Error(reasonOf(error), { cause: error });
  }
  let closed = false;
  client.on('notification', heard);
  client.on('end', () => {
    if (!closed) lost();
  });
  return {
    name,
    async close() {
      closed = true;
      await remove(client, name);
    },
  };
}

/**
 * One transaction. A failed notification must not undo another session's change; temporary tables of other sessions are
 * ignored. Commands that drop objects are not listed.
 */
function installSql(name: string): string {
  return `BEGIN;
CREATE FUNCTION pg_temp.${name}() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (SELECT pg_catalog.bool_or(schema_name IS DISTINCT FROM 'pg_temp') FROM pg_catalog.pg_event_trigger_ddl_commands())
    IS NOT FALSE THEN
    PERFORM pg_catalog.pg_notify('${name}', '');
  END IF;
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
CREATE EVENT TRIGGER ${name} ON ddl_command_end EXECUTE FUNCTION pg_temp.${name}();
ALTER EVENT TRIGGER ${name} ENABLE ALWAYS;
COMMIT`;
}

/** Checks that the session gets its own notification; otherwise it would get none. */
async function hearOneself(client: pg.Client, name: string): Promise<void> {
  const ended = new AbortController();
  const heard = new Promise<boolean>((resolve) => {
    client.once('notification', () => resolve(true));
  });
  const late = wait(timeoutMs, false, { signal: ended.signal }).catch(() => false);
  await client.query('SELECT pg_catalog.pg_notify($1, $2)', [name, '']);
  const isHeard = await Promise.race([heard, late]);
  ended.abort();
  if (!isHeard) throw new Error('notices do not come back, as through a pooler that shares sessions');
}

/** Drops the trigger by its name, because with a pooler the session outlives the connection. */
async function remove(client: pg.Client, name: string): Promise<void> {
  const removed = client.query(`ROLLBACK; DROP EVENT TRIGGER IF EXISTS ${name}`).catch(() => undefined);
  const ended = removed.then(() => client.end());
  await endConnection(ended, () => leave(client));
}
