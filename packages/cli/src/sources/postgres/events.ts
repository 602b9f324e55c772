/**
 * Change events of tables in PostgreSQL: an event trigger sends a notification for every committed change of the
 * catalog. Its function is a temporary one of this session, and the trigger depends on it. So both are gone when the
 * session ends for any reason.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { reasonOf } from '../../errors/exit-codes.ts';
import type { Hearers, TableEvents } from '../commands.ts';

/** Milliseconds that a notice may take to come back to who has sent it. */
const timeoutMs = 2_000;

/**
 * Begins to hear. Rejects with an error whose message says why that cannot be: mostly, only superusers may make event
 * triggers, or a pooler keeps notices to itself.
 */
export async function hearTables(url: string, { heard, lost }: Hearers): Promise<TableEvents> {
  const name = `platform_dev_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client({
    connectionString: url,
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
  await client.query(`ROLLBACK; DROP EVENT TRIGGER IF EXISTS ${name}`).catch(() => undefined);
  await client.end().catch(() => undefined);
}
