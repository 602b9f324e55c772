/**
 * A mark in everything of accounts that is secret, every way to ask for it, and no sight of one in any answer, log, mail,
 * or table but where it belongs. Section 3, check 5 of the security specification.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import { type MailServer, startMailServer, tokenIn } from '../support/mail.ts';
import { otpOf } from '../support/otp.ts';
import { type Answer, type Ask, adminToken, secret } from '../support/platform.ts';
import { type Shot, swarm } from '../support/swarm.ts';

const mark = `canary${randomUUID().slice(0, 8)}`;

let mail: MailServer;
let project: AccountsProject;
let member: string;
let victim: TestUser;
/** Everything that nobody may see, by what it is. */
const canaries = new Map<string, string>();
/** What was answered to anything, but for the answers that give a secret out. */
const told: string[] = [];

beforeAll(async () => {
  mail = await startMailServer();
  project = await serveAccounts({
    sql: `CREATE TABLE docs (id integer PRIMARY KEY, title text, author uuid REFERENCES platform.platform_users);
      CREATE INDEX ON docs (author);`,
    permissions: `
roles: { member: {} }
permissions:
  public: { docs: { read: true, create: true }, platform_users: { read: true } }
  member:
    docs: { read: true, create: true, update: true }
    platform_roles: { read: true }
    platform_activity: { read: true }
    platform_users: { read: true, create: { fields: [email, password, token, role, title] }, update: { fields: [email, password, token, title] } }`,
    environment: {
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(mail.port),
      EMAIL_SMTP_IGNORE_TLS: 'true',
      LOG_LEVEL: 'trace',
      RATE_LIMITER_AUTH_ENABLED: 'false',
    },
  });
  member = await project.addRole('member');
  await project.rows('INSERT INTO platform.platform_settings (auth_login_attempts) VALUES (NULL)');
});
afterAll(async () => {
  await project?.close();
  await mail?.close();
});

const seenIn = (text: string): readonly string[] =>
  [...canaries].filter(([, canary]) => text.includes(canary)).map(([what]) => what);

/** Asks, and keeps the answer among those that may hold no secret. */
async function ask(path: string, options: Ask = {}): Promise<Answer> {
  const answer = await project.server.ask(path, options);
  told.push(`${options.method ?? 'GET'} ${path.split('?')[0]}\n${[...answer.headers].join()}\n${answer.text}`);
  return answer;
}
const post = (path: string, body: unknown, more: Ask = {}) => ask(path, { method: 'POST', body, ...more });

/** Asks for what gives a secret out, which it may do in this answer alone. */
async function given(path: string, body: unknown, more: Ask = {}): Promise<Answer['json']> {
  const { status, json, text } = await project.post(path, body, more);
  expect([path, status], text).toEqual([path, 200]);
  return json.data;
}

