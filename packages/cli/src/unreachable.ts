import { CommandError, exitCodes } from './exit-codes.ts';
import { reasonOf } from './readable.ts';

/** A database that cannot be used, as a failure with the cure. `label` names it without credentials. */
export function unreachable(label: string, error: unknown): CommandError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = reasonOf(error);
  const [reason = text, advice = elsewhere] = causes.get(code) ?? causes.get(text) ?? [];
  const subject = label.charAt(0).toUpperCase() + label.slice(1);
  return new CommandError(exitCodes.database, `${subject} cannot be used: ${reason}.`, advice);
}

const elsewhere = 'Check host and port in DATABASE_URL, and that the server accepts connections from here.';
const account = 'Check user and password in DATABASE_URL.';
const name = 'Check the name of the database at the end of DATABASE_URL, or create the database.';
const host = 'Check the name of the host in DATABASE_URL.';
const grantAdvice =
  'GRANT the user of DATABASE_URL rights on the database, or check the name at the end of DATABASE_URL.';

/** A reason, where that of the driver is no text for people, and a cure. */
type Cause = readonly [reason: string | undefined, advice: string];

const silence: Cause = ['it does not answer within ten seconds', elsewhere];
const cut: Cause = ['it ended the connection', 'Try again when the server has started; its log says why it did.'];

/** By codes of Node, PostgreSQL, MySQL and MariaDB, or by the message of a driver. */
const causes: ReadonlyMap<string, Cause> = new Map<string, Cause>([
  ['ECONNREFUSED', ['nothing listens there', 'Start the database server, or check host and port in DATABASE_URL.']],
  ['ENOTFOUND', ['there is no host of that name', host]],
  ['EAI_AGAIN', ['there is no answer for the name of the host', host]],
  ['ETIMEDOUT', silence],
  ['timeout expired', silence],
  ['ECONNRESET', cut],
  ['PROTOCOL_CONNECTION_LOST', cut],
  ['Connection terminated unexpectedly', cut],
  ['28P01', [undefined, account]],
  ['28000', [undefined, account]],
  ['3D000', [undefined, name]],
  ['42501', [undefined, grantAdvice]],
  ['ER_ACCESS_DENIED_ERROR', [undefined, account]],
  ['ER_BAD_DB_ERROR', [undefined, name]],
  ['ER_DBACCESS_DENIED_ERROR', [undefined, grantAdvice]],
]);
