/** Second factors: set up, used, taken away. Source: API specification, section 3.4. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import { isOnMariadb } from '../support/contract-database.ts';
import { untilWaiting, whileHeld } from '../support/holding.ts';
import { otpOf } from '../support/otp.ts';
import { type Answer, adminToken } from '../support/platform.ts';
import { failure } from '../support/project.ts';

/** ATTACK_ROUNDS=50 is the proof; the everyday run looks whether it still holds. */
const rounds = Number(process.env.ATTACK_ROUNDS ?? 3);
const parallel = 20;

let project: AccountsProject;
let member: string;
beforeAll(async () => {
  project = await serveAccounts({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY, title text)',
    permissions: `
roles: { member: {}, guarded: {} }
permissions:
  public: { docs: { read: { fields: [id] } } }
  member: { docs: { read: { fields: [id, title] } } }
  guarded: { docs: { read: { fields: [id, title] } } }`,
    environment: {
      LOGIN_STALL_TIME: '0',
      LOG_LEVEL: 'trace',
      RATE_LIMITER_AUTH_ADDRESS_POINTS: '100000',
      RATE_LIMITER_AUTH_ACCOUNT_POINTS: '100000',
      RATE_LIMITER_AUTH_OTP_POINTS: '1000',
    },
    processes: 3,
  });
  await project.rows(`INSERT INTO platform.platform_settings (project_name) VALUES ('Tom & Söhne')`);
  member = await project.addRole('member');
});
afterAll(() => project?.close());

/** A user with a session, and with a second factor where one was set up. */
interface Someone extends TestUser {
  readonly token: string;
  readonly secret: string;
}

const ask = (path: string, token: string, body?: unknown, server = project.server): Promise<Answer> =>
  server.ask(`/users/me/tfa/${path}`, { method: 'POST', token, ...(body !== undefined && { body }) });

const logIn = (user: TestUser, otp?: unknown): Promise<Answer> =>
  project.post('/auth/login', { email: user.email, password: user.password, ...(otp !== undefined && { otp }) });

/** Somebody with a secret that waits to be confirmed. */
async function offered(role = member): Promise<Someone> {
  const user = await project.addUser(role);
  const { access_token: token } = await project.signIn(user);
  const answer = await ask('generate', token, { password: user.password });
  expect(answer.status).toBe(200);
  return { ...user, token, secret: answer.json.data.secret };
}

/** Somebody with a second factor whose one-time password of now is not used up yet. */
async function enabled(role = member): Promise<Someone> {
  const someone = await offered(role);
  const answer = await ask('enable', someone.token, { secret: someone.secret, otp: otpOf(someone.secret) });
  expect([answer.status, answer.text]).toEqual([204, '']);
  await project.rows('UPDATE platform.platform_tfa SET last_step = last_step - 3 WHERE "user" = $1', [someone.id]);
  return someone;
}

describe('generate', () => {
  it('gives a secret of 160 bits and its address for authenticators, which escapes what it names', async () => {
    const user = await project.addUser(member);
    const { access_token: token } = await project.signIn(user);
    const { json } = await ask('generate', token, { password: user.password });
    expect(json.data.secret).toMatch(/^[A-Z2-7]{32}$/);
    const issuer = encodeURIComponent('Tom & Söhne');
    expect(json.data.otpauth_url).toBe(
      `otpauth://totp/${issuer}:${encodeURIComponent(user.email)}?secret=${json.data.secret}&period=30&digits=6&algorithm=SHA1&issuer=${issuer}`,
    );
  });

  it('asks for the password', async () => {
    const user = await project.addUser(member);
    const { access_token: token } = await project.signIn(user);
    expect(failure(await ask('generate', token, { password: 'wrong' }))).toBe('401 INVALID_CREDENTIALS');
    for (const body of [undefined, {}, [], { password: 1 }]) {
      expect(failure(await ask('generate', token, body))).toBe('400 INVALID_PAYLOAD');
    }
    await project.rows('UPDATE platform.platform_users SET password = NULL WHERE id = $1', [user.id]);
    expect(failure(await ask('generate', token, { password: '' }))).toBe('401 INVALID_CREDENTIALS');
  });

  it('is nothing for nobody, and no second time once a factor is there', async () => {
    for (const path of ['generate', 'enable', 'disable', 'recovery-codes']) {
      expect(failure(await project.post(`/users/me/tfa/${path}`, {}))).toBe('401 INVALID_CREDENTIALS');
      expect(failure(await ask(path, adminToken, {}))).toBe('401 INVALID_CREDENTIALS');
    }
    const { token, password } = await enabled();
    expect(failure(await ask('generate', token, { password }))).toBe('400 INVALID_PAYLOAD');
  });
});

