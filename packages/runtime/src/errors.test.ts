import { expect, test } from 'vitest';
import { errorBody, isErrorCode, PlatformError, toPlatformError } from './errors.ts';

test('an error prints its message and code, then its extensions', () => {
  const error = new PlatformError('FAILED_VALIDATION', 'Too long.', { collection: 'articles', field: 'title' });
  expect(errorBody([error])).toBe(
    '{"errors":[{"message":"Too long.","extensions":{"code":"FAILED_VALIDATION","collection":"articles","field":"title"}}]}',
  );
});

test('codes with one fixed text drop every other text', () => {
  for (const code of ['FORBIDDEN', 'INVALID_TOKEN', 'INVALID_CREDENTIALS', 'INTERNAL_SERVER_ERROR'] as const) {
    expect(errorBody([new PlatformError(code, 'column secret')])).toBe(errorBody([new PlatformError(code)]));
  }
});

test('an unavailable service says when to come back, also beside other headers', () => {
  const error = new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { headers: { 'x-more': '1' } });
  expect(error.headers).toEqual({ 'retry-after': '1', 'x-more': '1' });
});

test('whatever is thrown becomes an error of the table, its cause kept and never printed', () => {
  const thrown = new Error('password is hunter2');
  const error = toPlatformError(thrown);
  expect([error.code, error.status, error.cause]).toEqual(['INTERNAL_SERVER_ERROR', 500, thrown]);
  expect(errorBody([error])).not.toContain('hunter2');
  expect(toPlatformError(error)).toBe(error);
});

test('names of objects are no codes', () => {
  expect(['constructor', '__proto__', 'toString'].some(isErrorCode)).toBe(false);
});
