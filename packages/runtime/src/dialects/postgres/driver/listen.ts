/** Receives notifications of other processes through the database, as long as there is a way to it. */
import type pg from 'pg';
import type { Database } from '../../../database/database.ts';
import { ConnectionError } from '../../../database/errors.ts';
import { silenceMs } from '../../../database/host-state.ts';
import { inTime } from '../../../database/waits.ts';
import type { Listener, ListenOptions } from '../../server-dialect.ts';
import { type ConnectedClient, connectClient } from './client.ts';
import { leave, postgresSettings } from './options.ts';

/** Statement that tells databases apart, of one server or several. */
const placeSql = `SELECT pg_catalog.concat(d.oid, ' ', EXTRACT(EPOCH FROM pg_catalog.pg_postmaster_start_time()))
  FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()`;

/** Pause before a lost connection is made anew: a server that has started again is there soon, and one that is away is asked seldom. */
const [firstPauseMs, maxPauseMs] = [1_000, 30_000];

/**
 * Listens on a connection of its own, which is made anew when it is lost. Failures are told to `attempted` alone: a caller that
 * must know of changes also queries the database, because a pooler may keep notifications to itself.
 */
export function listenTo({ channel, heard, attempted, requests, ...options }: ListenOptions): Listener {
  const settings = postgresSettings(options);
  let connected: ConnectedClient | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  let pauseMs = firstPauseMs;
  /** True where the session is ours: a pooler gives another one to each transaction. */
  let isOwn = false;

  async function connect(): Promise<void> {
    let backend: number | undefined;
    const made = await connectClient(settings, { application_name: settings.applicationName }, async ({ client }) => {
      client.on('notification', ({ payload }) => heard(payload));
      backend = (await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid')).rows[0]?.pid;
      if (requests !== undefined) await refuseOther(client, requests);
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    });
    isOwn = made.key !== undefined && backend === made.key.processId;
    attempted?.(isOwn ? null : new ConnectionError('The address leads to a pooler, which keeps notices to itself.'));
    connected = made;
    pauseMs = firstPauseMs;
    made.client.on('end', () => {
      connected = null;
      connectLater();
    });
    if (closed) leave(made.client);
    else heard();
  }

  function connectLater(): void {
    if (closed) return;
    timer = setTimeout(tryToConnect, pauseMs).unref();
    pauseMs = Math.min(2 * pauseMs, maxPauseMs);
  }

  function tryToConnect(): void {
    connecting = connect().catch((error: unknown) => {
      if (!closed) attempted?.(error instanceof Error ? error : new Error(String(error)));
      connectLater();
    });
  }

  let connecting = Promise.resolve();
  tryToConnect();
  return {
    get isHeard() {
      return isOwn && connected !== null;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await inTime(connecting, silenceMs, () => {});
      if (connected !== null) leave(connected.client);
    },
  };
}

/** A database that is not that of requests has none of its notices. */
async function refuseOther(client: pg.Client, requests: Pick<Database, 'query'>): Promise<void> {
  // Nothing is known of one that is away.
  const [[expected] = []] = await requests.query(placeSql, []).catch(() => []);
  const { rows } = await client.query<string[]>({ text: placeSql, rowMode: 'array' });
  if (expected === undefined || rows[0]?.[0] === expected) return;
  throw new ConnectionError('The address leads to another database than DATABASE_URL.');
}
