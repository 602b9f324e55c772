/** Sessions of the client library over a real server. Source: API specification, sections 2 and 15. */
import {
  type Client,
  type ClientOptions,
  createClient,
  type Fetch,
  type StorageLike,
  type User,
} from '@tablewright/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser } from '../support/accounts.ts';
import { createCookieJar } from '../support/cookie-jar.ts';

/** Milliseconds that access tokens live here. */
const lifetime = 2000;

let project: AccountsProject;
let user: TestUser;
let sent: string[];
beforeAll(async () => {
  project = await serveAccounts({
    sql: `CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs VALUES (1, 'one')`,
    permissions: `
roles: { member: {} }
permissions:
  member: { docs: { read: { fields: ['*'] } }, platform_users: { read: { fields: [id, email] } } }`,
    environment: { ACCESS_TOKEN_TTL: `${lifetime}ms`, RATE_LIMITER_AUTH_ADDRESS_POINTS: '100000' },
  });
  user = await project.addUser(await project.addRole('member'));
});
afterAll(() => project?.close());
beforeEach(() => {
  sent = [];
});

interface Schema {
  readonly docs: { readonly id: number; readonly title: string };
}

/** A fetch that notes method and path. */
const noting =
  (inner: Fetch): Fetch =>
  (url, init) => {
    sent.push(`${init.method} ${new URL(url).pathname}`);
    return inner(url, init);
  };

const client = (init: ClientOptions = {}, inner: Fetch = fetch): Client<Schema> =>
  createClient<Schema>(project.server.url, { ...init, transport: { ...init.transport, fetch: noting(inner) } });

const refreshes = (): number => sent.filter((line) => line === 'POST /auth/refresh').length;
// The end of a token is a whole second, rounded up.
const outliveToken = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, lifetime + 1100));

function shelf(): StorageLike & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}

