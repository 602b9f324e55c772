/** Attempts to get in are counted in the database, so every process sees them, and nobody locks an owner out. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Attempts, createAttempts, createCounters } from '../../packages/runtime/src/auth/attempts.ts';
import { createAccountSettings } from '../../packages/runtime/src/auth/settings.ts';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { openDatabase } from '../../packages/runtime/src/dialects/open.ts';
import type { SystemPlace } from '../../packages/runtime/src/system/place.ts';
import { type ContractDatabase, createSystemDatabase, placeOfTests } from '../support/contract-database.ts';

const limits = {
  enabled: true,
  duration: 60_000,
  accountPoints: 3,
  addressPoints: 6,
  mailPoints: 2,
  otpPoints: 5,
};

let database: ContractDatabase;
let connection: Database;
let place: SystemPlace;
beforeAll(async () => {
  database = await createSystemDatabase('SELECT 1');
  place = placeOfTests();
  connection = await openDatabase(database);
});
afterAll(async () => {
  await connection?.close(0);
  await database?.drop();
});

const run = async (sql: string) => ({ rows: await database.rows(sql) });
const table = 'platform.platform_auth_attempts';
beforeEach(async () => {
  for (const name of [table, 'platform.platform_settings']) await run(`DELETE FROM ${name}`);
});

/** As a process that has just started. */
function process(changes: Partial<typeof limits> = {}): Attempts {
  const settings = createAccountSettings(connection, place);
  return createAttempts({ ...limits, ...changes }, createCounters(connection, place), settings);
}

async function outcome(attempt: Promise<unknown>): Promise<'heard' | 'refused'> {
  try {
    await attempt;
    return 'heard';
  } catch (error) {
    expect(error).toMatchObject({ code: 'REQUESTS_EXCEEDED', extensions: { limit: expect.any(Number) } });
    return 'refused';
  }
}

async function fail(attempts: Attempts, email: string, client: string, times = 1): Promise<'heard' | 'refused'> {
  for (let time = 0; time < times; time++) {
    const attempt = attempts.login(email, client);
    if ((await outcome(attempt.begin())) === 'refused') return 'refused';
    await attempt.failed();
  }
  return 'heard';
}

describe('failed sign-ins', () => {
  it('are refused per account, across processes and spellings, while its owner is heard from elsewhere', async () => {
    expect(await fail(process(), 'Ada@example.com', 'attacker', 2)).toBe('heard');
    expect(await fail(process(), 'ａda@EXAMPLE.com', 'attacker')).toBe('heard');
    expect(await fail(process(), 'ada@example.com', 'attacker')).toBe('refused');
    const owner = process().login('ada@example.com', 'owner');
    await owner.begin();
    await owner.succeeded();
    expect(await fail(process(), 'ada@example.com', 'other', 1)).toBe('heard');
    expect(await fail(process(), 'ada@example.com', 'other', 1)).toBe('refused');
    expect(await fail(process(), 'bob@example.com', 'attacker')).toBe('heard');
  });

  it('are refused per client, whatever accounts it names', async () => {
    const attempts = process();
    for (let number = 0; number < 6; number++)
      expect(await fail(attempts, `${number}@example.com`, 'one')).toBe('heard');
    expect(await fail(attempts, 'new@example.com', 'one')).toBe('refused');
    expect(await fail(attempts, 'new@example.com', 'two')).toBe('heard');
  });

  it('that ran at once do not hide one that was right', async () => {
    const burst = Array.from({ length: 20 }, () => process().login('ada@example.com', 'attacker'));
    await Promise.all(burst.map((attempt) => attempt.begin()));
    await Promise.all(burst.slice(1).map((attempt) => attempt.failed()));
    expect(await outcome(burst[0]?.succeeded() ?? Promise.resolve())).toBe('refused');
  });

  it('say when to come again, and are forgotten then', async () => {
    await fail(process(), 'ada@example.com', 'attacker', 3);
    const refused: unknown = await process()
      .login('ada@example.com', 'attacker')
      .begin()
      .catch((error) => error);
    expect(refused).toMatchObject({
      headers: { 'retry-after': expect.stringMatching(/^(59|60)$/) },
      extensions: { limit: 3 },
    });
    await run(`UPDATE ${table} SET expires_at = now()`);
    expect(await fail(process(), 'ada@example.com', 'attacker', 3)).toBe('heard');
    expect(await fail(process(), 'ada@example.com', 'attacker')).toBe('refused');
  });

  it('in a row are refused for 15 minutes by the settings, also without limits', async () => {
    await run('INSERT INTO platform.platform_settings (auth_login_attempts) VALUES (4)');
    const attempts = process({ enabled: false });
    expect(await fail(attempts, 'ada@example.com', 'one', 3)).toBe('heard');
    await attempts.login('ada@example.com', 'one').succeeded();
    expect(await fail(attempts, 'ada@example.com', 'one', 4)).toBe('heard');
    expect(await fail(attempts, 'ada@example.com', 'one')).toBe('refused');
    expect(await fail(attempts, 'ada@example.com', 'two', 3)).toBe('heard');
    const { rows } = await run(
      `SELECT max(expires_at) < now() + interval '15 minutes' AS soon FROM ${table} WHERE attempts = 4`,
    );
    expect(rows.map(({ soon }) => Boolean(soon))).toEqual([true]);
  });
});

