/** Errors of MySQL and MariaDB under the codes that PostgreSQL has for them, so that one table answers them all. */
import { ConnectionError, ServerError } from '../errors.ts';

/** By error number. Source: the servers' manuals, "Error Codes"; reliability notes, section 4. */
const sqlstates: ReadonlyMap<number, string> = new Map([
  // The statement took too long, or waited too long for a lock; a conflict with others.
  [1969, '57014'],
  [3024, '57014'],
  [1205, '55P03'],
  [1213, '40P01'],
  // Too many connections; the server stops.
  [1040, '53300'],
  [1203, '53300'],
  [1053, '57P01'],
  // The database is no longer the one that was compiled for, or grants were taken away.
  [1054, '42703'],
  [1049, '42P01'],
  [1146, '42P01'],
  [1044, '42501'],
  [1142, '42501'],
  [1143, '42501'],
  // Values that are none of the type.
  [1264, '22003'],
  [1690, '22003'],
  [1292, '22007'],
]);

/** Whatever the driver rejects with, as an error of the server or of the connection; others stay as they are. */
export function toMysqlError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServerError || error instanceof ConnectionError) return error;
  const errno = 'errno' in error ? error.errno : undefined;
  const code = 'code' in error ? error.code : undefined;
  const sqlState = 'sqlState' in error ? error.sqlState : undefined;
  if (typeof errno === 'number' && typeof sqlState === 'string') {
    const known = sqlstates.get(errno) ?? (sqlState.startsWith('42') ? '42000' : 'XX000');
    const fields = Object.entries({ M: error.message, C: known, ...(errno === 1053 && { S: 'FATAL' }) });
    return new ServerError(new Map(fields));
  }
  return typeof code === 'string' ? new ConnectionError(`The connection was lost (${code}).`, { cause: error }) : error;
}
