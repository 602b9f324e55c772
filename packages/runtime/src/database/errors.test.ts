import { describe, expect, test } from 'vitest';
import { PlatformError } from '../errors.ts';
import {
  ConnectionError,
  isNotPrimary,
  isRetryable,
  isStalePreparation,
  ServerError,
  toBeginError,
  toDatabaseError,
} from './errors.ts';

function serverError(sqlstate: string): ServerError {
  const secret = 'relation "secret_table" violates constraint "secret_key"';
  return new ServerError(
    new Map([
      ['C', sqlstate],
      ['M', secret],
      ['V', 'ERROR'],
    ]),
  );
}

test.each([
  ['08006', 'SERVICE_UNAVAILABLE'],
  ['0A000', 'SERVICE_UNAVAILABLE'],
  ['22P02', 'INVALID_QUERY'],
  ['22003', 'INVALID_QUERY'],
  ['22012', 'SERVICE_UNAVAILABLE'],
  ['23505', 'FAILED_VALIDATION'],
  ['25006', 'SERVICE_UNAVAILABLE'],
  ['40001', 'SERVICE_UNAVAILABLE'],
  ['42501', 'SERVICE_UNAVAILABLE'],
  ['42601', 'INTERNAL_SERVER_ERROR'],
  ['42703', 'SERVICE_UNAVAILABLE'],
  ['42P01', 'SERVICE_UNAVAILABLE'],
  ['53100', 'SERVICE_UNAVAILABLE'],
  ['53300', 'SERVICE_UNAVAILABLE'],
  ['55P03', 'SERVICE_UNAVAILABLE'],
  ['57014', 'SERVICE_UNAVAILABLE'],
  ['57P01', 'SERVICE_UNAVAILABLE'],
  ['P0001', 'SERVICE_UNAVAILABLE'],
  ['XX000', 'SERVICE_UNAVAILABLE'],
  ['ZZ999', 'SERVICE_UNAVAILABLE'],
])('%s is %s and says nothing of the database', (sqlstate, code) => {
  const cause = serverError(sqlstate);
  const error = toDatabaseError(cause);
  expect(error.code).toBe(code);
  expect(error.cause).toBe(cause);
  expect(error.message + JSON.stringify(error.extensions)).not.toContain('secret');
});

test.each([
  ['23505', 'unique'],
  ['23503', 'foreign_key'],
  ['23502', 'required'],
  ['23514', 'check'],
  ['23P01', 'check'],
])('%s fails validation as %s', (sqlstate, type) => {
  expect(toDatabaseError(serverError(sqlstate)).extensions).toEqual({ type });
});

describe('errors that are not of the server', () => {
  test('stay when they are ours', () => {
    const error = new PlatformError('FORBIDDEN');
    expect(toDatabaseError(error)).toBe(error);
  });
  test('of the connection make the service unavailable', () => {
    const error = toDatabaseError(new ConnectionError('lost'));
    expect([error.code, error.headers['retry-after']]).toEqual(['SERVICE_UNAVAILABLE', '1']);
  });
  test('of our own code are bugs', () => {
    expect(toDatabaseError(new TypeError('oops')).code).toBe('INTERNAL_SERVER_ERROR');
  });
});

test('what is tried again', () => {
  const retried = ['08006', '57P01', '57P02', '57P03', '40001', '40P01'];
  expect(retried.every((code) => isRetryable(serverError(code)))).toBe(true);
  expect(isRetryable(new ConnectionError('lost'))).toBe(true);
  expect(['57014', '42P01', '22P02'].some((code) => isRetryable(serverError(code)))).toBe(false);
  expect(['0A000', '26000', '42P05'].every((code) => isStalePreparation(serverError(code)))).toBe(true);
  expect(isStalePreparation(new Error('0A000'))).toBe(false);
  // A function of the database may raise it as well.
  const raised = (routine: string) =>
    new ServerError(
      new Map([
        ['C', '0A000'],
        ['R', routine],
      ]),
    );
  expect(['RevalidateCachedQuery', 'exec_stmt_raise'].map((routine) => isStalePreparation(raised(routine)))).toEqual([
    true,
    false,
  ]);
  expect(toDatabaseError(raised('numeric_int8_opt_error')).code).toBe('INVALID_QUERY');
  expect(isNotPrimary(toBeginError(serverError('0A000')))).toBe(true);
  expect(isStalePreparation(toBeginError(serverError('0A000')))).toBe(false);
  expect(isNotPrimary(toBeginError(serverError('57P03')))).toBe(false);
});

test('an error without fields is still an error', () => {
  const error = new ServerError(new Map());
  expect([error.sqlstate, error.fatal]).toEqual(['XX000', false]);
});
