/** Passwords by mail: resets and invitations over a real mail server. Source: API specification, sections 2.6 and 3.3. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import { linkIn, type MailServer, startMailServer, tokenIn } from '../support/mail.ts';
import { type Answer, adminToken, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';

/** ATTACK_ROUNDS=50 is the proof; the everyday run looks whether it still holds. */
const rounds = Number(process.env.ATTACK_ROUNDS ?? 3);
const parallel = 20;

let mail: MailServer;
let project: AccountsProject;
let member: string;
let admins: string;
let hidden: string;
beforeAll(async () => {
  mail = await startMailServer();
  project = await serveAccounts({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY, title text)',
    permissions: `
roles: { member: {}, inviter: {}, half: {}, elsewhere: {}, presetting: {} }
permissions:
  public: { docs: { read: { fields: [id] } } }
  member: { docs: { read: { fields: [id, title] } } }
  half: { platform_users: { create: { fields: [email] } } }
  presetting:
    platform_roles: { read: true }
    platform_users:
      create:
        fields: [email, role]
        presets: { title: '$CURRENT_USER', status: active, language: de-DE, password: nothing to sign in with }
        validation: { status: { _eq: invited }, language: { _eq: de-DE } }
  inviter:
    platform_roles: { read: { fields: [id, name], filter: { name: { _in: [member, admins, elsewhere] } } } }
    platform_users: { create: { fields: [email, role], validation: { role: { name: { _neq: elsewhere } } } } }`,
    environment: {
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(mail.port),
      EMAIL_FROM: 'Tablewright <hello@example.com>',
      PUBLIC_URL: 'http://platform.test/base',
      PASSWORD_RESET_URL_ALLOW_LIST: 'https://app.test/reset',
      USER_INVITE_URL_ALLOW_LIST: 'https://app.test',
      LOGIN_STALL_TIME: '50',
      LOG_LEVEL: 'trace',
      RATE_LIMITER_AUTH_ADDRESS_POINTS: '100000',
      RATE_LIMITER_AUTH_ACCOUNT_POINTS: '100000',
    },
    processes: 3,
  });
  member = await project.addRole('member');
  hidden = await project.addRole('hidden');
  admins = await project.addRole('admins', { admin_access: true });
});
afterAll(async () => {
  await project?.close();
  await mail?.close();
});

const post = (path: string, body?: unknown, token?: string): Promise<Answer> =>
  project.post(path, body, token === undefined ? {} : { token });

/** Asks for a reset and gives the mail. */
async function resetMail(user: TestUser, more: object = {}): Promise<string> {
  const before = mail.mails.length;
  expect((await post('/auth/password/request', { email: user.email, ...more })).status).toBe(204);
  await expect.poll(() => mail.mails.length).toBe(before + 1);
  return mail.mails.at(-1)?.text ?? '';
}

const logIn = async (email: string, password: string): Promise<number> =>
  (await post('/auth/login', { email, password })).status;

