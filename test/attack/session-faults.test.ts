/**
 * Connections that break while somebody signs in or carries on: whoever gets tokens has a session, whoever gets none has
 * lost nothing. Source: reliability notes, R1 and R2.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FaultyPlatform, startFaulty } from '../support/faulty.ts';
import { type Answer, administrator } from '../support/platform.ts';

let served: FaultyPlatform;
beforeAll(async () => {
  served = await startFaulty('CREATE TABLE docs (id integer PRIMARY KEY)', {
    DATABASE_STATEMENT_TIMEOUT: '500ms',
    RATE_LIMITER_AUTH_ADDRESS_POINTS: '100000',
  });
});
afterAll(() => served?.close());

const post = (path: string, body: unknown): Promise<Answer> => served.platform().ask(path, { method: 'POST', body });
const login = () => post('/auth/login', administrator);
const refresh = (refresh_token: string) => post('/auth/refresh', { refresh_token });

async function sessions(): Promise<unknown> {
  const [row] = await served.rows('SELECT count(*)::int FROM platform.platform_sessions');
  return row?.[0];
}

/** Asks with the fault at every flight in turn, until one is asked that meets none. */
async function atEveryFlight(
  fault: 'cut' | 'swallow',
  ask: () => Promise<Answer>,
  judge: (answer: Answer) => Promise<void>,
): Promise<number> {
  for (let flight = 1; ; flight++) {
    served.proxy.armAt(fault, flight);
    const answer = await ask();
    const met = served.proxy.done() > 0;
    served.proxy.armAt('cut', Number.POSITIVE_INFINITY);
    expect([200, 503], answer.text).toContain(answer.status);
    await judge(answer);
    if (!met) return flight;
  }
}

it.each(['cut', 'swallow'] as const)(
  'signing in, %s at every flight',
  async (fault) => {
    let answered = 0;
    const ask = async (): Promise<Answer> => {
      await served.rows('TRUNCATE platform.platform_sessions CASCADE');
      return login();
    };
    const flights = await atEveryFlight(fault, ask, async ({ status, json }) => {
      expect([status, await sessions()]).toEqual([status, status === 200 ? 1 : 0]);
      if (status === 200) expect((await refresh(json.data.refresh_token)).status).toBe(200);
      answered += status === 200 ? 1 : 0;
    });
    expect(flights).toBeGreaterThan(2);
    expect(answered).toBeGreaterThan(0);
  },
  120_000,
);

it.each(['cut', 'swallow'] as const)(
  'carrying on, %s at every flight',
  async (fault) => {
    let token: string = (await login()).json.data.refresh_token;
    const flights = await atEveryFlight(
      fault,
      () => refresh(token),
      async ({ status, json }) => {
        const next = await refresh(status === 200 ? json.data.refresh_token : token);
        expect([status, next.status]).toEqual([status, 200]);
        token = next.json.data.refresh_token;
      },
    );
    expect(flights).toBeGreaterThan(2);
  },
  120_000,
);