describe('the life of an account', () => {
  it('is led through all routes', { timeout: 60_000 }, async () => {
    const first = `${mark} first password`;
    const second = `${mark} second password`;
    const staticToken = `${mark}-static-token`;
    const email = `${mark}@example.com`;
    for (const [what, canary] of Object.entries({ first, second, staticToken, adminToken, SECRET: secret })) {
      canaries.set(what, canary);
    }
    canaries.set('a hash', '$argon2');

    expect(
      (
        await post(
          '/users/invite',
          { email, role: member },
          { token: adminToken, headers: { 'idempotency-key': mark } },
        )
      ).status,
    ).toBe(204);
    const [invitation] = await mail.to(email);
    const invited = tokenIn(invitation?.text);
    canaries.set('an invitation', invited);
    expect((await post('/users/invite/accept', { token: invited, password: first })).status).toBe(204);
    await post('/users/invite/accept', { token: invited, password: first });

    expect((await post('/auth/password/request', { email })).status).toBe(204);
    const [, resetting] = await mail.to(email, 2);
    const reset = tokenIn(resetting?.text);
    canaries.set('a reset', reset);
    expect((await post('/auth/password/reset', { token: reset, password: second })).status).toBe(204);
    await post('/auth/password/reset', { token: reset, password: second });
    for (const one of [invited, reset]) {
      const { key, proof } = JSON.parse(Buffer.from(one.split('.')[1] ?? '', 'base64url').toString());
      canaries.set('the key of a mailed token', key).set('the proof of a mailed token', proof);
    }

    for (const password of [`${first}?`, first]) await post('/auth/login', { email, password });
    const pair = await given('/auth/login', { email, password: second });
    const { secret: key } = await given('/users/me/tfa/generate', { password: second }, { token: pair.access_token });
    canaries.set('access token', pair.access_token).set('refresh token', pair.refresh_token).set('second factor', key);
    const token = pair.access_token;
    await post('/users/me/tfa/generate', { password: first }, { token });
    await post('/users/me/tfa/enable', { secret: key, otp: '000000' }, { token });
    expect((await post('/users/me/tfa/enable', { secret: key, otp: otpOf(key, -1) }, { token })).status).toBe(204);
    const { recovery_codes: codes } = await given('/users/me/tfa/recovery-codes', { otp: otpOf(key) }, { token });
    for (const code of codes) canaries.set(`recovery code ${code}`, code);
    const next = await given('/auth/refresh', { refresh_token: pair.refresh_token });
    canaries.set('the next refresh token', next.refresh_token).set('the next access token', next.access_token);
    await post('/auth/refresh', { refresh_token: pair.refresh_token });
    await post('/auth/login', { email, password: second, otp: codes[0].slice(1) });
    await given('/auth/login', { email, password: second, otp: codes[0] });
    await post('/auth/login', { email, password: second, otp: codes[0] });
    await post('/auth/logout', { refresh_token: `${next.refresh_token}x` });

    const [row] = await project.rows('SELECT id, password FROM platform.platform_users WHERE email = $1', [email]);
    victim = { id: String(row?.id), email, password: second };
    canaries.set('the hash', String(row?.password).slice(-20));
    const auth = JSON.stringify({ access_token: `${mark} auth data` });
    await project.rows('UPDATE platform.platform_users SET auth_data = $2 WHERE id = $1', [victim.id, auth]);
    canaries.set('auth data', `${mark} auth data`);
    const changed = await ask(`/users/${victim.id}`, {
      method: 'PATCH',
      token: adminToken,
      body: { token: staticToken },
    });
    expect(changed.json.data).toMatchObject({ token: '**********', auth_data: '**********', tfa_secret: '**********' });
    await project.rows(`INSERT INTO docs VALUES (1, 'a', $1)`, [victim.id]);
  });

  it('and refused with secrets in every wrong place, which no error repeats', { timeout: 60_000 }, async () => {
    const secretOf = (what: string): string => canaries.get(what) ?? '';
    const texts = ['first', 'staticToken', 'second factor', 'refresh token', 'a reset'].map(secretOf);
    for (const text of texts) {
      for (const body of [
        { [text]: text },
        { email: text, password: [text] },
        [text],
        { token: text, password: text },
        `{"${text}`,
      ]) {
        for (const path of [
          '/auth/login',
          '/auth/refresh',
          '/auth/logout',
          '/auth/password/reset',
          '/auth/password/request',
          '/users/invite',
          '/users/invite/accept',
          '/users',
          '/items/docs',
        ]) {
          await post(path, body);
        }
        await post('/users', body, { token: adminToken });
        await post(
          '/users',
          { email: 'x@example.com', password: text, token: text, title: { text } },
          { token: adminToken },
        );
      }
      for (const path of [
        `/users?access_token=${text}`,
        `/nothing/${randomUUID()}?${text}`,
        `/users/me?search=${text}`,
      ]) {
        await ask(path.replaceAll(' ', '%20'), {
          headers: { cookie: `platform_refresh_token=${text}`, 'user-agent': 'x' },
        });
      }
    }
    const duplicate = { email: victim.email.toUpperCase(), password: `${mark} other`, token: secretOf('staticToken') };
    const answers = [
      await post('/users', duplicate, { token: adminToken }),
      await post('/users', { ...duplicate, email: 'y@example.com' }, { token: adminToken }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
  });
});

const secretFields = ['password', 'token', 'tfa_secret', 'auth_data', 'security_version', '*'];
const operators = [
  '_eq',
  '_neq',
  '_in',
  '_lt',
  '_gte',
  '_contains',
  '_starts_with',
  '_icontains',
  '_null',
  '_empty',
  '_between',
  '_regex',
];

/** Every way to name a field, of users themselves and through a relation. */
function* shots(): Generator<Shot> {
  for (const field of secretFields) {
    for (const [path, name] of [
      ['/users', field],
      ['/items/docs', `author.${field}`],
    ] as const) {
      const nested = name
        .split('.')
        .map((part) => `[${part}]`)
        .join('');
      yield { path: `${path}?fields=${name}&limit=-1&meta=*` };
      for (const format of ['csv', 'json', 'xml', 'yaml'])
        yield { path: `${path}?fields=${name}&limit=-1&export=${format}` };
      yield { path: `${path}?sort=${name}` };
      yield { path: `${path}?sort=-${name}&fields=id` };
      yield { path: `${path}?groupBy=${name}&aggregate[count]=id` };
      yield { path: `${path}?alias[x]=${name}&fields=x` };
      yield { path: `${path}?fields=year(${name}),length(${name})` };
      for (const call of ['min', 'max', 'count', 'countDistinct', 'sum'])
        yield { path: `${path}?aggregate[${call}]=${name}` };
      for (const operator of operators) yield { path: `${path}?filter${nested}[${operator}]=a,b&fields=id` };
      yield {
        path,
        method: 'SEARCH',
        body: JSON.stringify({ query: { fields: [name], alias: { x: name }, limit: -1 } }),
      };
      yield { path, method: 'SEARCH', body: JSON.stringify({ query: { fields: [name], sort: [name] } }) };
    }
    yield { path: `/items/docs?deep[author][_filter][${field}][_starts_with]=a&fields=author.*` };
    yield { path: `/roles?fields=users.${field}` };
  }
  for (const path of [
    '/users',
    `/users/${victim.id}`,
    '/users/me',
    '/roles?fields=*.*',
    '/activity?limit=-1&fields=*.*.*',
    '/items/docs?fields=*.*',
    '/server/specs/oas',
    '/server/info',
    '/server/health',
    '/auth',
    '/settings',
    '/revisions?limit=-1',
    '/items/platform_users',
    '/items/platform_sessions',
    '/items/platform_revisions',
    '/users?search=argon2',
    '/users?search=canary',
  ]) {
    yield { path };
  }
}

it('no way of asking brings one to light, whoever asks', { timeout: 120_000 }, async () => {
  const other = await project.addUser(member);
  const { access_token: token } = await project.signIn(other);
  let shown = 0;
  for (const by of [undefined, token, adminToken]) {
    const seen: string[] = [];
    const asked = [...shots()].map((shot) => (by === undefined ? shot : { ...shot, token: by }));
    await swarm(project.server.url, asked, (shot, { status, text, headers }) => {
      const found = seenIn(`${headers}\n${text}`);
      if (found.length > 0) seen.push(`${shot.method ?? 'GET'} ${shot.path}: ${found}`);
      if (status >= 500) seen.push(`${status} ${shot.path} ${text}`);
      if (text.includes('**********')) shown += 1;
    });
    expect(seen).toEqual([]);
  }
  // The fields were there to be seen.
  expect(shown).toBeGreaterThan(10);
});

it('none is in another answer, a line of the log, or a mail that it was not meant for', async () => {
  expect(told.length).toBeGreaterThan(100);
  // Administrators are told the name that their own body has.
  const texts = told.map((text) => text.replace(/Not found, or secret: .* of platform_users\./, ''));
  expect(texts.flatMap((text) => seenIn(text).map((what) => `${what}: ${text.slice(0, 100)}`))).toEqual([]);
  expect(seenIn(project.server.log())).toEqual([]);
  expect(project.server.log()).toContain('INVALID_CREDENTIALS');
  const mails = mail.mails.map(({ text }) =>
    seenIn(text).filter((what) => what !== 'an invitation' && what !== 'a reset'),
  );
  expect([mails.length > 1, mails.flat()]).toEqual([true, []]);
});

it('the database keeps them where they belong, and mostly as hashes', async () => {
  const tables = await project.rows(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'platform'`,
  );
  const found: Record<string, readonly string[]> = {};
  for (const { name } of tables) {
    const [row] = await project.rows(`SELECT json_agg(t)::text AS text FROM platform."${name}" t`);
    const seen = seenIn(String(row?.text));
    if (seen.length > 0) found[String(name)] = seen.toSorted();
  }
  expect(found).toEqual({
    platform_users: ['a hash', 'auth data', 'second factor', 'staticToken', 'the hash'].toSorted(),
  });
});

it('a database that has changed under the server tells none', async () => {
  await project.rows('ALTER TABLE platform.platform_users RENAME COLUMN tfa_secret TO gone');
  const paths = ['/users?fields=*', `/users?access_token=${canaries.get('staticToken')}`];
  for (const path of paths) {
    const { status, text } = await ask(path, path.includes('access_token') ? {} : { token: adminToken });
    expect([status, seenIn(text), /gone|column|tfa_secret/.test(text)]).toEqual([503, [], false]);
  }
  const { status, text } = await post('/auth/login', { email: victim.email, password: victim.password });
  expect([status, seenIn(text)]).toEqual([503, []]);
  expect(seenIn(project.server.log())).toEqual([]);
});
