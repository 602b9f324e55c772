import { addressConfig, leave } from '@tablewright/runtime/postgres';
import { databaseLabel } from '@tablewright/runtime/tools';
import pg from 'pg';
import { unreachable } from '../commands.ts';
import { endConnection, type Run, type Source } from '../source.ts';
import { keyOf, openReading, type ReadingSession, runText, settingsOf } from './session.ts';

/** Opens a PostgreSQL database; it only writes if `writable` is set. Rejects with advice when out of reach. */
export async function openPostgres(url: string, writable: boolean): Promise<Source> {
  const label = databaseLabel(url);
  const open = async (): Promise<pg.Client> => connectPostgres(url);
  const { client, run, runUnder, isShared } = await (writable ? openWriting(open) : openReading(open)).catch(
    (error: unknown) => {
      throw unreachable(label, error);
    },
  );
  return {
    label,
    family: 'postgres',
    dialect: 'postgres',
    run,
    read(statement, parameters, before = '', planner = []) {
      const settings = settingsOf(statement, planner);
      const isPlain = planner.length === 0 && settings.caller === undefined;
      const text = before + statement.text;
      return isPlain ? run(text, parameters) : runUnder(settings, text, parameters);
    },
    script: async (sql) => void (await client.query(sql)),
    findBlockers: () => findBlockers(open, keyOf(client)),
    close: () => endConnection(client.end(), () => leave(client)),
    ...(isShared && { pooled: true }),
    embedded: null,
  };
}

async function connectPostgres(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    ...addressConfig(url),
    application_name: 'platform',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    leave(client);
    throw error;
  }
}

async function openWriting(connect: () => Promise<pg.Client>): Promise<ReadingSession> {
  const client = await connect();
  const run: Run = (sql, parameters) => runText(client, sql, parameters);
  return { client, run, runUnder: (_, ...statement) => run(...statement), isShared: false };
}

/** Looks for them on a second connection. A pooler hands out keys that are those of no session: null. */
async function findBlockers(connect: () => Promise<pg.Client>, key: string): Promise<readonly string[] | null> {
  const client = await connect();
  try {
    const rows = await runText(client, blockersSql, [key]);
    if (rows.length === 0) return null;
    return rows.flatMap(([pid, facts]) => (pid === null ? [] : [`session ${pid} (${facts})`]));
  } finally {
    await endConnection(client.end(), () => leave(client));
  }
}

const blockersSql = `SELECT blocker.pid::text,
  pg_catalog.concat_ws(', ', NULLIF(a.application_name, ''), 'user ' || a.usename, a.state)
FROM pg_catalog.pg_stat_activity AS own
LEFT JOIN LATERAL (SELECT DISTINCT pg_catalog.unnest(pg_catalog.pg_blocking_pids(own.pid)) AS pid) AS blocker ON true
LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = blocker.pid
WHERE own.pid = $1::integer ORDER BY blocker.pid`;