describe('enable', () => {
  it('makes sign-ins ask for one-time passwords, and ends the other sessions', async () => {
    const someone = await offered();
    const other = await project.signIn(someone);
    const { secret, token } = someone;
    expect((await ask('enable', token, { secret, otp: otpOf(secret) })).status).toBe(204);
    expect((await project.server.ask('/items/docs?fields=title', { token })).status).toBe(200);
    const gone = await project.server.ask('/items/docs', { token: other.access_token });
    expect(failure(gone)).toBe('401 INVALID_CREDENTIALS');
    expect(failure(await project.post('/auth/refresh', { refresh_token: other.refresh_token }))).toBe(
      '401 INVALID_CREDENTIALS',
    );
    expect(failure(await logIn(someone))).toBe('401 INVALID_OTP');
    expect((await logIn(someone, otpOf(secret, 1))).status).toBe(200);
    expect(
      failure(await project.post('/auth/login', { email: someone.email, password: 'wrong', otp: otpOf(secret, 1) })),
    ).toBe('401 INVALID_CREDENTIALS');
  });

  it('takes only the latest secret that was made for this user, for 10 minutes', async () => {
    const [one, two] = [await offered(), await offered()];
    const enable = (secret: string) => ask('enable', one.token, { secret, otp: otpOf(secret) });
    expect(failure(await enable(two.secret))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await enable('A'.repeat(32)))).toBe('400 INVALID_PAYLOAD');
    const again = await ask('generate', one.token, { password: one.password });
    expect(failure(await enable(one.secret))).toBe('400 INVALID_PAYLOAD');
    await project.rows(`UPDATE platform.platform_tfa SET pending_until = now() WHERE "user" = $1`, [one.id]);
    expect(failure(await enable(again.json.data.secret))).toBe('400 INVALID_PAYLOAD');
  });

  it('asks for a right one-time password, of now or a step beside', async () => {
    const { token, secret } = await offered();
    const enable = (otp: unknown) => ask('enable', token, { secret, otp });
    for (const otp of [undefined, null, 123456, ['123456'], { otp: '123456' }]) {
      expect(failure(await enable(otp))).toBe('400 INVALID_PAYLOAD');
    }
    const right = otpOf(secret);
    const full = [...right].map((digit) => String.fromCharCode(digit.charCodeAt(0) + 0xfee0)).join('');
    for (const otp of [
      '',
      ' ',
      right.slice(1),
      `${right} `,
      ` ${right}`,
      `${right}0`,
      full,
      otpOf(secret, 3),
      otpOf(secret, -3),
    ]) {
      expect(failure(await enable(otp))).toBe('401 INVALID_OTP');
    }
    expect((await enable(otpOf(secret, 1))).status).toBe(204);
  });

  it('of any number at once, succeeds once', { timeout: 600_000 }, async () => {
    for (let round = 0; round < rounds; round++) {
      const { token, secret } = await offered();
      const otp = otpOf(secret);
      const answers = await Promise.all(
        Array.from({ length: parallel }, (_, number) =>
          ask('enable', token, { secret, otp }, project.servers[number % 3]),
        ),
      );
      expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    }
  });
});

describe('a one-time password', () => {
  it('counts once, and closes all earlier steps, wherever it was used', async () => {
    const someone = await enabled();
    const { secret, token } = someone;
    // All of one moment, because the next step may begin meanwhile.
    const otps = [-1, 0, 1].map((steps) => otpOf(secret, steps));
    expect((await logIn(someone, otps[1])).status).toBe(200);
    expect(failure(await logIn(someone, otps[1]))).toBe('401 INVALID_OTP');
    expect((await logIn(someone, otps[2])).status).toBe(200);
    for (const otp of otps) {
      expect(failure(await logIn(someone, otp))).toBe('401 INVALID_OTP');
      expect(failure(await ask('disable', token, { otp }))).toBe('401 INVALID_OTP');
    }
  });

  it('that is wrong counts as a failure in a row, which a right password alone does not end', async () => {
    const someone = await enabled();
    const fail = async (times: number) => {
      for (let time = 0; time < times; time++) expect(failure(await logIn(someone, '000000'))).toBe('401 INVALID_OTP');
    };
    await fail(24);
    expect((await logIn(someone, otpOf(someone.secret))).status).toBe(200);
    await fail(24);
    expect(failure(await logIn(someone))).toBe('401 INVALID_OTP');
    await fail(1);
    expect(failure(await logIn(someone, otpOf(someone.secret, 1)))).toBe('429 REQUESTS_EXCEEDED');
  });

  it('that is right counts nothing where the sign-in is refused for another reason', async () => {
    const far = await project.addRole('member', { ip_access: '192.0.2.0/24' });
    const someone = await enabled();
    await project.rows('UPDATE platform.platform_users SET role = $2 WHERE id = $1', [someone.id, far]);
    await project.rows('DELETE FROM platform.platform_auth_attempts');
    expect(failure(await logIn(someone, otpOf(someone.secret)))).toBe('401 INVALID_IP');
    const counted = () => project.rows('SELECT FROM platform.platform_auth_attempts WHERE attempts > 0');
    expect(await counted()).toEqual([]);
    expect(failure(await logIn(someone, '000000'))).toBe('401 INVALID_OTP');
    expect(await counted()).not.toEqual([]);
  });

  it('of any number of sign-ins at once, opens one', { timeout: 600_000 }, async () => {
    for (let round = 0; round < rounds; round++) {
      const someone = await enabled();
      const otp = otpOf(someone.secret);
      const answers = await Promise.all(
        Array.from({ length: parallel }, (_, number) =>
          project.servers[number % 3]?.ask('/auth/login', {
            method: 'POST',
            body: { email: someone.email, password: someone.password, otp },
          }),
        ),
      );
      expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(1);
    }
  });
});