it('wrong one-time passwords are refused, and so are guesses that run at once; right ones count nothing', async () => {
  const guesses = Array.from({ length: 20 }, () => outcome(process().otp('ada').begin()));
  expect((await Promise.all(guesses)).filter((one) => one === 'heard')).toHaveLength(5);
  for (let time = 0; time < 10; time++) {
    const attempt = process().otp('bob');
    await attempt.begin();
    await attempt.succeeded();
  }
});

it('mails are refused per address that is named, on each route', async () => {
  const attempts = process();
  expect(await outcome(attempts.mail('reset', ['ada@example.com', 'ADA@example.com', 'bob@example.com'], 'one'))).toBe(
    'heard',
  );
  expect(await outcome(attempts.mail('reset', ['ada@example.com'], 'two'))).toBe('heard');
  expect(await outcome(attempts.mail('reset', ['ADA@example.com'], 'three'))).toBe('refused');
  expect(await outcome(attempts.mail('invite', ['ada@example.com'], 'three'))).toBe('heard');
  for (let time = 0; time < 5; time++) await attempts.mail('reset', [`${time}@example.com`], 'one');
  expect(await outcome(attempts.mail('reset', ['new@example.com'], 'one'))).toBe('refused');
});

it('tokens that are tried out are refused per client, on each route', async () => {
  for (let time = 0; time < 6; time++) {
    const attempt = process().token('reset', 'one');
    await attempt.begin();
    await attempt.failed();
  }
  expect(await outcome(process().token('reset', 'one').begin())).toBe('refused');
  expect(await outcome(process().token('refresh', 'one').begin())).toBe('heard');
  expect(await outcome(process().token('reset', 'two').begin())).toBe('heard');
});

it('what is counted stands in the database as hashes, and goes when its time is over', async () => {
  await fail(process(), 'ada@example.com', '192.0.2.1');
  const { rows } = await run(`SELECT purpose, length(subject) AS length FROM ${table} ORDER BY purpose`);
  expect(rows.map(({ purpose }) => purpose)).toEqual(['login.account', 'login.client', 'login.pair', 'login.streak']);
  expect(new Set(rows.map(({ length }) => length))).toEqual(new Set([32]));
  await run(`UPDATE ${table} SET expires_at = now()`);
  await fail(process(), 'bob@example.com', '192.0.2.2');
  expect((await run(`SELECT 1 FROM ${table}`)).rows).toHaveLength(4);
});
