/**
 * Guessing passwords, one-time passwords and tokens, and asking who there is, from many addresses. Security cases C02, C17 to
 * C22, C31.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import { usualPasswords } from '../support/bundled.ts';
import { otpOf } from '../support/otp.ts';
import { type Answer, adminToken } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { type AnswerTimes, alikeTimesOf, answerTimesOf } from '../support/timing.ts';

let project: AccountsProject;
let member: string;
beforeAll(async () => {
  project = await serveAccounts({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
    permissions:
      'roles: { member: {} }\npermissions: { public: { docs: { read: true } }, member: { docs: { read: true } } }',
    environment: {
      ...usualPasswords,
      IP_TRUST_PROXY: '127.0.0.1,10.0.0.0/8',
      LOGIN_STALL_TIME: '0',
      RATE_LIMITER_AUTH_ACCOUNT_POINTS: '4',
      RATE_LIMITER_AUTH_ADDRESS_POINTS: '8',
      RATE_LIMITER_AUTH_MAIL_POINTS: '100000',
      RATE_LIMITER_AUTH_DURATION: '10m',
    },
    processes: 2,
  });
  member = await project.addRole('member');
});
afterAll(() => project?.close());

const json = { 'content-type': 'application/json' };

let next = 0;
/** An address nobody has come from yet. */
function address(): string {
  next += 1;
  return `192.0.2.${next}`;
}

const post = (path: string, body: unknown, from: string, token?: string): Promise<Answer> =>
  project.post(path, body, { headers: { 'x-forwarded-for': from }, ...(token !== undefined && { token }) });
const logIn = (email: string, password: string, from: string, otp?: string): Promise<Answer> =>
  post('/auth/login', { email, password, ...(otp !== undefined && { otp }) }, from);

const statuses = async (count: number, ask: (number: number) => Promise<Answer>): Promise<readonly number[]> => {
  const all: number[] = [];
  for (let number = 0; number < count; number++) all.push((await ask(number)).status);
  return all;
};

describe('guessing a password', () => {
  it('ends soon for each account, known or not, and never shuts its owner out', async () => {
    const user = await project.addUser(member);
    for (const email of [user.email, `${randomUUID()}@example.com`]) {
      const [attacker, owner] = [address(), address()];
      expect(await statuses(6, () => logIn(email, 'wrong', attacker))).toEqual([401, 401, 401, 401, 429, 429]);
      const refused = await logIn(email, user.password, attacker);
      expect(failure(refused)).toBe('429 REQUESTS_EXCEEDED');
      expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(refused.json.errors[0].extensions).toMatchObject({ limit: 4, reset: expect.any(String) });
      expect((await logIn(email, user.password, owner)).status).toBe(email === user.email ? 200 : 401);
    }
  });

  it('ends soon for each client, also when it says that it is somebody else', async () => {
    const attacker = address();
    const forged = (number: number): string => `198.51.100.${number}, ${attacker}, 10.0.0.${number}`;
    const guess = (number: number) => logIn(`${number}-${attacker}@example.com`, 'wrong', forged(number));
    expect(await statuses(10, guess)).toEqual([401, 401, 401, 401, 401, 401, 401, 401, 429, 429]);
    const network = (number: number) => logIn(`${number}@v6.example.com`, 'wrong', `2001:db8:${next}:1::${number}`);
    expect((await statuses(9, network)).at(-1)).toBe(429);
  });

  it('in a burst finds nothing, even if the right one is among it', async () => {
    const { email, password } = await project.addUser(member);
    const attacker = address();
    const wrong = await Promise.all(Array.from({ length: 8 }, () => logIn(email, 'wrong', attacker)));
    expect(new Set(wrong.map(({ status }) => status))).not.toContain(200);
    const mixed = await Promise.all([logIn(email, 'wrong', attacker), logIn(email, password, attacker)]);
    expect(mixed.map(({ status }) => status)).toEqual([429, 429]);
  });
});

describe('a client that takes all it can get', () => {
  it('leaves others their turns to sign in', { timeout: 60_000 }, async () => {
    const [user, other] = [await project.addUser(member), await project.addUser(member)];
    const from = address();
    const failures = new Set<string>();
    let isOver = false;
    const flood = Array.from({ length: 80 }, async () => {
      while (!isOver) failures.add(failure(await logIn(user.email, user.password, from)));
    });
    try {
      await expect.poll(() => failures, { timeout: 20_000 }).toContain('503 SERVICE_UNAVAILABLE');
      for (let count = 0; count < 5; count++)
        expect((await logIn(other.email, other.password, address())).status).toBe(200);
    } finally {
      isOver = true;
      await Promise.all(flood);
    }
  });

  it('answers others while a careless policy backtracks without end', {
    timeout: 60_000,
  }, async () => {
    const user = await project.addUser(member);
    const token = 'token-of-a-member-0000';
    const change = (path: string, body: object, as = adminToken) =>
      project.server.ask(path, { method: 'PATCH', token: as, body });
    await change(`/users/${user.id}`, { token });
    await change('/settings', { auth_password_policy: '^(?:[a-z]+ ?)+$' });
    const set = (password: string) => change(`/users/${user.id}`, { password });
    const policyHolds = async () => failure(await set('no such thing as DIGITS'));
    await expect.poll(policyHolds, { timeout: 10_000 }).toBe('400 FAILED_VALIDATION');
    const costly = Array.from({ length: 4 }, () => set(`${'a'.repeat(40)}!`));
    let isOver = false;
    const refused = Promise.all(costly).finally(() => {
      isOver = true;
    });
    let answered = 0;
    for (; !isOver; answered++) expect((await project.server.ask('/server/ping')).status).toBe(200);
    expect((await refused).map(failure)).toEqual(costly.map(() => '400 FAILED_VALIDATION'));
    // Four passwords take four seconds.
    expect(answered).toBeGreaterThan(4);
    expect((await set('these are only words')).status).toBe(200);
    await change('/settings', { auth_password_policy: null });
    const isLifted = async () => (await set('1 word and DIGITS')).status;
    await expect.poll(isLifted, { timeout: 10_000 }).toBe(200);
  });
});

