import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Account, FoundSession } from '../users/account.ts';
import { createIdentities } from './identities.ts';
import { createTokens } from './sessions/tokens.ts';

const tokens = createTokens('a secret that is long enough for everybody');
const account: Account = {
  id: 'ada',
  email: 'ada@example.com',
  status: 'active',
  provider: 'default',
  securityVersion: 1,
  hasTfa: false,
  role: null,
};
const token = (ttl = 3_600_000, id = 'ada'): string => tokens.sign('access', { id, sid: 'session' }, ttl);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Identities over a look-up of the test's own, and how often it was asked. */
function identitiesOver(bySession: (requested: number) => Promise<FoundSession | null>) {
  let request = 0;
  const seen: string[] = [];
  const identities = createIdentities<string>({
    tokens,
    finder: {
      byToken: async (text) => (text === 'a-static-token-of-ada' ? account : null),
      byEmail: async () => null,
      byId: async () => null,
      byIdentity: async () => null,
      bySession: () => bySession(++request),
    },
    attempts: { token: () => ({ begin: async () => {}, failed: async () => {}, succeeded: async () => {} }) },
    describe: ({ account: { id, securityVersion }, session }) => `${id} ${securityVersion} ${session}`,
    recordActivity: (user) => seen.push(user),
  });
  return { ...identities, find: (text: string) => identities.find(text, () => ''), asked: () => request, seen };
}

const found = async (): Promise<FoundSession> => ({ account, securityVersion: 1 });

test('a token is looked up once in four seconds, and known at once in between', async () => {
  const identities = identitiesOver(found);
  const mine = token();
  expect(await identities.find(mine)).toBe('ada 1 session');
  vi.advanceTimersByTime(3_999);
  expect(identities.find(mine)).toBe('ada 1 session');
  vi.advanceTimersByTime(1);
  expect(identities.find(mine)).toBeInstanceOf(Promise);
  expect([identities.asked(), identities.seen]).toEqual([2, ['ada']]);
});

test('whoever asks at the same time asks once', async () => {
  const identities = identitiesOver(found);
  const mine = token();
  await Promise.all(Array.from({ length: 20 }, () => identities.find(mine)));
  expect(identities.asked()).toBe(1);
});

test('what was read before a change is told to nobody who asks after it', async () => {
  const answers = [Promise.withResolvers<FoundSession>(), Promise.withResolvers<FoundSession>()];
  const identities = identitiesOver((requested) => answers[requested - 1]?.promise ?? found());
  const mine = token();
  const before = identities.find(mine);
  identities.forget('ada');
  const after = identities.find(mine);
  expect(identities.asked()).toBe(2);
  answers[1]?.resolve({ account: { ...account, securityVersion: 2 }, securityVersion: 2 });
  expect(await after).toBe('ada 2 session');
  answers[0]?.resolve({ account, securityVersion: 1 });
  expect(await before).toBe('ada 1 session');
  expect(identities.find(mine)).toBe('ada 2 session');
});

test('a user who is forgotten is looked up again, and nobody else', async () => {
  const identities = identitiesOver(found);
  const [mine] = [token()];
  await identities.find(mine);
  await identities.find('a-static-token-of-ada');
  identities.forget('somebody');
  expect(identities.find(mine)).toBe('ada 1 session');
  identities.forget('ada');
  expect(identities.find(mine)).toBeInstanceOf(Promise);
  expect(identities.find('a-static-token-of-ada')).toBeInstanceOf(Promise);
  identities.forgetAll();
  expect(identities.find(mine)).toBeInstanceOf(Promise);
});

test('a token that is remembered expires all the same', async () => {
  const identities = identitiesOver(found);
  const mine = token(1_000);
  await identities.find(mine);
  vi.advanceTimersByTime(2_000);
  expect(() => identities.find(mine)).toThrow('expired');
});

test('what is wrong is not remembered', async () => {
  const identities = identitiesOver(async (requested) => {
    if (requested === 1) return null;
    if (requested === 2) return { account: { ...account, status: 'suspended' }, securityVersion: 1 };
    return { account, securityVersion: requested === 3 ? 0 : 1 };
  });
  const mine = token();
  for (const code of ['INVALID_CREDENTIALS', 'INVALID_CREDENTIALS', 'TOKEN_EXPIRED']) {
    await expect(identities.find(mine)).rejects.toMatchObject({ code });
  }
  expect(await identities.find(mine)).toBe('ada 1 session');
  await expect(identities.find(token(1_000, 'eve'))).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  await expect(identities.find('unknown')).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
});

test('no more than ten thousand are remembered, the latest ones', async () => {
  const identities = identitiesOver(found);
  const all = Array.from({ length: 10_001 }, (_, number) => token(3_600_000 + number * 1_000));
  for (const one of all) await identities.find(one);
  expect(identities.find(all[0] ?? '')).toBeInstanceOf(Promise);
  expect(identities.find(all.at(-1) ?? '')).toBe('ada 1 session');
});

test('a token that is known costs a request less than 25 microseconds', async () => {
  vi.useRealTimers();
  const identities = identitiesOver(found);
  const mine = token();
  await identities.find(mine);
  const times = Array.from({ length: 20 }, () => {
    const start = performance.now();
    // A request brings a text of its own each time, so nothing is known of it beforehand.
    for (let again = 0; again < 500; again++) identities.find(`${mine.slice(0, 10)}${mine.slice(10)}`);
    return ((performance.now() - start) / 500) * 1000;
  });
  const [best = 0] = times.sort((a, b) => a - b);
  console.info(`a known token: ${best.toFixed(1)} microseconds`);
  expect(best).toBeLessThan(25);
});