describe('a password reset', () => {
  it('gives a new password by a link that works once, and ends all sessions', async () => {
    const user = await project.addUser(member);
    const { access_token: token } = await project.signIn(user);
    const text = await resetMail(user);
    expect(mail.mails.at(-1)).toMatchObject({ from: 'hello@example.com', to: [user.email] });
    const link = linkIn(text);
    expect(`${link.origin}${link.pathname}`).toBe('http://platform.test/base/admin/reset-password');
    expect((await post('/auth/password/reset', { token: tokenIn(text), password: 'a new password' })).status).toBe(204);
    expect(await logIn(user.email, 'a new password')).toBe(200);
    expect(await logIn(user.email, user.password)).toBe(401);
    expect(failure(await project.server.ask('/items/docs', { token }))).toBe('401 INVALID_CREDENTIALS');
    expect(failure(await post('/auth/password/reset', { token: tokenIn(text), password: 'another one' }))).toBe(
      '403 INVALID_TOKEN',
    );
  });

  it('answers everybody the same, and mails nobody but active users with a password', async () => {
    const user = await project.addUser(member);
    const suspended = await project.addUser(member, { status: 'suspended' });
    const elsewhere = await project.addUser(member, { provider: 'github' });
    const before = mail.mails.length;
    const emails = [user.email, suspended.email, elsewhere.email, `${randomUUID()}@example.com`];
    const answers = await Promise.all(emails.map((email) => post('/auth/password/request', { email })));
    expect(new Set(answers.map(({ status, bytes }) => `${status} ${bytes.length}`))).toEqual(new Set(['204 0']));
    await mail.to(user.email);
    expect(mail.mails.slice(before).flatMap(({ to }) => to)).toEqual([user.email]);
  });

  it('is not mailed, and sets no password, where sign-in by password is off', async () => {
    const user = await project.addUser(member);
    const token = tokenIn(await resetMail(user));
    const environment = {
      EMAIL_SMTP_HOST: '127.0.0.1',
      EMAIL_SMTP_PORT: String(mail.port),
      AUTH_DISABLE_DEFAULT: 'true',
    };
    const other = await startPlatform(project.folder, project.database.url, environment, []);
    try {
      const ask = (path: string, body: object) => other.ask(`/auth/password/${path}`, { method: 'POST', body });
      const before = mail.mails.length;
      for (const email of [user.email, `${randomUUID()}@example.com`]) {
        const { status, bytes } = await ask('request', { email });
        expect([status, bytes.length]).toEqual([204, 0]);
      }
      expect(failure(await ask('request', { email: 'no address' }))).toBe('400 INVALID_PAYLOAD');
      const reset = await ask('reset', { token, password: 'a new password' });
      expect([failure(reset), reset.text]).toEqual([
        '403 INVALID_TOKEN',
        (await ask('reset', { token: 'x', password: 'y' })).text,
      ]);
      // Mails are sent in the order in which they were asked for.
      await resetMail(await project.addUser(member));
      expect(mail.mails).toHaveLength(before + 1);
      // Invitations are the only tokens that are made there, so they remove those of long ago.
      const aged = `UPDATE platform.platform_single_use_tokens SET expires_at = now() - interval '8 days' WHERE "user" = $1`;
      const left = 'SELECT 1 FROM platform.platform_single_use_tokens WHERE "user" = $1';
      await project.rows(aged, [user.id]);
      const body = { email: `${randomUUID()}@example.com`, role: member };
      expect((await other.admin('/users/invite', { method: 'POST', body })).status).toBe(204);
      expect(await project.rows(left, [user.id])).toEqual([]);
    } finally {
      await other.stop();
    }
    expect(await logIn(user.email, user.password)).toBe(200);
  });

  it('mails the stored address, however it was written', async () => {
    const user = await project.addUser(member, { email: `A.${randomUUID()}@example.com` });
    await resetMail({ ...user, email: user.email.toUpperCase() });
    expect(mail.mails.at(-1)?.to).toEqual([user.email]);
  });

  it('leads to another page that is allowed, with the token added to its address', async () => {
    const user = await project.addUser(member);
    const link = linkIn(await resetMail(user, { reset_url: 'https://app.test/reset/now?a=1&token=mine#end' }));
    expect(link.href).toMatch(/^https:\/\/app\.test\/reset\/now\?a=1&token=[\w.-]+#end$/);
    expect(link.searchParams.getAll('token')).toHaveLength(1);
  });

  it.each([
    'https://app.test',
    'https://app.test/resets',
    'https://app.test/reset/../admin',
    'https://app.test/reset/%2e%2e/admin',
    'https://app.test/reset%2f..%2fadmin',
    'https://app.test.evil/reset',
    'https://app.test@evil.test/reset',
    'https://user@app.test/reset',
    'https://app.test:444/reset',
    'http://app.test/reset',
    '//app.test/reset',
    'https:\\\\app.test\\reset',
    'https://app.test/reset\\..\\admin',
    'https://app.test/reset\n',
    ' https://app.test/reset',
    'javascript:alert(1)',
    '',
    7,
    null,
  ])('never leads to %j', async (url) => {
    const { email } = await project.addUser(member);
    for (const named of [email, 'nobody@example.com']) {
      expect(failure(await post('/auth/password/request', { email: named, reset_url: url }))).toBe(
        '400 INVALID_PAYLOAD',
      );
    }
  });

  it.each([undefined, [], {}, { email: 7 }, { email: 'nobody' }, { email: 'a@example.com\r\nBcc: b@example.com' }])(
    'is not asked for by %j',
    async (body) => expect(failure(await post('/auth/password/request', body))).toBe('400 INVALID_PAYLOAD'),
  );

  it.each([
    undefined,
    {},
    { token: 0 },
    { token: false },
    { token: {} },
    { token: ['a'] },
    { token: null },
    { token: { $ne: 1 } },
  ])('takes no token like %j', async (body) => {
    const answer = await post('/auth/password/reset', body && { password: 'long enough', ...body });
    expect(failure(answer)).toBe('400 INVALID_PAYLOAD');
  });

  it('refuses a token that is garbled, of another kind, or outdated by a change of the password or the status', async () => {
    const user = await project.addUser(member);
    const reset = (token: string) => post('/auth/password/reset', { token, password: 'a new password' });
    const { access_token: access } = await project.signIn(user);
    const token = tokenIn(await resetMail(user));
    for (const wrong of ['x', `${token}x`, token.slice(0, -2), access])
      expect(failure(await reset(wrong))).toBe('403 INVALID_TOKEN');
    expect(failure(await post('/users/invite/accept', { token, password: 'a new password' }))).toBe(
      '403 INVALID_TOKEN',
    );
    await project.rows(`UPDATE platform.platform_users SET status = 'suspended' WHERE id = $1`, [user.id]);
    expect(failure(await reset(token))).toBe('403 INVALID_TOKEN');
    await project.rows(`UPDATE platform.platform_users SET status = 'active', password = 'other' WHERE id = $1`, [
      user.id,
    ]);
    expect(failure(await reset(token))).toBe('403 INVALID_TOKEN');
  });

  it('refuses a token whose time is over', async () => {
    const user = await project.addUser(member);
    const token = tokenIn(await resetMail(user));
    await project.rows(`UPDATE platform.platform_single_use_tokens SET expires_at = now() WHERE "user" = $1`, [
      user.id,
    ]);
    expect(failure(await post('/auth/password/reset', { token, password: 'a new password' }))).toBe(
      '401 TOKEN_EXPIRED',
    );
  });

  it('refuses a password that breaks the rules, and the token stays usable', async () => {
    const user = await project.addUser(member);
    const token = tokenIn(await resetMail(user));
    for (const [password, type] of [
      ['short', 'min_length'],
      ['é'.repeat(513), 'max_length'],
      ['Football', 'password'],
    ]) {
      const answer = await post('/auth/password/reset', { token, password });
      expect(failure(answer)).toBe('400 FAILED_VALIDATION');
      expect(answer.json.errors[0].extensions).toMatchObject({ collection: 'platform_users', field: 'password', type });
    }
    expect((await post('/auth/password/reset', { token, password: 'x'.repeat(1024) })).status).toBe(204);
    expect(await logIn(user.email, 'x'.repeat(1024))).toBe(200);
  });

  it('of any number at once, by whatever tokens, succeeds once', { timeout: 600_000 }, async () => {
    for (let round = 0; round < rounds; round++) {
      const user = await project.addUser(member);
      const tokens = [tokenIn(await resetMail(user)), tokenIn(await resetMail(user))];
      const answers = await Promise.all(
        Array.from({ length: parallel }, (_, number) =>
          project.servers[number % 3]?.ask('/auth/password/reset', {
            method: 'POST',
            body: { token: tokens[(number >> 1) % 2], password: `password number ${number}` },
          }),
        ),
      );
      const won = answers.flatMap((answer, number) => (answer?.status === 204 ? [number] : []));
      expect(won).toHaveLength(1);
      expect(await logIn(user.email, `password number ${won[0]}`)).toBe(200);
    }
  });

  it('does not mail one address without end', async () => {
    const { email } = await project.addUser(member);
    const nobody = `${randomUUID()}@example.com`;
    for (const named of [email, nobody]) {
      const answers: Answer[] = [];
      for (let time = 0; time < 6; time++) answers.push(await post('/auth/password/request', { email: named }));
      expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204, 429]);
      expect(answers.at(-1)?.headers.get('retry-after')).toMatch(/^3[56]\d\d$/);
    }
    await mail.to(email, 5);
  });
});