describe('a password counts by its bytes', () => {
  it.each([
    ['of 64 characters', 'x'.repeat(64), 'x'.repeat(63)],
    ['of 65 characters', 'x'.repeat(65), 'x'.repeat(64)],
    ['of 128 characters', 'y'.repeat(128), 'y'.repeat(127)],
    ['of 1,024 bytes', 'é'.repeat(512), 'é'.repeat(511)],
    ['with emoji', '🙂🙂🙂🙂🙂🙂🙂🙂', '🙂🙂🙂🙂🙂🙂🙂🙃'],
    ['with é in two code points', 'cafe\u0301 noir', 'caf\u00e9 noir'],
    ['with é in one code point', 'caf\u00e9 noir', 'cafe\u0301 noir'],
    ['with capitals', 'Long Enough', 'long enough'],
    ['with spaces around', ' long enough ', 'long enough'],
    ['with full-width letters', 'ｐａｓｓｗｏｒｄ', 'password'],
  ])('%s', async (_what, password, other) => {
    const email = `${randomUUID()}@example.com`;
    const made = await project.post('/users', { email, password, role: member }, { token: adminToken });
    expect([made.status, made.text]).toEqual([200, expect.not.stringContaining(password)]);
    expect((await logIn(email, other, address())).status).toBe(401);
    expect((await logIn(email, password, address())).status).toBe(200);
  });

  it('and is refused before it costs a hash where it is too long, or no text', { timeout: 60_000 }, async () => {
    const email = `${randomUUID()}@example.com`;
    const start = performance.now();
    for (let count = 0; count < 40; count++) {
      const body = { email, password: 'x'.repeat(1025 + count * 20_000), role: member };
      expect(failure(await project.post('/users', body, { token: adminToken }))).toBe('400 FAILED_VALIDATION');
    }
    expect(performance.now() - start).toBeLessThan(20_000);
    for (const password of ['nul\u0000 in between', '\ud800 alone is no text']) {
      const body = `{"email":"${email}","role":"${member}","password":${JSON.stringify(password)}}`;
      expect(failure(await project.post('/users', body, { token: adminToken, headers: json }))).toBe(
        '400 INVALID_PAYLOAD',
      );
    }
  });
});

it('guessing a one-time password ends soon, from wherever, on any route', async () => {
  const user: TestUser = await project.addUser(member);
  const { access_token: token } = await project.signIn(user);
  const { json } = await post('/users/me/tfa/generate', { password: user.password }, address(), token);
  const { secret } = json.data;
  const wrong = ['000000', '000001', '000002'].find(
    (otp) => ![-2, -1, 0, 1, 2].some((steps) => otpOf(secret, steps) === otp),
  );
  const guesses = await Promise.all(
    Array.from({ length: 12 }, () => post('/users/me/tfa/enable', { secret, otp: wrong }, address(), token)),
  );
  expect(guesses.filter(({ status }) => status === 401)).toHaveLength(5);
  expect(guesses.filter(({ status }) => status === 429)).toHaveLength(7);
  expect(failure(await post('/users/me/tfa/enable', { secret, otp: otpOf(secret) }, address(), token))).toBe(
    '429 REQUESTS_EXCEEDED',
  );
  await project.rows(`UPDATE platform.platform_auth_attempts SET expires_at = now() WHERE purpose = 'otp.user'`);
  expect((await post('/users/me/tfa/enable', { secret, otp: otpOf(secret) }, address(), token)).status).toBe(204);
});

it('guessing mailed tokens ends soon, for each route on its own', async () => {
  const attacker = address();
  const guess = (path: string) => () => post(path, { token: randomUUID(), password: 'long enough' }, attacker);
  for (const path of ['/auth/password/reset', '/users/invite/accept']) {
    expect(await statuses(9, guess(path))).toEqual([...Array.from({ length: 8 }, () => 403), 429]);
  }
});

it('asking for a reset takes as long for nobody as for somebody', { timeout: 120_000 }, async () => {
  const samples = Number(process.env.ATTACK_SAMPLES ?? 30);
  const { email } = await project.addUser(member);
  const texts = new Set<string>();
  // Without LOGIN_STALL_TIME, which hides the rest: two rows more, and a mail that is written after the answer.
  const alike = ({ known, unknown }: AnswerTimes): boolean => Math.abs(known - unknown) < Math.max(15, unknown);
  let requests = 0;
  const ask = async (kind: 'known' | 'unknown'): Promise<void> => {
    const asked = { email: kind === 'known' ? email : `no-${email}` };
    const answer = await post('/auth/password/request', asked, `203.0.113.${requests++ % 250}`);
    texts.add(`${answer.status} ${answer.text}`);
  };
  const times = await alikeTimesOf(() => answerTimesOf(samples, ask), alike);
  console.info('reset asked for, ms:', times);
  expect([...texts]).toEqual(['204 ']);
  expect(times).toSatisfy(alike);
});
