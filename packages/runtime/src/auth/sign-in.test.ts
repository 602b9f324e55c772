import { expect, test } from 'vitest';
import type { SigningIn } from '../users/account.ts';
import { createSignIn } from './sign-in.ts';

const ada: SigningIn = {
  account: {
    id: 'ada',
    email: 'ada@example.com',
    status: 'active',
    provider: 'default',
    securityVersion: 1,
    hasTfa: false,
    role: null,
  },
  password: 'a hash',
  tfaSecret: null,
};

/** Hashes that a password was compared with while a sign-in was refused; null: there is no such account. */
async function compared(found: SigningIn | null, matches: boolean): Promise<readonly (string | null)[]> {
  const hashes: (string | null)[] = [];
  const attempt = { begin: async () => {}, failed: async () => {}, succeeded: async () => {} };
  const refuse = (): never => {
    throw new Error('a refused sign-in needs no more than that');
  };
  const { login } = createSignIn({
    database: { transaction: refuse },
    finder: { byEmail: async () => found },
    sessions: { begin: refuse, rotate: refuse, end: refuse, endAll: refuse },
    makePair: refuse,
    passwords: {
      hash: refuse,
      isOutdated: refuse,
      async verify(encoded) {
        hashes.push(encoded);
        return matches;
      },
    },
    attempts: {
      login: () => attempt,
      token: () => attempt,
      otp: () => attempt,
      mail: async () => {},
      mention: async () => true,
    },
    checkOtp: refuse,
    identities: { forget: refuse },
    environment: { loginStallTime: 0 },
    audit: () => {},
  });
  const sent = { email: 'ada@example.com', password: 'secret', otp: null };
  const sender = { ip: null, userAgent: null, origin: null };
  await expect(login(sent, sender)).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  return hashes;
}

test.each<[string, SigningIn | null, boolean]>([
  ['no account', null, false],
  ['another password', ada, false],
  ['an account without a password', { ...ada, password: null }, false],
  ['a suspended account', { ...ada, account: { ...ada.account, status: 'suspended' } }, true],
  ['an account of another provider', { ...ada, account: { ...ada.account, provider: 'google' } }, true],
])('%s: refused after one comparison, as every sign-in', async (_, found, matches) => {
  expect(await compared(found, matches)).toEqual([found?.password ?? null]);
});
