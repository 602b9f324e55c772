import { MigrationError, type MigrationProblem } from '../../../system/ledger.ts';

interface Advice {
  readonly problem: MigrationProblem;
  readonly text: string;
  readonly hint: string;
}

const forbidden: Advice = {
  problem: 'forbidden',
  text: 'The database user may not',
  hint: 'Run it as a user with CREATE, DROP, ALTER, INDEX, REFERENCES, SELECT, INSERT, UPDATE and DELETE on the database.',
};

const readOnly: Advice = {
  problem: 'readOnly',
  text: 'The database cannot',
  hint: 'Connect to the primary server, as a user whose transactions may write.',
};

const locked: Advice = {
  problem: 'locked',
  text: 'The database did not come in time to',
  hint: 'Another process migrates, or a long transaction uses the tables. Try again when it has ended.',
};

/** Number of the error of a table that the user may not read, or that is not there. */
export const noAccess = 1142;

/** By error number. Source: the servers' manuals, "Error Codes". */
const advice: ReadonlyMap<unknown, Advice> = new Map([
  [1044, forbidden],
  [noAccess, forbidden],
  [1143, forbidden],
  [1227, forbidden],
  [1290, readOnly],
  [1792, readOnly],
  [1836, readOnly],
  [1205, locked],
]);

/** Converts errors of MySQL or MariaDB to advice; others stay as they are. `doing` ends a sentence: "apply …". */
export function toMysqlMigrationError(error: unknown, doing: string): unknown {
  if (!(error instanceof Error) || error instanceof MigrationError || !('errno' in error)) return error;
  const found = advice.get(error.errno);
  if (found === undefined) return error;
  const message = `${found.text} ${doing}: ${error.message.replace(/\.$/, '')}.`;
  return new MigrationError(found.problem, message, found.hint, error);
}

/** The number of an error of the server, wherever it stands among the causes; undefined for every other error. */
export function errorNumber(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined;
  if ('errno' in error && typeof error.errno === 'number' && 'sqlState' in error) return error.errno;
  return errorNumber(error.cause);
}

/** MariaDB says of a foreign key that its table cannot be made: 121, its name is taken; 150, its columns do not fit. */
export function isKeyRefused(error: unknown, number: 121 | 150): boolean {
  return error instanceof Error && errorNumber(error) === 1005 && error.message.includes(`errno: ${number}`);
}
