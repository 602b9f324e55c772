/**
 * Mail that waits to be sent. It is queued in the transaction that causes it and sent after the commit, by the process
 * that comes first; a process that dies meanwhile leaves it to the others. Source: API specification, section 1.6.
 */

import type { Database } from '../database/database.ts';
import { firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, requireRow, returnRow } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { SystemPlace } from '../system/place.ts';
import { isRefused } from './transport.ts';

/** A mail that waits. */
export interface WaitingMail {
  readonly template: string;
  readonly recipient: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Sends the waiting mail. */
export interface Outbox {
  /** Something was put down: sends it soon, never before the current turn of the event loop has ended. */
  wake(): void;
  /** Stops looking, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** Options of an outbox. `deliver` rejects for a mail that was not taken. */
export interface OutboxOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly deliver: (mail: WaitingMail) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  /** Called when nothing will be delivered any more. */
  readonly closed: () => void;
}

/** Interval between checks for mail that other processes have left, in milliseconds. */
const lookEveryMs = 60_000;

/** Tries after which a mail is given up; with waits from one minute, doubled up to an hour, that is some hours. */
const maxTries = 10;

/** Makes the outbox of a server. */
export function createOutbox({ database, place: location, deliver, log, closed: done }: OutboxOptions): Outbox {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });
  let closed = false;
  let again = false;
  let running: Promise<void> | undefined;

  async function run(text: OwnSql, values: readonly string[]): Promise<readonly (string | null)[] | undefined> {
    return database.transaction(async (transaction) => {
      const [number = null, ...rest] = (await firstRow(transaction, text, values)) ?? [];
      if (number === null) return { value: undefined };
      transaction.identify(number);
      return { value: rest };
    });
  }

  /** Sends one mail; false when none waits. */
  async function sendOne(): Promise<boolean> {
    const row = await run(texts.claim, []);
    if (row === undefined) return false;
    const [id = '', template = '', recipient = '', values = '{}', tries] = row.map((column) => column ?? '');
    try {
      await deliver({ template, recipient, values: JSON.parse(values) });
      await run(texts.remove, [id]);
    } catch (error) {
      const hasFailed = isRefused(error) || Number(tries) >= maxTries;
      // The recipient is no business of the log.
      log.warn(
        { template, cause: describeCause(error) },
        hasFailed ? 'A mail was given up.' : 'A mail is tried again later.',
      );
      await run(hasFailed ? texts.remove : texts.note, hasFailed ? [id] : [id, reasonOf(error)]);
    }
    return true;
  }

  async function sendAll(): Promise<void> {
    do {
      again = false;
      while (!closed && (await sendOne()));
    } while (again && !closed);
  }

  function look(): void {
    if (closed) return;
    again = true;
    running ??= sendAll()
      // The database is away; the mail waits in it.
      .catch(() => undefined)
      .finally(() => {
        running = undefined;
      });
  }

  const timer = setInterval(look, lookEveryMs).unref();
  return {
    wake: () => void setImmediate(look),
    async close() {
      closed = true;
      clearInterval(timer);
      await running;
      done();
    },
  };
}

/** Makes the function that counts the mails of all processes. */
export function mailCounter(database: Pick<Database, 'query'>, location: SystemPlace): () => Promise<number> {
  const text = byFamily(location, {
    postgres: (schema) => `SELECT pg_catalog.count(*)::text FROM ${schema}.platform_mails`,
    mysql: ({ table }) => `SELECT CAST(COUNT(*) AS CHAR) FROM ${table('platform_mails')}`,
  });
  return async () => Number((await database.query(text, []))[0]?.[0]);
}

interface Statements {
  readonly claim: OwnSql;
  readonly remove: OwnSql;
  readonly note: OwnSql;
}

function mysqlStatements({ table }: MysqlTables): Statements {
  const mails = table('platform_mails');
  return {
    claim: createScript(
      requireRow(
        `SELECT CAST(id AS CHAR), template, recipient, template_values, CAST(attempts + 1 AS CHAR)
FROM ${mails} WHERE due_at <= NOW(6) ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED`,
        ['id', 'template', 'recipient', 'values', 'attempts'],
      ),
      `UPDATE ${mails} SET due_at = NOW(6) + INTERVAL LEAST(60, POW(2, attempts)) MINUTE, attempts = attempts + 1
WHERE id = $id`,
      returnRow('1', '$id', '$template', '$recipient', '$values', '$attempts'),
    ),
    remove: createScript(requireRow(`DELETE FROM ${mails} WHERE id = $1`)),
    note: createScript(requireRow(`UPDATE ${mails} SET last_error = $2 WHERE id = $1`)),
  };
}

function postgresStatements(schema: string): Statements {
  const table = `${schema}.platform_mails`;
  const now = 'pg_catalog.statement_timestamp()';
  return {
    // A process that claims a mail has until its next time to send it.
    claim: `UPDATE ${table} SET attempts = attempts + 1,
  due_at = ${now} + LEAST(60, 2 ^ attempts) * pg_catalog.interval '1 minute'
WHERE id = (SELECT id FROM ${table} WHERE due_at <= ${now} ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING ${transactionNumber}, id::text, template::text, recipient::text, template_values::text, attempts::text`,
    remove: `DELETE FROM ${table} WHERE id = $1::pg_catalog.int8 RETURNING ${transactionNumber}`,
    note: `UPDATE ${table} SET last_error = $2::text WHERE id = $1::pg_catalog.int8 RETURNING ${transactionNumber}`,
  };
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 1_000);
}
