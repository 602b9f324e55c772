/**
 * Sessions under attack: the same refresh token from everywhere at once, over several processes, sign-ins beside changes
 * of the password, and what time and bytes tell of an account. ATTACK_ROUNDS says how often races are run.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type Tokens } from '../support/accounts.ts';
import { usualPasswords } from '../support/bundled.ts';
import { adminToken, type Platform } from '../support/platform.ts';
import { type AnswerTimes, alikeTimesOf, answerTimesOf, soon } from '../support/timing.ts';

const rounds = Number(process.env.ATTACK_ROUNDS ?? 3);
const parallel = 20;

let project: AccountsProject;
let role: string;
beforeAll(async () => {
  project = await serveAccounts({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
    permissions: 'roles: { member: {} }\npermissions: { member: { docs: { read: true } } }',
    processes: 3,
    environment: {
      ...usualPasswords,
      RATE_LIMITER_AUTH_ADDRESS_POINTS: '1000000',
      RATE_LIMITER_AUTH_ACCOUNT_POINTS: '1000000',
      DATABASE_POOL_MAX: '8',
      DATABASE_POOL_TIMEOUT: '20s',
    },
  });
  role = await project.addRole('member');
  await project.rows('INSERT INTO platform.platform_settings (auth_login_attempts) VALUES (NULL)');
});
afterAll(() => project?.close());

function serverOf(number: number): Platform {
  return project.servers[number % project.servers.length] ?? project.server;
}

const post = (server: Platform, path: string, body: unknown, token?: string) =>
  server.ask(path, { method: 'POST', body, ...(token !== undefined && { token }) });

describe('of any number of uses of a refresh token', () => {
  it('exactly one succeeds, whichever process is asked', async () => {
    let { refresh_token: token } = await project.signIn(await project.addUser(role));
    for (let round = 0; round < rounds; round++) {
      const used = token;
      const answers = await Promise.all(
        Array.from({ length: parallel }, (_, number) =>
          post(serverOf(number), '/auth/refresh', { refresh_token: used }),
        ),
      );
      const won = answers.filter(({ status }) => status === 200);
      expect([round, answers.map(({ status }) => status).sort()]).toEqual([
        round,
        [200, ...Array.from({ length: parallel - 1 }, () => 401)],
      ]);
      token = won[0]?.json.data.refresh_token;
    }
    const [row] = await project.rows(
      'SELECT count(*)::int AS all, count(*) FILTER (WHERE rotated_at IS NULL)::int AS unused FROM platform.platform_refresh_tokens',
    );
    expect(row).toEqual({ all: rounds + 1, unused: 1 });
  }, 300_000);
});

describe('a session that was made before a change does not outlive it', () => {
  it.each<[string, (user: string, tokens: Tokens) => Promise<unknown>]>([
    [
      'of the password',
      (user) =>
        serverOf(1).ask(`/users/${user}`, {
          method: 'PATCH',
          token: adminToken,
          body: { password: 'another password' },
        }),
    ],
    [
      'of signing out everywhere',
      (_user, { refresh_token }) => post(serverOf(1), '/auth/logout', { refresh_token, all: true }),
    ],
  ])(
    '%s',
    async (_what, change) => {
      for (let round = 0; round < rounds; round++) {
        const user = await project.addUser(role);
        const first = await project.signIn(user);
        const second = await project.signIn(user);
        const body = { email: user.email, password: user.password };
        const [login, refresh] = await Promise.all([
          post(serverOf(0), '/auth/login', body),
          post(serverOf(2), '/auth/refresh', { refresh_token: second.refresh_token }),
          change(user.id, first),
        ]);
        // Whoever came after the change may be signed in; then the session is of the new version.
        const left = await project.rows(
          `SELECT s.security_version AS has, u.security_version AS wants FROM platform.platform_sessions s
         JOIN platform.platform_users u ON u.id = s."user" WHERE u.id = $1`,
          [user.id],
        );
        for (const { has, wants } of left) expect(has).toBe(wants);
        expect([200, 401]).toContain(login.status);
        expect([200, 401]).toContain(refresh.status);
      }
    },
    300_000,
  );
});

it('signing out is seen by every process within five seconds', async () => {
  const tokens = await project.signIn(await project.addUser(role));
  const status = async (server: Platform): Promise<number> =>
    (await server.ask('/items/docs', { token: tokens.access_token })).status;
  for (const server of project.servers) expect(await status(server)).toBe(200);
  await post(project.server, '/auth/logout', { refresh_token: tokens.refresh_token });
  expect(await status(project.server)).toBe(401);
  const end = performance.now() + 5_000;
  for (const server of project.servers) {
    await soon(() => status(server), 401, end - performance.now());
  }
});

it('whether an account exists is told neither by bytes nor by time', async () => {
  const user = await project.addUser(role);
  const samples = Number(process.env.ATTACK_SAMPLES ?? 40);
  const texts = new Set<string>();
  // Without LOGIN_STALL_TIME, which hides the rest; hashing alone takes tens of milliseconds.
  const alike = ({ known, unknown }: AnswerTimes): boolean => Math.abs(known - unknown) < Math.max(10, unknown * 0.5);
  const ask = async (kind: 'known' | 'unknown'): Promise<void> => {
    // One address each: a counter that was there before costs another time than a new one.
    const email = kind === 'known' ? user.email : `no-${user.email}`;
    const answer = await post(project.server, '/auth/login', { email, password: 'wrong' });
    texts.add(`${answer.status} ${answer.text}`);
  };
  const times = await alikeTimesOf(() => answerTimesOf(samples, ask), alike);
  console.info('sign-in refused, ms:', times);
  expect(texts.size).toBe(1);
  expect(times).toSatisfy(alike);
}, 120_000);