describe('an invitation', () => {
  const address = (): string => `${randomUUID()}@example.com`;
  const userOf = async (email: string) =>
    (await project.rows('SELECT id, status, role, email FROM platform.platform_users WHERE email = $1', [email]))[0];
  const invite = (body: unknown, token = adminToken): Promise<Answer> => post('/users/invite', body, token);

  it('makes a user who chooses a password by the link in a mail', async () => {
    const email = address();
    const answer = await invite({ email, role: member });
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(await userOf(email)).toMatchObject({ status: 'invited', role: member });
    const [received] = await mail.to(email);
    expect(linkIn(received?.text).pathname).toBe('/base/admin/accept-invite');
    const token = tokenIn(received?.text);
    expect(await logIn(email, '')).toBe(401);
    for (const password of ['short', 'password']) {
      expect(failure(await post('/users/invite/accept', { token, password }))).toBe('400 FAILED_VALIDATION');
    }
    expect(failure(await post('/auth/password/reset', { token, password: 'long enough' }))).toBe('403 INVALID_TOKEN');
    expect((await post('/users/invite/accept', { token, password: 'long enough' })).status).toBe(204);
    expect(await userOf(email)).toMatchObject({ status: 'active', role: member });
    expect(await logIn(email, 'long enough')).toBe(200);
    expect(failure(await post('/users/invite/accept', { token, password: 'long enough' }))).toBe('403 INVALID_TOKEN');
  });

  it('takes several addresses, each once, and changes nothing of who is there already', async () => {
    const there = await project.addUser(member);
    const [one, two] = [address(), address()];
    const emails = [one, two, one.toUpperCase(), there.email];
    expect((await invite({ email: emails, role: hidden, invite_url: 'https://app.test/join' })).status).toBe(204);
    const mails = await Promise.all([mail.to(one), mail.to(two)]);
    expect(mails.map((list) => list.length)).toEqual([1, 1]);
    expect(linkIn(mails[0]?.[0]?.text).href).toMatch(/^https:\/\/app\.test\/join\?token=/);
    expect(await userOf(there.email)).toMatchObject({ status: 'active', role: member });
    expect(mail.mails.filter(({ to }) => to.includes(there.email))).toEqual([]);
  });

  it('that is repeated gives the new role and a new mail; either link works, and only one of them', {
    timeout: 600_000,
  }, async () => {
    for (let round = 0; round < rounds; round++) {
      const email = address();
      await invite({ email, role: hidden });
      await mail.to(email);
      await invite({ email: email.toUpperCase(), role: member });
      const mails = await mail.to(email, 2);
      expect(await userOf(email)).toMatchObject({ status: 'invited', role: member });
      const accept = (number: number) =>
        project.servers[number % 3]?.ask('/users/invite/accept', {
          method: 'POST',
          body: { token: tokenIn(mails[(number >> 1) % 2]?.text), password: `password number ${number}` },
        });
      const answers = await Promise.all(Array.from({ length: parallel }, (_, number) => accept(number)));
      const won = answers.flatMap((answer, number) => (answer?.status === 204 ? [number] : []));
      expect(won).toHaveLength(1);
      expect(await logIn(email, `password number ${won[0]}`)).toBe(200);
    }
  });

  it('under a key is sent once', async () => {
    const email = address();
    const ask = () =>
      project.post(
        '/users/invite',
        { email, role: member },
        { token: adminToken, headers: { 'idempotency-key': email } },
      );
    // More often than an address may be mailed to: a repetition counts nothing.
    for (let time = 0; time < 7; time++) expect((await ask()).status).toBe(204);
    await mail.to(email);
    // The server takes it out of its list once the other one has confirmed it.
    const waiting = () => project.rows('SELECT FROM platform.platform_mails WHERE recipient = $1', [email]);
    await expect.poll(waiting).toEqual([]);
    expect(mail.mails.filter(({ to }) => to.includes(email))).toHaveLength(1);
  });

  it.each([
    undefined,
    {},
    { email: 'a@example.com' },
    { role: randomUUID() },
    { email: 1, role: randomUUID() },
    { email: [], role: randomUUID() },
    { email: ['a@example.com', 1], role: randomUUID() },
    { email: 'a@example.com', role: 'member' },
    { email: 'a@example.com', role: 1 },
    { email: 'a@example.com', role: randomUUID(), invite_url: 'https://evil.test' },
  ])('is not %j', async (body) => expect(failure(await invite(body))).toBe('400 INVALID_PAYLOAD'));

  it.each(['a', 'a@', 'a@b.c\r\nBcc: x@y.z', 'a@b.c, x@y.z', '<a@b.c>', 'a b@c.d', `${'a'.repeat(128)}@b.c`])(
    'goes to no address like %j',
    async (email) => {
      const answer = await invite({ email, role: member });
      expect(failure(answer)).toBe('400 FAILED_VALIDATION');
      expect(answer.json.errors[0].extensions).toMatchObject({ collection: 'platform_users', field: 'email' });
    },
  );

  it('leads to addresses of a list that its refusal names', async () => {
    const invited = await invite({ email: address(), role: member, invite_url: 'https://evil.test' });
    const reset = await post('/auth/password/request', { email: address(), reset_url: 'https://evil.test' });
    expect([invited, reset].map(({ json }) => json.errors[0].message)).toEqual([
      '"invite_url" is not allowed by USER_INVITE_URL_ALLOW_LIST.',
      '"reset_url" is not allowed by PASSWORD_RESET_URL_ALLOW_LIST.',
    ]);
  });

  it('needs a role that there is', async () => {
    const answer = await invite({ email: address(), role: randomUUID() });
    expect(failure(answer)).toBe('400 FAILED_VALIDATION');
    expect(answer.json.errors[0].extensions).toMatchObject({ field: 'role', type: 'foreign_key' });
  });

  it('is for callers who may create users with an address and a role, as their rules say', async () => {
    const elsewhere = await project.addRole('elsewhere');
    const tokenOf = async (role: string | null): Promise<string> => {
      const user = await project.addUser(role, { token: `static-${randomUUID()}` });
      const [row] = await project.rows('SELECT token FROM platform.platform_users WHERE id = $1', [user.id]);
      return String(row?.token);
    };
    const inviter = await tokenOf(await project.addRole('inviter'));
    const email = address();
    expect((await invite({ email, role: member }, inviter)).status).toBe(204);
    expect((await invite({ email, role: member }, inviter)).status).toBe(204);
    // Not visible, not there, and of administrators: all one answer.
    for (const role of [hidden, randomUUID(), admins]) {
      const other = address();
      expect(failure(await invite({ email: other, role }, inviter))).toBe('403 FORBIDDEN');
      expect(await userOf(other)).toBeUndefined();
    }
    const other = address();
    const refused = await invite({ email: other, role: elsewhere }, inviter);
    expect([failure(refused), refused.json.errors[0].extensions]).toMatchObject([
      '400 FAILED_VALIDATION',
      { collection: 'platform_users' },
    ]);
    expect(await userOf(other)).toBeUndefined();
    expect(failure(await invite({ email, role: elsewhere }, inviter))).toBe('400 FAILED_VALIDATION');
    expect(await userOf(email)).toMatchObject({ role: member });
    const administrator = address();
    await invite({ email: administrator, role: admins });
    expect(failure(await invite({ email: administrator, role: member }, inviter))).toBe('403 FORBIDDEN');
    expect(await userOf(administrator)).toMatchObject({ role: admins });
    for (const token of [await tokenOf(member), await tokenOf(null), await tokenOf(await project.addRole('half'))]) {
      expect(failure(await invite({ email: address(), role: member }, token))).toBe('403 FORBIDDEN');
    }
    expect(failure(await post('/users/invite', { email: address(), role: member }))).toBe('403 FORBIDDEN');
  });
});