describe('json mode', () => {
  it('keeps tokens under their names, with the prefix, and removes them at the end', async () => {
    const mode = shelf();
    const own = client({ storage: { mode, prefix: 'app_' } });
    const tokens = await own.auth.login(user);
    expect([...mode.values.keys()].sort()).toEqual(
      ['auth_expires', 'auth_expires_at', 'auth_refresh_token', 'auth_token'].map((name) => `app_${name}`),
    );
    expect(mode.values.get('app_auth_refresh_token')).toBe(tokens.refresh_token);
    expect(tokens.expires).toBe(lifetime);
    await own.auth.logout();
    expect([...mode.values]).toEqual([]);
    await expect(own.items('docs').readOne(1)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const { status } = await project.post('/auth/refresh', { refresh_token: tokens.refresh_token });
    expect(status).toBe(401);
  });

  it('goes on with what another client has kept', async () => {
    const mode = shelf();
    await client({ storage: { mode } }).auth.login(user);
    expect((await client({ storage: { mode } }).users.me.read()).id).toBe(user.id);
    await expect(client().users.me.read()).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  });

  it.each([
    ['before the requests, by the clock', { msRefreshBeforeExpires: 1000 }],
    ['when the server says so', { msRefreshBeforeExpires: -1_000_000 }],
  ])('refreshes once for twenty requests at expiry: %s', async (_, auth) => {
    const own = client({ auth });
    const before = await own.auth.login(user);
    await outliveToken();
    const read = await Promise.all(Array.from({ length: 20 }, () => own.items('docs').readByQuery()));
    expect(read.map(({ data }) => data[0]?.title)).toEqual(Array(20).fill('one'));
    expect(refreshes()).toBe(1);
    expect(await own.auth.token).not.toBe(before.access_token);
    // And again with the refresh token of that.
    await outliveToken();
    expect((await own.items('docs').readOne(1)).title).toBe('one');
    expect(refreshes()).toBe(2);
  });

  it('refreshes a token that the server calls outdated before its time, once', async () => {
    const mode = shelf();
    const own = client({ storage: { mode } });
    await own.auth.login(user);
    mode.setItem('auth_expires_at', String(Date.now() + 3_600_000));
    await outliveToken();
    const read = () => own.items('docs').readOne(1);
    expect(await Promise.all([read(), read()])).toMatchObject([{ id: 1 }, { id: 1 }]);
    expect(refreshes()).toBe(1);
  });

  it('does not refresh a token that lives long enough, and none where it is told not to', async () => {
    for (let tries = 1; ; tries++) {
      const own = client({ auth: { msRefreshBeforeExpires: 100 } });
      const start = performance.now();
      await own.auth.login(user);
      await Promise.all([own.items('docs').readOne(1), own.items('docs').readOne(1)]);
      // On a machine that is busy beyond measure the token may end before it is used.
      if (performance.now() - start < lifetime - 200 || tries === 10) break;
      sent.length = 0;
    }
    const idle = client({ auth: { autoRefresh: false } });
    await idle.auth.login(user);
    await outliveToken();
    await expect(idle.items('docs').readOne(1)).rejects.toMatchObject({ code: 'TOKEN_EXPIRED', status: 401 });
    expect(refreshes()).toBe(0);
  });

  it('rejects every waiting request when the refresh fails, and asks once', async () => {
    const own = client();
    const { refresh_token } = await own.auth.login(user);
    await project.post('/auth/logout', { refresh_token });
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => own.items('docs').readOne(1)));
    expect(new Set(results.map((one) => one.status === 'rejected' && one.reason))).toHaveProperty('size', 1);
    expect(results[0]).toMatchObject({ reason: { code: 'INVALID_CREDENTIALS' } });
    expect(sent).toEqual(['POST /auth/login', 'POST /auth/refresh']);
    // The session is over: the next request is anonymous.
    await expect(own.items('docs').readOne(1)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(refreshes()).toBe(1);
  });

  it('keeps the session when the server could not be asked', async () => {
    let isAway = false;
    const own = client({}, (url, init) => (isAway ? Promise.reject(new TypeError('away')) : fetch(url, init)));
    await own.auth.login(user);
    isAway = true;
    await expect(own.items('docs').readOne(1)).rejects.toThrow('away');
    isAway = false;
    expect((await own.items('docs').readOne(1)).title).toBe('one');
  });

  it('goes on with a token that has not ended where the server cannot refresh it', async () => {
    const own = client({ storage: { mode: shelf() } }, async (url, init) =>
      url.endsWith('/auth/refresh') ? Response.json({ errors: [] }, { status: 503 }) : fetch(url, init),
    );
    await own.auth.login(user);
    expect((await own.items('docs').readOne(1)).title).toBe('one');
    expect(refreshes()).toBe(1);
    await outliveToken();
    await expect(own.items('docs').readOne(1)).rejects.toMatchObject({ status: 503 });
  });

  it('lets one request give up the wait for a refresh, and the others go on', async () => {
    const own = client({}, async (url, init) => {
      if (url.endsWith('/auth/refresh')) await new Promise((resolve) => setTimeout(resolve, 200));
      return fetch(url, init);
    });
    await own.auth.login(user);
    const patient = own.items('docs').readOne(1);
    const impatient = own.items('docs').readOne(1, {}, { signal: AbortSignal.timeout(50) });
    await expect(impatient).rejects.toMatchObject({ name: 'TimeoutError' });
    expect((await patient).title).toBe('one');
    expect(refreshes()).toBe(1);
  });

  it('lets several clients over one storage refresh one after the other', async () => {
    const storage = { mode: shelf() };
    const [one, two] = [client({ storage }), client({ storage })];
    await one.auth.login(user);
    await outliveToken();
    await Promise.all([one, two, one, two].map((own) => own.items('docs').readOne(1)));
    expect((await two.users.me.read()).id).toBe(user.id);
  });

  it('does not wait for the refresh of a user whose tokens another storage has', async () => {
    const waiting = new Promise<Response>(() => undefined);
    const isRefresh = (url: string): boolean => url.endsWith('/auth/refresh');
    const stuck = client({ storage: { mode: shelf() } }, (url, init) => (isRefresh(url) ? waiting : fetch(url, init)));
    const other = client({ storage: { mode: shelf() } });
    await Promise.all([stuck, other].map((own) => own.auth.login(user)));
    await outliveToken();
    const unanswered = stuck.items('docs').readOne(1, {}, { signal: AbortSignal.timeout(5000) });
    const ends = expect(unanswered).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await other.items('docs').readOne(1, {}, { signal: AbortSignal.timeout(4000) })).toMatchObject({ id: 1 });
    await ends;
  }, 20_000);

  it.each(['json', 'cookie'] as const)('lets clients that take no turns refresh at once: %s', async (kind) => {
    const [jar, mode] = [createCookieJar(), shelf()];
    const send: Fetch = (url, init) => (kind === 'cookie' ? jar.fetch(url, init) : fetch(url, init));
    // Turns are those of an address.
    const [one, two] = ['', '/'].map((end) =>
      createClient<Schema>(project.server.url + end, {
        auth: { mode: kind },
        storage: { mode },
        transport: { fetch: noting(send) },
      }),
    );
    await one?.auth.login(user);
    await outliveToken();
    await Promise.all([one, two].map((own) => own?.items('docs').readOne(1)));
    expect(refreshes()).toBeGreaterThan(1);
    expect((await two?.users.me.read())?.id).toBe(user.id);
    expect((await one?.users.me.read())?.id).toBe(user.id);
  });

  it('does not bring back an old session when somebody else signs in meanwhile', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const own = client({ auth: { msRefreshBeforeExpires: 0 } }, async (url, init) => {
      const response = await fetch(url, init);
      if (url.endsWith('/auth/refresh')) await held;
      return response;
    });
    await own.auth.login(user);
    const refreshing = own.auth.refresh();
    const other = await project.addUser(await project.addRole('member'));
    await own.auth.login(other);
    release();
    await refreshing;
    expect((await own.users.me.read()).id).toBe(other.id);
  });

  it('does not bring back a session that another tab has ended, or replaced, meanwhile', async () => {
    for (const replaces of [false, true]) {
      const held = Promise.withResolvers<void>();
      const answered = Promise.withResolvers<void>();
      const storage = { mode: shelf() };
      const tab = client({ storage }, async (url, init) => {
        const response = await fetch(url, init);
        if (!url.endsWith('/auth/refresh')) return response;
        answered.resolve();
        await held.promise;
        return response;
      });
      const other = client({ storage });
      await tab.auth.login(user);
      const refreshing = tab.auth.refresh();
      await answered.promise;
      const next = await project.addUser(await project.addRole('member'));
      await (replaces ? other.auth.login(next) : other.auth.logout());
      held.resolve();
      await refreshing;
      if (replaces) expect((await other.users.me.read()).id).toBe(next.id);
      else expect([...storage.mode.values]).toEqual([]);
    }
  });

  it('goes on where a proxy refuses to refresh', async () => {
    let isBlocked = false;
    const own = client({}, async (url, init) =>
      isBlocked && url.endsWith('/auth/refresh') ? new Response('<h1>Blocked</h1>', { status: 403 }) : fetch(url, init),
    );
    await own.auth.login(user);
    isBlocked = true;
    expect((await own.items('docs').readOne(1)).title).toBe('one');
    await outliveToken();
    await expect(own.items('docs').readOne(1)).rejects.toMatchObject({ status: 403, code: null });
    isBlocked = false;
    expect((await own.items('docs').readOne(1)).title).toBe('one');
  });

  it('asks nobody at the end when there is no session', async () => {
    await client().auth.logout();
    expect(sent).toEqual([]);
  });
});

