/** Errors of MySQL and MariaDB under the codes that PostgreSQL has for them, so that one table answers them all. */
import { ConnectionError, ServerError } from '../errors.ts';

/** By error number. Source: the servers' manuals, "Error Codes"; reliability notes, section 4. */
const sqlstates: ReadonlyMap<number, string> = new Map([
  // The statement took too long or was ended; it waited too long for a lock, or met with others.
  [1969, '57014'],
  [3024, '57014'],
  [1317, '57014'],
  [1205, '40001'],
  [1213, '40P01'],
  [1020, '40001'],
  // Too many connections; the server stops; more than it takes at once.
  [1040, '53300'],
  [1203, '53300'],
  [1053, '57P01'],
  [1927, '57P01'],
  [4031, '57P01'],
  [1153, '54000'],
  // The database is no longer the one that was compiled for, or grants were taken away.
  [1054, '42703'],
  [1049, '42P01'],
  [1146, '42P01'],
  [1044, '42501'],
  [1142, '42501'],
  [1143, '42501'],
  // Values that are none of the type, or more than a column holds.
  [1264, '22003'],
  [1690, '22003'],
  [1406, '22001'],
  [1292, '22007'],
  [1411, '22007'],
  [1366, '22P02'],
  [1265, '22P02'],
  [3140, '22P02'],
  // Constraints.
  [1022, '23505'],
  [1062, '23505'],
  [1169, '23505'],
  [1586, '23505'],
  [1761, '23505'],
  [1762, '23505'],
  [1216, '23503'],
  [1217, '23503'],
  [1451, '23503'],
  [1452, '23503'],
  [1048, '23502'],
  [1364, '23502'],
  [3819, '23514'],
  [4025, '23514'],
  [1369, '44000'],
  // What a trigger raises.
  [1644, 'P0001'],
]);

// In backticks, or where sessions have ANSI_QUOTES in double quotes.
const name = '[`"]((?:[^`"]|``|"")+)[`"]';
/** How the servers tell what an error is about: the names in a message, by the fields that PostgreSQL has for them. */
const places: readonly { readonly pattern: RegExp; readonly fields: string }[] = [
  { pattern: new RegExp(`\\(${name}\\.${name}, CONSTRAINT ${name}`), fields: 'stn' },
  { pattern: new RegExp(`^CONSTRAINT ${name} failed for ${name}\\.${name}`), fields: 'nst' },
  { pattern: /^Check constraint '(.+)' is violated/, fields: 'n' },
  // MySQL puts the table in front of its key.
  { pattern: / for key '([^.]+)\.(.+)'$/s, fields: 'tn' },
  { pattern: / for key '(.+)'$/s, fields: 'n' },
  { pattern: /^(?:Column|Field) '(.+)' (?:cannot be null|doesn't have a default value)/, fields: 'c' },
];

/** Whatever the driver rejects with, as an error of the server or of the connection; others stay as they are. */
export function toMysqlError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServerError || error instanceof ConnectionError) return error;
  const errno = 'errno' in error ? error.errno : undefined;
  const code = 'code' in error ? error.code : undefined;
  const sqlState = 'sqlState' in error ? error.sqlState : undefined;
  if (typeof errno === 'number' && typeof sqlState === 'string') {
    const known = sqlstates.get(errno) ?? (sqlState.startsWith('42') ? '42000' : 'XX000');
    const fields = Object.entries({ M: error.message, C: known, ...(known === '57P01' && { S: 'FATAL' }) });
    return new ServerError(new Map([...fields, ...aboutOf(error.message)]));
  }
  const isLost = typeof code === 'string' || ('fatal' in error && error.fatal === true);
  if (!isLost) return error;
  return new ConnectionError(`The connection was lost (${code ?? error.message}).`, { cause: error });
}

function aboutOf(message: string): readonly (readonly [string, string])[] {
  for (const { pattern, fields } of places) {
    const found = pattern.exec(message);
    if (found !== null)
      return [...fields].map((field, index) => [
        field,
        (found[index + 1] ?? '').replaceAll('``', '`').replaceAll('""', '"'),
      ]);
  }
  return [];
}
