import { expect, test } from 'vitest';
import { ConnectionError, ServerError, toDatabaseError } from '../../../database/errors.ts';
import { toMysqlError } from './errors.ts';

function told(errno: number, message: string): readonly unknown[] {
  const error = toMysqlError(Object.assign(new Error(message), { errno, sqlState: '23000' }));
  if (!(error instanceof ServerError)) return [error];
  const { table, column, constraint } = error.about;
  return [error.sqlstate, table ?? null, column ?? null, constraint ?? null];
}

test('errors of files by the number that MySQL has for them tell of a full disk', () => {
  const message = "Error writing file '/tmp/MLab12' (OS errno 28 - No space left on device)";
  const error = toMysqlError(Object.assign(new Error(message), { errno: 3, sqlState: 'HY000' }));
  expect(error).toMatchObject({ sqlstate: '53100' });
});

test.each([
  [1062, "Duplicate entry 'Ann' for key 'authors_name'", ['23505', null, null, 'authors_name']],
  [1062, "Duplicate entry 'Ann' for key 'authors.authors_name'", ['23505', 'authors', null, 'authors_name']],
  [1452, 'fails ("shop"."books", CONSTRAINT "books_ibfk_1" FOREIGN KEY', ['23503', 'books', null, 'books_ibfk_1']],
  [1451, 'fails (`shop`.`books`, CONSTRAINT `of``author` FOREIGN KEY', ['23503', 'books', null, 'of`author']],
  [4025, 'CONSTRAINT `positive` failed for `shop`.`books`', ['23514', null, null, 'positive']],
  [4025, 'CONSTRAINT `books.pages` failed for `shop`.`books`', ['23514', 'books', null, 'pages']],
  [3819, "Check constraint 'positive' is violated.", ['23514', null, null, 'positive']],
  [1048, "Column 'title' cannot be null", ['23502', null, 'title', null]],
  [1467, 'Failed to read auto-increment value from storage engine', ['2200H', null, null, null]],
  [1264, "Out of range value for column 'pages' at row 1", ['22003', null, 'pages', null]],
  [1406, "Data too long for column 'cover' at row 2", ['22001', null, 'cover', null]],
  [1366, "Incorrect string value: '\\xE6' for column 'title' at row 1", ['22P05', null, 'title', null]],
  [1366, "Incorrect integer value: 'x' for column 'pages' at row 1", ['22P02', null, 'pages', null]],
  [1292, "Incorrect inet6 value: 'z' for column `shop`.`books`.`ip` at row 1", ['22007', null, 'ip', null]],
  [1292, "Incorrect datetime value: '2099-01-01' for column 'due' at row 1", ['22008', null, 'due', null]],
  [1364, "Field 'title' doesn't have a default value", ['23502', null, 'title', null]],
  [1205, 'Lock wait timeout exceeded; try restarting transaction', ['40001', null, null, null]],
  [1139, 'Got error ‘missing )’ from regexp', ['2201B', null, null, null]],
  [1526, 'Table has no partition for value 7', ['23514', null, null, null]],
  [3101, 'Plugin instructed the server to rollback the current transaction.', ['40001', null, null, null]],
  [9007, 'Write conflict, txnStartTS=1, conflictStartTS=2', ['40001', null, null, null]],
  [8022, 'Error: KV error safe to retry', ['40001', null, null, null]],
  [8028, 'Information schema is changed during the execution of the statement', ['40001', null, null, null]],
  [3032, 'The server is currently in offline mode', ['57P01', null, null, null]],
  [6400, 'The server is currently in offline mode since today, reason: (GR)', ['57P01', null, null, null]],
  [
    1026,
    'Error writing file \'./shop/books.MAD\' (Errcode: 28 "No space left on device")',
    ['53100', null, null, null],
  ],
  [1030, "Got error 28 - 'No space left on device' from storage engine", ['53100', null, null, null]],
  [1030, 'Got error 168 from storage engine', ['58030', null, null, null]],
  [3098, 'The table does not comply with the requirements by an external plugin.', ['55000', null, null, null]],
])('%i %s', (errno, message, expected) => expect(told(errno, message)).toEqual(expected));

test.each([
  [30_001, '45000', 'P0001', 'SERVICE_UNAVAILABLE'],
  [30_001, '08S01', '08006', 'SERVICE_UNAVAILABLE'],
  [1267, 'HY000', 'HY000', 'INTERNAL_SERVER_ERROR'],
  [1064, '42000', 'HY000', 'INTERNAL_SERVER_ERROR'],
  [1136, '21S01', 'HY000', 'INTERNAL_SERVER_ERROR'],
])('%i with %s, whose number is not known, is %s', (errno, sqlState, sqlstate, code) => {
  const error = toMysqlError(Object.assign(new Error('told'), { errno, sqlState }));
  expect(error).toMatchObject({ sqlstate, message: `told (${errno})` });
  expect(toDatabaseError(error)).toMatchObject({ code, cause: error });
});

test('what ends a connection is no error of the server', () => {
  const closed = Object.assign(new Error("Can't add new command when connection is in closed state"), { fatal: true });
  expect(toMysqlError(closed)).toBeInstanceOf(ConnectionError);
  expect(toMysqlError(new TypeError('ours'))).toBeInstanceOf(TypeError);
});