it('a one-time password that is used on several routes at once counts on one of them', {
  timeout: 600_000,
}, async () => {
  for (let round = 0; round < rounds; round++) {
    const someone = await enabled();
    const { token, email, password } = someone;
    const otp = otpOf(someone.secret);
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, number) => {
        const server = project.servers[number % 3];
        if (number % 2 === 0) return ask('recovery-codes', token, { otp }, server);
        return server?.ask('/auth/login', { method: 'POST', body: { email, password, otp } });
      }),
    );
    const won = answers.flatMap((answer, number) => ((answer?.status ?? 500) < 300 ? [number] : []));
    expect([won.length, answers.map((answer) => answer?.status).filter((status) => (status ?? 500) >= 500)]).toEqual([
      1,
      [],
    ]);
  }
});

describe('disable', () => {
  it('takes the factor away by a one-time password, and ends the other sessions', async () => {
    const someone = await enabled();
    const { token, secret } = someone;
    for (const body of [undefined, {}, { otp: 1 }])
      expect(failure(await ask('disable', token, body))).toBe('400 INVALID_PAYLOAD');
    expect(failure(await ask('disable', token, { otp: '000000' }))).toBe('401 INVALID_OTP');
    expect((await ask('disable', token, { otp: otpOf(secret) })).status).toBe(204);
    expect(failure(await ask('disable', token, { otp: otpOf(secret, 1) }))).toBe('400 INVALID_PAYLOAD');
    expect((await logIn(someone)).status).toBe(200);
    expect((await project.server.ask('/items/docs', { token })).status).toBe(200);
  });

  it('by an administrator needs none, and ends every session', async () => {
    const { id, token, email, password } = await enabled();
    const disable = (user: string, by?: string) =>
      project.post(`/users/${user}/tfa/disable`, undefined, by === undefined ? {} : { token: by });
    expect(failure(await disable(id, token))).toBe('403 FORBIDDEN');
    expect(failure(await disable(id))).toBe('401 INVALID_CREDENTIALS');
    for (const unknown of [randomUUID(), 'x', '%00'])
      expect(failure(await disable(unknown, adminToken))).toBe('403 FORBIDDEN');
    expect((await disable(id, adminToken)).status).toBe(204);
    expect(failure(await project.server.ask('/items/docs', { token }))).toBe('401 INVALID_CREDENTIALS');
    expect((await disable(id, adminToken)).status).toBe(204);
    expect((await project.post('/auth/login', { email, password })).status).toBe(200);
  });
});

it('activity tells who took a second factor, and who took it away', async () => {
  const someone = await enabled();
  const { id, token, secret } = someone;
  expect(failure(await ask('disable', token, { otp: '000000' }))).toBe('401 INVALID_OTP');
  expect((await ask('disable', token, { otp: otpOf(secret) })).status).toBe(204);
  const other = await enabled();
  for (let time = 0; time < 2; time++)
    await project.post(`/users/${other.id}/tfa/disable`, undefined, { token: adminToken });
  const told = (user: string) =>
    project.rows(
      `SELECT a."user", r.delta::text AS delta FROM platform.platform_activity a
       LEFT JOIN platform.platform_revisions r ON r.activity = a.id
       WHERE a.collection = 'platform_users' AND a.action = 'update' AND a.item = $1 ORDER BY a.id`,
      [user],
    );
  expect(await told(id)).toEqual([
    { user: id, delta: '{}' },
    { user: id, delta: '{}' },
  ]);
  expect(await told(other.id)).toEqual([
    { user: other.id, delta: '{}' },
    { user: null, delta: '{}' },
  ]);
});

