import { createHmac, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { createTokens, deriveKinds, tokenKinds } from './tokens.ts';

const secret = 'a secret that is long enough for everybody';
const now = 1_800_000_000_000;
const seconds = now / 1000;
const tokens = createTokens(secret, { now: () => now });
const kinds = deriveKinds(secret);

const header = { alg: 'HS256', typ: 'platform.access+jwt' };
const payload = { id: 'u', iat: seconds, exp: seconds + 60, iss: 'platform', aud: 'platform.access' };

function keyOf(kind: (typeof tokenKinds)[number]): KeyObject {
  const key = kinds.get(kind)?.key;
  if (key === undefined) throw new Error('no key');
  return key;
}

/** Signs whatever it is given with the right key. */
function forge(head: unknown, body: unknown, hash = 'sha256', key = keyOf('access')): string {
  const text = [head, body]
    .map((part) => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url'))
    .join('.');
  return `${text}.${createHmac(hash, key).update(text).digest('base64url')}`;
}

function verdict(token: string): unknown {
  try {
    return tokens.verify('access', token).claims;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

test('a token says what was signed, until its last second', () => {
  const token = tokens.sign('access', { id: 'u', role: null, admin_access: true }, 1_500);
  const { claims, expiresAt } = tokens.verify('access', token);
  expect(claims).toEqual({ id: 'u', role: null, admin_access: true, iss: 'platform', aud: 'platform.access' });
  expect(expiresAt).toBe(now + 2_000);
  const later = (at: number) => createTokens(secret, { now: () => at }).verify('access', token);
  expect(later(now + 1_999).claims).toEqual(claims);
  expect(() => later(now + 2_000)).toThrow(expect.objectContaining({ code: 'TOKEN_EXPIRED' }));
});

test('the test can make a token that is right', () => {
  expect(verdict(forge(header, payload))).toMatchObject({ id: 'u' });
});

test('no kind is taken for another, and no secret for another', () => {
  for (const made of tokenKinds) {
    for (const requested of tokenKinds.filter((kind) => kind !== made)) {
      expect(() => tokens.verify(requested, tokens.sign(made, {}, 1_000))).toThrow('not valid');
    }
  }
  const other = createTokens(`${secret}.`, { now: () => now }).sign('access', {}, 1_000);
  expect(verdict(other)).toBe('INVALID_TOKEN');
  expect(new Set(tokenKinds.map((kind) => keyOf(kind).export().toString('hex'))).size).toBe(tokenKinds.length);
});

test('tokens of the secret before are valid, and none is signed by it', () => {
  const next = createTokens(`${secret}, the next one`, { previous: secret, now: () => now });
  expect(next.verify('access', tokens.sign('access', { id: 'u' }, 1_000)).claims).toMatchObject({ id: 'u' });
  expect(verdict(next.sign('access', { id: 'u' }, 1_000))).toBe('INVALID_TOKEN');
  expect(() => next.verify('access', tokens.sign('access', {}, -1_000))).toThrow(
    expect.objectContaining({ code: 'TOKEN_EXPIRED' }),
  );
  expect(() => next.verify('access', createTokens('a third secret, of nobody here').sign('access', {}, 1_000))).toThrow(
    expect.objectContaining({ code: 'INVALID_TOKEN' }),
  );
});

test.each<[string, string]>([
  ['another algorithm', forge({ ...header, alg: 'HS512' }, payload, 'sha512')],
  [
    'no algorithm',
    `${forge({ ...header, alg: 'none' }, payload)
      .split('.')
      .slice(0, 2)
      .join('.')}.`,
  ],
  ['a list of algorithms', forge({ ...header, alg: ['HS256'] }, payload)],
  ['an asymmetric algorithm', forge({ ...header, alg: 'RS256' }, payload)],
  ['the type of another kind', forge({ ...header, typ: 'platform.invite+jwt' }, payload)],
  ['the common type', forge({ ...header, typ: 'JWT' }, payload)],
  ['no type', forge({ alg: 'HS256' }, payload)],
  ['something critical', forge({ ...header, crit: ['x'], x: 1 }, payload)],
  ['nothing critical', forge({ ...header, crit: [] }, payload)],
  ['the name of a key', forge({ ...header, kid: "../../dev/null' OR 1=1 --" }, payload)],
  ['the place of a key', forge({ ...header, jku: 'https://evil.example' }, payload)],
  ['a key', forge({ ...header, jwk: { kty: 'oct', k: '' } }, payload)],
  ['the key of another kind', forge(header, payload, 'sha256', keyOf('invite'))],
  ['another audience', forge(header, { ...payload, aud: 'platform.invite' })],
  ['another issuer', forge(header, { ...payload, iss: 'somebody' })],
  ['no issuer', forge(header, { ...payload, iss: undefined })],
  ['no end', forge(header, { ...payload, exp: undefined })],
  ['no beginning', forge(header, { ...payload, iat: undefined })],
  ['an end as text', forge(header, { ...payload, exp: String(payload.exp) })],
  ['an end between seconds', forge(header, { ...payload, exp: payload.exp + 0.5 })],
  ['an end beyond every date', forge(header, { ...payload, exp: 1e20 })],
  ['a beginning to come', forge(header, { ...payload, iat: seconds + 3_600, exp: seconds + 7_200 })],
  ['a time before which it is not valid', forge(header, { ...payload, nbf: seconds + 3_600 })],
  ['text as claims', forge(header, '"text"')],
  ['a list as claims', forge(header, [payload])],
  ['a claim twice', forge(header, JSON.stringify(payload).replace('{', '{"id":"v",'))],
  ['100 KB', forge(header, { ...payload, more: 'x'.repeat(100_000) })],
  ['no signature', `${forge(header, payload).split('.').slice(0, 2).join('.')}.`],
  ['another signature', `${forge(header, payload).slice(0, -4)}AAAA`],
  ['more claims than were signed', forge(header, payload).replace(/\..*\./, `.${btoa('{"id":"v"}')}.`)],
  ['garbage', 'a.b.c'],
])('a token with %s is refused', (_what, token) => {
  expect(verdict(token)).toBe('INVALID_TOKEN');
});

test('a token that is wrong and expired is wrong', () => {
  expect(verdict(forge(header, { ...payload, iat: 1, exp: 2 }))).toBe('TOKEN_EXPIRED');
  expect(verdict(forge(header, { ...payload, iat: 1, exp: 2, aud: 'platform.invite' }))).toBe('INVALID_TOKEN');
  expect(verdict(forge({ ...header, typ: 'JWT' }, { ...payload, iat: 1, exp: 2 }))).toBe('INVALID_TOKEN');
});
