import type pg from 'pg';
import { PoolingError } from '../../../database/errors.ts';
import { cancelBackend } from '../driver/cancel.ts';
import { connectClient } from '../driver/client.ts';
import type { Closed, PostgresConnection } from '../driver/connect.ts';
import { runIdentified } from '../driver/identified.ts';
import { type PostgresSettings, transactionSql } from '../driver/options.ts';
import { PlainConnection } from './connection.ts';

/** A pool by statements takes no BEGIN, and would run a statement under the settings of another caller. */
async function refuseStatementPools(client: pg.Client): Promise<void> {
  try {
    // One by one: both at once look like a single statement.
    await client.query('BEGIN');
    await client.query('COMMIT');
  } catch (cause) {
    const message = 'A pooler stands before the database that has no transactions, so callers cannot be passed on.';
    throw new PoolingError(message, { cause });
  }
}

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
    if (settings.passesCallers) await refuseStatementPools(client);
    identity = await runIdentified(client, reading);
  });
  const connection: PlainConnection = new PlainConnection(client, set, (error) => closed(connection, error));
  return { connection, identity, cancel: () => cancelBackend(client, key) };
}