describe('what an invitation writes', () => {
  it('is what the presets of the rules say, but for the status and the password', async () => {
    const role = await project.addRole('presetting');
    const user = await project.addUser(role);
    const { access_token: token } = await project.signIn(user);
    const email = `${randomUUID()}@example.com`;
    const answer = await post('/users/invite', { email, role: member }, token);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const [made] = await project.rows(
      'SELECT title, status, language, password FROM platform.platform_users WHERE email = $1',
      [email],
    );
    expect(made).toEqual({ title: user.id, status: 'invited', language: 'de-DE', password: null });
    await mail.to(email);
  });

  it('of any number at once for the same addresses, is one user each', { timeout: 600_000 }, async () => {
    for (let round = 0; round < rounds; round++) {
      const emails = Array.from({ length: 3 }, () => `${randomUUID()}@example.com`);
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, number) =>
          project.servers[number % 3]?.ask('/users/invite', {
            method: 'POST',
            token: adminToken,
            headers: { 'x-forwarded-for': `192.0.2.${number}` },
            body: { email: number % 2 === 0 ? emails : emails.toReversed(), role: member },
          }),
        ),
      );
      const statuses = answers.map((answer) => answer?.status);
      expect(statuses.filter((status) => status !== 204 && status !== 429)).toEqual([]);
      const made = await project.rows('SELECT email FROM platform.platform_users WHERE email = ANY ($1)', [emails]);
      expect(made).toHaveLength(3);
    }
  });
});

