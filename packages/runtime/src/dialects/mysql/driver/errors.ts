/** Errors of MySQL and MariaDB under the codes that PostgreSQL has for them, so that one table answers them all. */
import { ConnectionError, ServerError } from '../../../database/errors.ts';

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
  { pattern: /^(?:Out of range value|Data too long|Data truncated) for column '(.+)' at row /s, fields: 'c' },
  // MariaDB puts the table in front, which may be a temporary one of its own.
  { pattern: /^Incorrect .+ for column [`"].+[`"]\.[`"](.+)[`"] at row /s, fields: 'c' },
  { pattern: /^Incorrect .+ for column '(.+)' at row /s, fields: 'c' },
  { pattern: /^(?:Column|Field) '(.+)' (?:cannot be null|doesn't have a default value)/, fields: 'c' },
];

/** Converts a rejection of the driver to an error of the server or of the connection; others stay as they are. */
export function toMysqlError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServerError || error instanceof ConnectionError) return error;
  const errno = 'errno' in error ? error.errno : undefined;
  const code = 'code' in error ? error.code : undefined;
  const sqlState = 'sqlState' in error ? error.sqlState : undefined;
  if (typeof errno === 'number' && typeof sqlState === 'string') {
    const state = stateOf(errno, sqlState, error.message);
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

/**
 * Error numbers of MySQL and MariaDB by the codes that PostgreSQL has for them, so that one table answers them all.
 *
 * Source: the servers' manuals, "Error Codes"; reliability notes, section 4. Numbers from 1900 to 1999 are MariaDB's,
 * those from 3000 on MySQL's unless a comment says otherwise. Neither sends a number with the other's meaning.
 */
const numbers: Readonly<Record<string, readonly number[]>> = {
  // Networks; the server is shutting down, refuses users after it has left its group, or has ended the session.
  '08006': [1158, 1159, 1160, 1161],
  '57P01': [1053, 1152, 1184, 1927, 3032, 3169, 4031, 6400, 6401],
  // The statement took too long, or was ended.
  '57014': [1317, 1969, 3024],
  // It met with others: changed rows, changed definitions, locks that wait for each other, a group that has decided otherwise.
  // Those from 8000 on are TiDB's.
  '40001': [1020, 1205, 1412, 1615, 3101, 8022, 8028, 9007],
  '40P01': [1213, 1614, 3058],
  '55P03': [3572],
  '26000': [1243],
  // A node of a cluster that joins it, or has lost the others.
  '57P03': [1047],
  // Not the primary, or a disk that is only read.
  '25006': [1036, 1290, 1792, 1836, 1874, 3989],
  // Connections, memory, disk, and other limited resources of a server.
  '53300': [1040, 1129, 1135, 1203, 1226],
  '53200': [1037, 1038, 1041, 1206],
  '53100': [1021, 1114, 3675],
  '53400': [1104, 1461, 3170],
  // A table without a primary key, which a group does not write.
  '55000': [3098],
  // Failures of disks and files, also during commit; damaged files.
  '58030': [1015, 1016, 1023, 1024, 1026, 1030, 1180, 1181, 3100],
  XX001: [1034, 1035, 1194, 1195, 1712, 1877],
  // Sign-in and permissions of the API's database user.
  '28000': [1045, 1130, 1698, 1862],
  '42501': [1044, 1142, 1143, 1227, 1370, 1449],
  // The database is no longer the one that was compiled for; views and triggers that depend on dropped objects.
  '42703': [1054],
  '42P01': [1049, 1109, 1146, 1356, 1932],
  '42883': [1305],
  // Functions and triggers of the database's owner that fail by themselves, and errors that they raise.
  '38000': [1172, 1329, 1422, 1442, 1456],
  P0001: [1644],
  // More than fits: into a column, a row, a packet, a document.
  '22001': [1406, 3150],
  '54000': [1118, 1153, 1301],
  '22003': [1264, 1690, 1916, 3752, 3904],
  '22008': [1441],
  // Keys that a table counts have come to their end.
  '2200H': [1467],
  '22012': [1365],
  // Values that are none of the type, and characters that another set does not have.
  '22007': [1292, 1299, 1411, 1525, 1918],
  '22P02': [1265, 1366, 1367, 1416, 1917, 3037, 3140, 3141, 3143, 3146, 3156, 3157, 3751, 3903],
  '22021': [1300],
  '22P05': [1977, 3854],
  '2201B': [1139, ...Array.from({ length: 17 }, (_, index) => 3684 + index), 3887],
  // Constraints; a row for which a table has no partition breaks one as well.
  '23505': [1022, 1062, 1169, 1586, 1761, 1762],
  '23503': [1216, 1217, 1451, 1452, 3008],
  '23502': [1048, 1263, 1364, 1423],
  // 4025 is MariaDB's.
  '23514': [1526, 1748, 1863, 3819, 4025],
  '44000': [1369],
};

const sqlstates: ReadonlyMap<number, string> = new Map(
  Object.entries(numbers).flatMap(([sqlstate, list]) => list.map((number) => [number, sqlstate] as const)),
);

/** Classes that mean on these servers the same as on PostgreSQL; `45` is raised by triggers. */
const classes: ReadonlyMap<string, string> = new Map([
  ['08', '08006'],
  ['22', '22000'],
  ['23', '23000'],
  ['28', '28000'],
  ['40', '40001'],
  ['45', 'P0001'],
  ['70', '57014'],
]);

/** PostgreSQL's code for an error: by its number, else by the class of its code; any other is `HY000`, a fault. */
function sqlstateOf(number: number, sent: string): string {
  if (isRaisedForCaller(sent)) return sent;
  return sqlstates.get(number) ?? classes.get(sent.slice(0, 2)) ?? 'HY000';
}

/** The same, where the message tells more than the number. */
function stateOf(number: number, sent: string, message: string): string {
  if (isBeyondDates(number, message)) return '22008';
  if (number === 1366 && message.startsWith('Incorrect string value: ')) return '22P05';
  const state = sqlstateOf(number, sent);
  return ['58030', 'HY000'].includes(state) && noRoom.test(message) ? '53100' : state;
}

/** Error of the operating system for a full disk (ENOSPC), which many errors about files carry. */
const noRoom = /\b(?:error|errno|errcode):? 28\b/i;

/** True if a column does not reach the date, such as `timestamp` after January 2038: what is no date is not sent. */
function isBeyondDates(number: number, message: string): boolean {
  return number === 1292 && /^Incorrect (?:date|datetime|time|timestamp) value: /.test(message);
}

/** True if a function raised the error on purpose, with a message for its caller. */
function isRaisedForCaller(sqlstate: string): boolean {
  return /^TW\d{3}$/.test(sqlstate);
}