describe('recovery codes', () => {
  it('stand in for a one-time password, each once', async () => {
    const someone = await enabled();
    const { token, secret } = someone;
    expect(failure(await ask('recovery-codes', token, { otp: '000000' }))).toBe('401 INVALID_OTP');
    const { json } = await ask('recovery-codes', token, { otp: otpOf(secret) });
    const codes: readonly string[] = json.data.recovery_codes;
    expect(new Set(codes).size).toBe(10);
    const [one = '', two = '', three = ''] = codes;
    expect((await logIn(someone, one)).status).toBe(200);
    expect(failure(await logIn(someone, one))).toBe('401 INVALID_OTP');
    expect((await logIn(someone, two.toUpperCase().replaceAll('-', ' '))).status).toBe(200);
    const renewed = await ask('recovery-codes', token, { otp: otpOf(secret, 1) });
    expect(failure(await logIn(someone, three))).toBe('401 INVALID_OTP');
    expect((await ask('disable', token, { otp: renewed.json.data.recovery_codes[0] })).status).toBe(204);
    const left = await project.rows('SELECT FROM platform.platform_recovery_codes WHERE "user" = $1', [someone.id]);
    expect(left).toEqual([]);
  });

  it('are ten, also when others are asked for at once, by a code and by a one-time password', async () => {
    const { id, token, secret } = await enabled();
    const { json } = await ask('recovery-codes', token, { otp: otpOf(secret) });
    const [code = '']: readonly string[] = json.data.recovery_codes;
    const all = `SELECT 1 FROM platform.platform_recovery_codes WHERE "user" = '${id}'`;
    const hash = createHash('sha256').update(code).digest('hex');
    const last = isOnMariadb() ? `X'${hash}'` : `'\\x${hash}'`;
    await project.rows(`DELETE FROM platform.platform_recovery_codes WHERE "user" = '${id}' AND hash <> ${last}`);
    const before = `SELECT 1 FROM platform.platform_users WHERE id = '${id}' FOR UPDATE`;
    const { url } = project.database;
    const answers = await whileHeld(url, { before, waiting: 2 }, async () => {
      const byCode = ask('recovery-codes', token, { otp: code });
      await untilWaiting(url, 1);
      return Promise.all([byCode, ask('recovery-codes', token, { otp: otpOf(secret, 1) })]);
    });
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await project.rows(all)).toHaveLength(10);
  });
});

it('a recovery code that is used by any number at once, opens one session', { timeout: 600_000 }, async () => {
  let codes: readonly string[] = [];
  let someone = await enabled();
  for (let round = 0; round < rounds; round++) {
    // The failures of a round are no row with those of the next.
    await project.rows('DELETE FROM platform.platform_auth_attempts');
    if (codes.length === 0) {
      someone = await enabled();
      const { json } = await ask('recovery-codes', someone.token, { otp: otpOf(someone.secret) });
      codes = json.data.recovery_codes;
    }
    const [otp, ...rest] = codes;
    codes = rest;
    const { email, password } = someone;
    const answers = await Promise.all(
      Array.from({ length: parallel }, (_, number) =>
        project.servers[number % 3]?.ask('/auth/login', { method: 'POST', body: { email, password, otp } }),
      ),
    );
    expect(answers.filter((answer) => answer?.status === 200)).toHaveLength(1);
  }
});

describe('a role that asks for a second factor', () => {
  it('opens nothing but setting one up', async () => {
    const guarded = await project.addRole('guarded', { enforce_tfa: true });
    const { token, secret } = await offered(guarded);
    expect(failure(await project.server.ask('/items/docs', { token }))).toBe('403 FORBIDDEN');
    expect((await project.server.ask('/users/me', { token })).status).toBe(200);
    expect((await ask('enable', token, { secret, otp: otpOf(secret) })).status).toBe(204);
    expect((await project.server.ask('/items/docs', { token })).status).toBe(200);
  });
});

it('no secret is in what the server tells or logs', async () => {
  const someone = await enabled();
  const { json } = await ask('recovery-codes', someone.token, { otp: otpOf(someone.secret) });
  const [code] = json.data.recovery_codes;
  const told = [
    await project.server.admin(`/users/${someone.id}?fields=*`),
    await project.server.admin('/users?fields=*&limit=-1'),
    await project.server.admin('/activity?limit=-1'),
  ].map(({ text }) => text);
  for (const server of project.servers) told.push(server.log());
  for (const text of told) for (const secret of [someone.secret, code, '$argon2']) expect(text).not.toContain(secret);
  expect(told[0]).toContain('"tfa_secret":"**********"');
});