describe('activity', () => {
  // Databases write spaces into JSON, or leave them out.
  const historyOf = async (user: unknown): Promise<readonly unknown[]> => {
    const rows = await project.rows(
      `SELECT a.action, a."user", a.user_agent, r.data->>'status' AS status, r.delta::text AS delta
       FROM platform.platform_activity a LEFT JOIN platform.platform_revisions r ON r.activity = a.id
       WHERE a.collection = 'platform_users' AND a.item = $1 ORDER BY a.id`,
      [user],
    );
    return rows.map(({ delta, ...row }) => ({ ...row, delta: JSON.parse(String(delta)) }));
  };

  it('tells of invitations, of who accepts them, and of passwords that were reset', async () => {
    const email = `${randomUUID()}@example.com`;
    const by = await project.addUser(admins);
    const { access_token: token } = await project.signIn(by);
    const ask = { token, headers: { 'user-agent': 'inviter' } };
    for (const role of [hidden, member]) {
      expect((await project.post('/users/invite', { email, role }, ask)).status).toBe(204);
    }
    const [, last] = await mail.to(email, 2);
    const accepted = { token: tokenIn(last?.text), password: 'long enough' };
    expect((await project.post('/users/invite/accept', accepted, { headers: { 'user-agent': 'eve' } })).status).toBe(
      204,
    );
    const [user] = await project.rows('SELECT id, email FROM platform.platform_users WHERE email = $1', [email]);
    const id = String(user?.id);
    const reset = { token: tokenIn(await resetMail({ id, email, password: '' })), password: 'another one, longer' };
    expect((await project.post('/auth/password/reset', reset, { headers: { 'user-agent': 'eve' } })).status).toBe(204);
    expect(failure(await post('/auth/password/reset', reset))).toBe('403 INVALID_TOKEN');
    expect(await historyOf(id)).toEqual([
      {
        action: 'create',
        user: by.id,
        user_agent: 'inviter',
        status: 'invited',
        delta: expect.objectContaining({ email }),
      },
      { action: 'update', user: by.id, user_agent: 'inviter', status: 'invited', delta: { role: member } },
      { action: 'update', user: id, user_agent: 'eve', status: 'active', delta: { status: 'active' } },
      { action: 'update', user: id, user_agent: 'eve', status: 'active', delta: {} },
    ]);
    expect(await project.dump('platform_revisions')).not.toMatch(/argon2|long enough/);
  });

  it('tells nothing of an invitation that is refused', async () => {
    const count = async () => (await project.rows('SELECT count(*) FROM platform.platform_activity'))[0]?.count;
    const before = await count();
    expect((await post('/users/invite', { email: 'x@example.com', role: randomUUID() }, adminToken)).status).toBe(400);
    expect((await post('/users/invite/accept', { token: 'x', password: 'long enough' })).status).toBe(403);
    expect(await count()).toBe(before);
  });
});

