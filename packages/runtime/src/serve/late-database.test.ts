import { expect, test, vi } from 'vitest';
import { ConnectionError, ServerError } from '../database/errors.ts';
import { PlatformError } from '../errors.ts';
import { createLateDatabase, isOutOfReach } from './late-database.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });
const wrongPassword = Object.assign(new Error('password authentication failed'), { code: '28P01' });
const silent = { info: () => undefined, warn: () => undefined };

/** As the drivers report it: wrapped twice. */
function wrapped(cause: Error): PlatformError {
  return new PlatformError(
    'SERVICE_UNAVAILABLE',
    undefined,
    {},
    { cause: new ConnectionError('Cannot connect.', { cause }) },
  );
}

test('what passes is told from what does not', () => {
  expect(isOutOfReach(wrapped(refused))).toBe(true);
  expect(isOutOfReach(new AggregateError([refused]))).toBe(true);
  for (const code of ['57P03', '53300', '08006', 'ETIMEDOUT', 'EAI_AGAIN', 'PROTOCOL_CONNECTION_LOST']) {
    expect(isOutOfReach(wrapped(Object.assign(new Error(), { code })))).toBe(true);
  }
  expect(isOutOfReach(wrapped(new ServerError(new Map([['C', '53300']]))))).toBe(true);
  // The socket of a server that starts later, and a file that an address names.
  const missing = (syscall: string) => wrapped(Object.assign(new Error(), { code: 'ENOENT', syscall }));
  expect([isOutOfReach(missing('connect')), isOutOfReach(missing('open'))]).toEqual([true, false]);
  for (const thrown of [wrapped(wrongPassword), new Error('x'), 'text', null]) expect(isOutOfReach(thrown)).toBe(false);
});

test('a start that waiting cannot cure is refused with the reason', async () => {
  const error = wrapped(wrongPassword);
  await expect(createLateDatabase(() => Promise.reject(error)).start(silent)).rejects.toBe(error);
});

test('out of reach, it starts, answers that it is unavailable, keeps trying, and ends when closed', async () => {
  vi.useFakeTimers();
  try {
    const open = vi.fn(() => Promise.reject(wrapped(refused)));
    const late = createLateDatabase(open);
    await late.start(silent);
    await expect(late.database.query('SELECT 1', [])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await vi.advanceTimersByTimeAsync(60_000);
    const attempts = open.mock.calls.length;
    expect(attempts).toBeGreaterThan(6);
    expect(attempts).toBeLessThan(25);
    await late.database.close(0);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(open.mock.calls.length).toBe(attempts);
  } finally {
    vi.useRealTimers();
  }
});
