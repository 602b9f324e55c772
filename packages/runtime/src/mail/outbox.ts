/**
 * Mail that waits to be sent. It is queued in the transaction that causes it and sent after the commit, by the process
 * that comes first. A process that dies meanwhile leaves it to the others. Source: API specification, section 1.6.
 */
import type { Database } from '../database/database.ts';
import { createDueRows, type DueRows } from '../database/due-rows.ts';
import { runAlone } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { SystemPlace } from '../system/place.ts';
import { isRefused } from './transport.ts';

export interface WaitingMail {
  readonly template: string;
  readonly recipient: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Options of an outbox. `deliver` rejects for a mail that was not taken. */
interface OutboxOptions {
  readonly database: Pick<Database, 'transaction'>;
  readonly place: SystemPlace;
  readonly deliver: (mail: WaitingMail) => Promise<void>;
  readonly log: Pick<Log, 'warn'>;
  /** Called when nothing will be delivered any more. */
  readonly closed: () => void;
}

/** Tries after which a mail is given up; with waits from one minute, doubled up to an hour, that is some hours. */
const maxTries = 10;

export function createOutbox({ database, place: location, deliver, log, closed }: OutboxOptions): DueRows {
  const texts = statements(location);

  /** Sends one mail; false when none waits. */
  async function sendOne(): Promise<boolean> {
    const row = await runAlone(database, texts.claim, []);
    if (row === undefined) return false;
    const [id = '', template = '', recipient = '', values = '{}', tries] = row.map((column) => column ?? '');
    try {
      await deliver({ template, recipient, values: JSON.parse(values) });
      await runAlone(database, texts.remove, [id]);
    } catch (error) {
      const hasFailed = isRefused(error) || Number(tries) >= maxTries;
      log.warn(
        { template, cause: causeWithout(recipient, error) },
        hasFailed ? 'A mail was given up.' : 'A mail is tried again later.',
      );
      await runAlone(database, hasFailed ? texts.remove : texts.note, hasFailed ? [id] : [id, reasonOf(error)]);
    }
    return true;
  }

  const rows = createDueRows(sendOne);
  return {
    ...rows,
    async close() {
      await rows.close();
      closed();
    },
  };
}

/** Makes the function that counts the mails of all processes. */
export function mailCounter(database: Pick<Database, 'query'>, location: SystemPlace): () => Promise<number> {
  const { table, text: textOf } = ownTables(location);
  const text = `SELECT ${textOf('COUNT(*)')} FROM ${table('platform_mails')}`;
  return async () => Number((await database.query(text, []))[0]?.[0]);
}

function statements(location: SystemPlace) {
  const { table, text, write, claimDue } = ownTables(location);
  const mails = table('platform_mails');
  const columns = ['id', 'template', 'recipient', 'template_values', 'attempts'].map((name) => text(`m.${name}`));
  return {
    claim: claimDue('platform_mails', 'm', columns),
    remove: write(`DELETE FROM ${mails} WHERE id = $1::pg_catalog.int8`),
    note: write(`UPDATE ${mails} SET last_error = $2::text WHERE id = $1::pg_catalog.int8`),
  };
}

/** The cause without the recipient, whom mail servers name: that is no business of the log. */
function causeWithout(recipient: string, error: unknown): unknown {
  return JSON.parse(JSON.stringify(describeCause(error)).replaceAll(recipient, '<recipient>'));
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll('\0', '').slice(0, 1_000);
}