describe('mail', () => {
  it('that is not taken waits and is sent later, by any process', async () => {
    const user = await project.addUser(member);
    mail.refuse('451 later');
    await post('/auth/password/request', { email: user.email });
    const waiting = () =>
      project.rows('SELECT attempts, last_error FROM platform.platform_mails WHERE recipient = $1', [user.email]);
    await expect.poll(waiting).toEqual([{ attempts: 1, last_error: expect.stringContaining('451') }]);
    mail.refuse(null);
    await project.rows('UPDATE platform.platform_mails SET due_at = now() WHERE recipient = $1', [user.email]);
    const other = await project.addUser(member);
    await project.servers[1]?.ask('/auth/password/request', { method: 'POST', body: { email: other.email } });
    const [late] = await mail.to(user.email);
    await expect.poll(waiting).toEqual([]);
    const answer = await post('/auth/password/reset', { token: tokenIn(late?.text), password: 'a new password' });
    expect(answer.status).toBe(204);
  });

  it.each([
    ['535 5.7.8 Sign in first', 'MAIL FROM', 'waits'],
    ['550 The sender is not allowed', 'MAIL FROM', 'waits'],
    ['554 5.7.1 <{}>: Relay access denied', 'RCPT TO', 'waits'],
    ['550 5.7.60 Not allowed to send as this sender', 'DATA', 'waits'],
    ['550 5.1.1 <{}>: No such mailbox', 'RCPT TO', 'is given up'],
    ['552 5.3.4 Too long', 'DATA', 'is given up'],
  ] as const)('that is refused by %j after %s %s, and no log names its recipient', async (answer, command, fate) => {
    const user = await project.addUser(member);
    const log = () => project.servers.map((server) => server.log()).join('');
    const waiting = () =>
      project.rows('SELECT last_error FROM platform.platform_mails WHERE recipient = $1', [user.email]);
    mail.refuse(answer.replace('{}', user.email), command);
    await post('/auth/password/request', { email: user.email });
    const text = answer.split(/\{\}|^\d+ /).at(-1) ?? '';
    await expect.poll(log).toContain(text);
    await expect.poll(waiting).toEqual(fate === 'waits' ? [{ last_error: expect.stringContaining(text) }] : []);
    mail.refuse(null);
    await project.rows('DELETE FROM platform.platform_mails WHERE recipient = $1', [user.email]);
    expect(log()).not.toContain(user.email);
  });

  it('says nothing to the log, and no token lies in the database', async () => {
    const user = await project.addUser(member);
    const token = tokenIn(await resetMail(user));
    const key: string = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).key;
    const dump = await project.dump(
      'platform_single_use_tokens',
      'platform_mails',
      'platform_users',
      'platform_activity',
    );
    for (const secret of [token, token.split('.')[2] ?? '', key]) {
      expect(dump).not.toContain(secret);
      for (const server of project.servers) expect(server.log()).not.toContain(secret);
    }
    for (const server of project.servers) expect(server.log()).not.toContain(user.email);
  });
});
