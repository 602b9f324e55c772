/**
 * Limits of requests that two processes share by Redis, what they tell each other by it, and what they do without it. Source:
 * API specification, section 16; scale-out notes, section 9.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser, type Tokens } from '../support/accounts.ts';
import type { Answer, Platform } from '../support/platform.ts';
import { type RedisServer, startRedis, withoutRedis } from '../support/redis.ts';

const points = 10;

describe.skipIf(withoutRedis !== '')(`two processes with one Redis${withoutRedis}`, () => {
  let redis: RedisServer;
  let project: AccountsProject;
  beforeAll(async () => {
    redis = await startRedis();
    project = await serveAccounts({
      sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
      permissions: 'permissions: { public: { docs: { read: true } } }',
      environment: {
        REDIS: redis.url,
        RATE_LIMITER_ENABLED: 'true',
        RATE_LIMITER_POINTS: String(points),
        RATE_LIMITER_DURATION: '1h',
        RATE_LIMITER_GLOBAL_ENABLED: 'true',
        RATE_LIMITER_GLOBAL_POINTS: '100000',
        IP_TRUST_PROXY: '127.0.0.1',
        LOG_LEVEL: 'info',
        // Where other tests run, requests that come at once wait longer for connections.
        DATABASE_POOL_TIMEOUT: '30s',
      },
      processes: 2,
    });
  });
  afterAll(async () => {
    await project?.close();
    await redis?.stop();
  });

  let clients = 0;
  const newClient = (): string => `198.18.${++clients >> 8}.${clients % 256}`;
  const serverOf = (number: number): Platform => project.servers[number % 2] ?? project.server;
  const ask = async (number: number, from: string): Promise<number> => {
    const answer = await serverOf(number).ask('/items/docs', { headers: { 'x-forwarded-for': from } });
    if (answer.status === 429) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_000);
    return answer.status;
  };
  const admitted = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;
  const inTurn = async (count: number, from: string): Promise<readonly number[]> => {
    const statuses: number[] = [];
    for (let number = 0; number < count; number++) statuses.push(await ask(number, from));
    return statuses;
  };
  const linesOf = (server: Platform, text: string): number => server.log().split(text).length - 1;
  const linesOfAll = (text: string): readonly number[] => project.servers.map((server) => linesOf(server, text));
  const untilTogether = () =>
    expect.poll(async () => admitted(await inTurn(2 * points, newClient())), { timeout: 20_000 }).toBe(points);
  /**
   * Where a busy machine keeps an answer of Redis for longer than a request waits, that process counts on its own, and says
   * so. Then it is asked again.
   */
  const whileThere = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    for (let tries = 1; ; tries += 1) {
      const before = linesOfAll('Redis does not answer');
      const result = await work();
      if (tries === 5 || String(linesOfAll('Redis does not answer')) === String(before)) return result;
      await untilTogether();
    }
  };

  it('answer a client so many requests together, also when they come at once', async () => {
    const statuses = await whileThere(() => inTurn(points + 4, newClient()));
    expect(statuses).toEqual([...Array.from({ length: points }, () => 200), 429, 429, 429, 429]);
    for (let round = 0; round < 5; round++) {
      const burst = await whileThere(() => {
        const from = newClient();
        return Promise.all(Array.from({ length: 3 * points }, (_, number) => ask(number, from)));
      });
      expect([admitted(burst), new Set(burst)]).toEqual([points, new Set([200, 429])]);
    }
    expect(await inTurn(1, newClient())).toEqual([200]);
  });

  /** A process reads the user of a token again after four seconds: it sees a change no sooner, unless it is told. */
  const keptMs = 4_000;
  const post = (path: string, body: unknown): Promise<Answer> =>
    project.post(path, body, { headers: { 'x-forwarded-for': newClient() } });
  const signIn = async ({ email, password }: TestUser): Promise<Tokens> =>
    (await post('/auth/login', { email, password })).json.data;
  const statusOf = async (token: string, number = 1): Promise<number> =>
    (await serverOf(number).ask('/users/me?fields=id', { token, headers: { 'x-forwarded-for': newClient() } })).status;

  it('tell each other of sessions that have ended, and of users that have changed', { timeout: 60_000 }, async () => {
    const user = await project.addUser(await project.addRole('told'));
    const untilRefused = async (token: string): Promise<void> => {
      while ((await statusOf(token)) === 200) await sleep(5);
    };
    const ends: readonly ((tokens: Tokens) => Promise<Answer>)[] = [
      ({ refresh_token }) => post('/auth/logout', { refresh_token }),
      () =>
        project.server.admin(`/users/${user.id}`, {
          ...{ method: 'PATCH', body: { status: 'suspended' }, headers: { 'x-forwarded-for': newClient() } },
        }),
    ];
    let told = 0;
    for (const end of ends) {
      let ms = keptMs;
      // A machine that is busy beyond measure may be late by itself; a process that is not told is late each time.
      for (let tries = 0; tries < 3 && ms >= keptMs; tries++) {
        await project.rows(`UPDATE platform.platform_users SET status = 'active' WHERE id = '${user.id}'`);
        const tokens = await signIn(user);
        const beforeRead = performance.now();
        expect(await statusOf(tokens.access_token)).toBe(200);
        expect((await end(tokens)).status).toBeLessThan(300);
        told += 1;
        await untilRefused(tokens.access_token);
        ms = performance.now() - beforeRead;
      }
      expect(ms).toBeLessThan(keptMs);
    }
    expect(await redis.calls('publish')).toBeGreaterThanOrEqual(told);
  });

  it('count on their own while Redis does not answer, without waiting for it again and again', async () => {
    const lines = { away: linesOfAll('Redis does not answer'), back: linesOfAll('Redis answers again') };
    const oneMore = (counts: readonly number[]): readonly number[] => counts.map((count) => count + 1);
    const before = await redis.calls('eval');
    redis.freeze();
    const from = newClient();
    const start = performance.now();
    const statuses = await inTurn(4 * points, from);
    const took = performance.now() - start;
    redis.thaw();
    expect(admitted(statuses)).toBe(2 * points);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    // One request of each process waits, and then one each second: as many as it finds when it is thawed.
    const waited = (await redis.calls('eval')) - before;
    expect(waited).toBeGreaterThanOrEqual(2);
    expect(waited).toBeLessThanOrEqual(2 * (1 + Math.ceil(took / 1_000)));
    expect(took).toBeLessThan(10_000);
    expect(linesOfAll('Redis does not answer')).toEqual(oneMore(lines.away));
    await untilTogether();
    expect(linesOfAll('Redis answers again')).toEqual(oneMore(lines.back));
  });

  it('go on when Redis is gone, and count together again when it is back', { timeout: 60_000 }, async () => {
    const port = Number(new URL(redis.url).port);
    const from = newClient();
    const before = linesOfAll('Redis does not answer');
    await redis.stop();
    expect(admitted(await inTurn(4 * points, from))).toBe(2 * points);
    for (const [place, server] of project.servers.entries()) {
      expect(linesOf(server, 'Redis does not answer')).toBe((before[place] ?? 0) + 1);
    }
    const user = await project.addUser(await project.addRole('untold'));
    const { access_token, refresh_token } = await signIn(user);
    expect(await statusOf(access_token)).toBe(200);
    expect((await post('/auth/logout', { refresh_token })).status).toBe(204);
    expect(await statusOf(access_token, 0)).not.toBe(200);
    await expect.poll(() => statusOf(access_token), { timeout: 20_000 }).not.toBe(200);
    expect(linesOfAll('Redis carries no notices')).toEqual([1, 1]);
    redis = await startRedis(port);
    await untilTogether();
    await expect.poll(() => linesOfAll('Redis carries notices again'), { timeout: 20_000 }).toEqual([1, 1]);
  });
});