describe('cookie mode', () => {
  it('shows no refresh token to the client, refreshes by the cookie, and ends it', async () => {
    const jar = createCookieJar();
    const mode = shelf();
    const own = client({ auth: { mode: 'cookie', msRefreshBeforeExpires: 500 }, storage: { mode } }, jar.fetch);
    expect(Object.keys(await own.auth.login(user)).sort()).toEqual(['access_token', 'expires']);
    expect([...mode.values.keys()].sort()).toEqual(['auth_expires', 'auth_expires_at', 'auth_token']);
    const first = jar.cookies.get('platform_refresh_token');
    await outliveToken();
    await Promise.all(Array.from({ length: 20 }, () => own.items('docs').readOne(1)));
    expect(refreshes()).toBe(1);
    const second = jar.cookies.get('platform_refresh_token');
    expect([typeof first, typeof second, first === second]).toEqual(['string', 'string', false]);
    // A page that was loaded anew has the cookie only.
    const reloaded = client({ auth: { mode: 'cookie' } }, jar.fetch);
    await reloaded.auth.refresh();
    expect((await reloaded.users.me.read()).id).toBe(user.id);
    await reloaded.auth.logout();
    expect(jar.cookies.size).toBe(0);
  });

  it('ends what another tab has ended', async () => {
    const jar = createCookieJar();
    const mode = shelf();
    const [one, two] = Array.from({ length: 2 }, () =>
      client({ auth: { mode: 'cookie' }, storage: { mode } }, jar.fetch),
    );
    await one?.auth.login(user);
    await one?.auth.logout();
    await two?.auth.logout({ all: true });
    expect([mode.values.size, sent]).toEqual([0, ['POST /auth/login', 'POST /auth/logout', 'POST /auth/logout']]);
    const away = client({ auth: { mode: 'cookie' } }, () => Promise.reject(new TypeError('away')));
    await expect(away.auth.logout()).rejects.toThrow('away');
  });
});

describe('static tokens', () => {
  it('are used from the start or later, and never refreshed', async () => {
    const program: TestUser = await project.addUser(await project.addRole('member'), { token: 'token-of-a-program' });
    const own = client({ auth: { staticToken: 'token-of-a-program' } });
    const me: User = await own.users.me.read({ fields: ['id', 'email'] });
    expect(me).toEqual({ id: program.id, email: program.email });
    const later = client();
    await later.auth.static('token-of-a-program');
    expect((await later.items('docs').readOne(1)).title).toBe('one');
    await later.auth.logout();
    await expect(later.items('docs').readOne(1)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await expect(
      client({ auth: { staticToken: 'unknown' } })
        .items('docs')
        .readOne(1),
    ).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
      status: 401,
    });
    expect(refreshes()).toBe(0);
  });
});

it('signing in with a wrong password rejects, and leaves everything as it was', async () => {
  const own = client();
  await expect(own.auth.login({ ...user, password: 'wrong' })).rejects.toMatchObject({ code: 'INVALID_CREDENTIALS' });
  expect(await own.auth.token).toBe(null);
});
