/** Receives notifications of other processes through the database, as long as there is a way to it. */
import type { Listener, ListenOptions } from '../../server-dialect.ts';
import { type ConnectedClient, connectClient } from './client.ts';
import { postgresSettings } from './options.ts';

/**
 * Listens on a connection of its own, which is made anew when it is lost. Never reports failures: a caller that must
 * know also queries the database, because a pooler may keep notifications to itself.
 */
export function listenTo({ channel, heard, retryAfter = 30_000, ...location }: ListenOptions): Listener {
  const settings = postgresSettings(location);
  let connected: ConnectedClient | null = null;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  /** True where the session is ours: a pooler gives another one to each transaction. */
  let isOwn = false;

  async function connect(): Promise<void> {
    let backend: number | undefined;
    const made = await connectClient(settings, { application_name: settings.applicationName }, async ({ client }) => {
      client.on('notification', ({ payload }) => heard(payload));
      backend = (await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid')).rows[0]?.pid;
      await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    });
    isOwn = made.key !== undefined && backend === made.key.processId;
    connected = made;
    made.client.on('end', () => {
      connected = null;
      connectLater();
    });
    if (closed) await made.client.end();
    else heard();
  }

  function connectLater(): void {
    if (closed) return;
    timer = setTimeout(tryToConnect, retryAfter).unref();
  }

  function tryToConnect(): void {
    connecting = connect().catch(connectLater);
  }

  let connecting: Promise<void> = connect().catch(connectLater);
  return {
    get isHeard() {
      return isOwn && connected !== null;
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await connecting;
      await connected?.client.end();
    },
  };
}
