import { cancelBackend } from '../driver/cancel.ts';
import { connectClient } from '../driver/client.ts';
import type { Closed, PostgresConnection } from '../driver/connect.ts';
import { runIdentified } from '../driver/identified.ts';
import { type PostgresSettings, transactionSql } from '../driver/options.ts';
import { PlainConnection } from './connection.ts';

/**
 * Makes a connection of the plain driver: `pg` connects, and stays in charge of it.
 *
 * Rejects with a `ConnectionError` whose message states the attempt and its result, without the password.
 */
export async function openPlainConnection(settings: PostgresSettings, closed: Closed): Promise<PostgresConnection> {
  const reading = transactionSql({ ...settings, readOnly: true });
  const set = { reading, writing: transactionSql({ ...settings, readOnly: false }) };
  const config = { application_name: settings.applicationName };
  // Run once for nothing, so that a server that refuses a setting, or a pooler without a server, is known at once.
  let identity: string | undefined;
  const { client, key } = await connectClient(settings, config, async ({ client }) => {
    identity = await runIdentified(client, reading);
  });
  const connection: PlainConnection = new PlainConnection(client, set, (error) => closed(connection, error));
  return { connection, identity, cancel: () => cancelBackend(client, key) };
}
