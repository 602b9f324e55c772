/** Errors of MySQL and MariaDB under the codes that PostgreSQL has for them, so that one table answers them all. */
import { ConnectionError, ServerError } from '../../../database/errors.ts';
import { isRaisedForCaller, sqlstateOf } from './sqlstates.ts';

// In backticks, or where sessions have ANSI_QUOTES in double quotes.
const name = '[`"]((?:[^`"]|``|"")+)[`"]';
/** Names in the messages of the servers, by PostgreSQL's fields for them. */
const places: readonly { readonly pattern: RegExp; readonly fields: string }[] = [
  { pattern: new RegExp(`\\(${name}\\.${name}, CONSTRAINT ${name}`), fields: 'stn' },
  // That of a column has the name of the column, after that of the table.
  { pattern: /^CONSTRAINT [`"](?:([^.`"]+)\.)?([^.`"]+)[`"] failed for /, fields: 'tn' },
  { pattern: /^Check constraint '(.+)' is violated/, fields: 'n' },
  // MySQL puts the table in front of its key.
  { pattern: / for key '([^.]+)\.(.+)'$/s, fields: 'tn' },
  { pattern: / for key '(.+)'$/s, fields: 'n' },
  { pattern: /^(?:Column|Field) '(.+)' (?:cannot be null|doesn't have a default value)/, fields: 'c' },
];

/** Converts a rejection of the driver to an error of the server or of the connection; others stay as they are. */
export function toMysqlError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServerError || error instanceof ConnectionError) return error;
  const errno = 'errno' in error ? error.errno : undefined;
  const code = 'code' in error ? error.code : undefined;
  const sqlState = 'sqlState' in error ? error.sqlState : undefined;
  if (typeof errno === 'number' && typeof sqlState === 'string') {
    const state = sqlstateOf(errno, sqlState);
    const message = isRaisedForCaller(state) ? error.message : `${error.message} (${errno})`;
    const fields = Object.entries({ M: message, C: state, ...(/^57P0[13]$/.test(state) && { S: 'FATAL' }) });
    return new ServerError(new Map([...fields, ...aboutOf(error.message)]));
  }
  const isLost = typeof code === 'string' || ('fatal' in error && error.fatal === true);
  if (!isLost) return error;
  return new ConnectionError(`The connection was lost (${code ?? error.message}).`, { cause: error });
}

function aboutOf(message: string): readonly (readonly [string, string])[] {
  for (const { pattern, fields } of places) {
    const found = pattern.exec(message);
    if (found !== null) return [...fields].flatMap((field, index) => namedOf(field, found[index + 1]));
  }
  return [];
}

function namedOf(field: string, quoted: string | undefined): readonly (readonly [string, string])[] {
  return quoted === undefined ? [] : [[field, quoted.replaceAll('``', '`').replaceAll('""', '"')]];
}
