/** What must not work on the way to an identity provider and back. Source: cases D01 to D08 of the security specification. */
import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTokens } from '../../packages/runtime/src/auth/sessions/tokens.ts';
import { makeState, secretsOf, signState } from '../../packages/runtime/src/auth/sso/state.ts';
import { openBrowser, partsOf, publicUrl, type TokenParts } from '../support/identity-provider.ts';
import { secret } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { allowedPage, type SsoProject, serveSso, verdict } from '../support/single-sign-on.ts';

const mute = createServer();
const closed = createServer();
/** Answers, but is no provider. */
const odd = createHttpServer((_, response) => response.writeHead(404).end());
let sso: SsoProject;
beforeAll(async () => {
  const [mutePort, closedPort, oddPort] = await Promise.all([mute, closed, odd].map(listen));
  closed.close();
  sso = await serveSso(
    {
      AUTH_PROVIDERS: 'corp, plain, closed, gone, away, mute, odd',
      ...absentProvider('ODD', `http://127.0.0.1:${oddPort}`),
      ...absentProvider('GONE', `http://127.0.0.1:${closedPort}`),
      ...absentProvider('AWAY', `http://127.0.0.1:${closedPort}`),
      AUTH_AWAY_REDIRECT_ALLOW_LIST: allowedPage,
      ...absentProvider('MUTE', `http://127.0.0.1:${mutePort}`),
      LOG_LEVEL: 'debug',
    },
    3,
  );
});
afterEach(() => {
  sso.provider.tamper(null);
  for (const path of ['/token', '/me', '/jwks']) sso.provider.distort(path, null);
  sso.provider.fail(null);
});
afterAll(async () => {
  mute.close();
  odd.close();
  await sso?.close();
});

async function listen(server: Server): Promise<number | undefined> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

function absentProvider(name: string, issuer: string): Readonly<Record<string, string>> {
  const driver = { [`AUTH_${name}_DRIVER`]: 'openid', [`AUTH_${name}_ISSUER_URL`]: issuer };
  return { ...driver, [`AUTH_${name}_CLIENT_ID`]: 'x', [`AUTH_${name}_CLIENT_SECRET`]: 'x' };
}

const cookieName = 'platform_oauth_state_corp';

/** Somebody who is about to come back from a provider. */
async function comeBack(name = 'corp', login = sso.newcomer(), query = '') {
  const browser = openBrowser();
  const start = `${sso.project.server.url}/auth/login/${name}${query}`;
  return { browser, login, back: sso.here(await browser.signIn(start, login)) };
}

describe('a provider that does not answer', () => {
  it('stops nobody but who wants to go there, and is asked again', async () => {
    const start = `${sso.project.server.url}/auth/login/corp`;
    sso.provider.fail(503);
    const answer = await sso.project.server.ask('/auth/login/corp');
    expect(failure(answer)).toBe('503 SERVICE_UNAVAILABLE');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(answer.headers.getSetCookie()).toEqual([]);
    sso.provider.fail(404);
    expect(verdict(await openBrowser().ask(start))).toBe('503 SERVICE_UNAVAILABLE');
    sso.provider.fail(null);
    expect((await openBrowser().ask(start)).status).toBe(302);
    const described = sso.provider.asked.filter((path) => path.endsWith('/openid-configuration')).length;
    expect((await openBrowser().ask(start)).status).toBe(302);
    expect(sso.provider.asked.filter((path) => path.endsWith('/openid-configuration'))).toHaveLength(described);
  });

  it('or that is not there, or says nothing', async () => {
    expect(failure(await sso.project.server.ask('/auth/login/gone'))).toBe('503 SERVICE_UNAVAILABLE');
    expect(failure(await sso.project.server.ask('/auth/login/odd'))).toBe('503 SERVICE_UNAVAILABLE');
    await expect.poll(() => sso.project.server.log()).toContain('The issuer does not describe itself below ISSUER_URL');
    const begun = performance.now();
    expect(failure(await sso.project.server.ask('/auth/login/mute'))).toBe('503 SERVICE_UNAVAILABLE');
    expect(performance.now() - begun).toBeLessThan(20_000);
  });

  it('tells the page that was to come afterwards, which no sign-in is begun for', async () => {
    const page = `${allowedPage}?a=1&reason=none`;
    const { status, location, headers, text } = await openBrowser().ask(
      `${sso.project.server.url}/auth/login/away?redirect=${encodeURIComponent(page)}`,
    );
    expect([status, location?.href, text]).toEqual([302, `${allowedPage}?a=1&reason=SERVICE_UNAVAILABLE`, '']);
    expect(headers.getSetCookie()).toEqual([]);
    expect(headers.get('cache-control')).toBe('no-store');
    const told = sso.project.server.log().split('\n');
    expect(told.filter((line) => line.includes('"provider":"away"')).join()).toContain('could not be asked');
  });

  it.each([500, 503, 429, 404])('with %d after the way back', async (status) => {
    for (const name of ['corp', 'plain']) {
      const { browser, back } = await comeBack(name);
      sso.provider.fail(status);
      const page = await browser.ask(back);
      expect([name, verdict(page)]).toEqual([name, '503 SERVICE_UNAVAILABLE']);
      sso.provider.fail(null);
      const other = await comeBack(name, sso.newcomer(), `?redirect=${allowedPage}`);
      sso.provider.fail(status);
      expect((await other.browser.ask(other.back)).location?.href).toBe(`${allowedPage}?reason=SERVICE_UNAVAILABLE`);
      sso.provider.fail(null);
    }
  });
});

describe('an answer that makes no sense', () => {
  const answers = ['[]', '5', 'null', '"text"', '{}', '{"access_token":1,"token_type":"Bearer"}'];

  it.each([
    ...answers.map((text) => ['corp', '/token', text]),
    ...answers.map((text) => ['plain', '/token', text]),
    ['plain', '/token', '{"access_token":"x","token_type":"strange"}'],
    ['plain', '/token', '{"access_token":"x","token_type":"Bearer","expires_in":"soon"}'],
    ...['[]', '{}', '{"sub":5}', 'no JSON'].map((text) => ['corp', '/me', text]),
    ...['[]', 'no JSON'].map((text) => ['plain', '/me', text]),
  ])('of %s at %s: %s', async (name, path, text) => {
    const { browser, back } = await comeBack(name);
    sso.provider.distort(path, text);
    expect(verdict(await browser.ask(back))).toBe('503 SERVICE_UNAVAILABLE');
  });
});

describe('D01: where people are sent on to', () => {
  const strangers = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https://app.example.com@evil.example/signed-in',
    'https://app.example.com.evil.example/signed-in',
    'https://app.example.com:8443/signed-in',
    'http://app.example.com/signed-in',
    'https://app.example.com/',
    'https://app.example.com/signed-in-not',
    'https://app.example.com/signed-in/../other',
    'https://app.example.com/signed-in/%2e%2e/other',
    'https://app.example.com/signed-in%2f..%2f..%2fother',
    'https://app.example.com\\@evil.example/signed-in',
    'https://app.example.com/signed-in\\..\\..',
    'https://user@app.example.com/signed-in',
    'https:/app.example.com/signed-in',
    'https:app.example.com/signed-in',
    ' https://app.example.com/signed-in',
    'https://app.example.com/signed-in\t',
    'https://app.example.com/signed\n-in',
    'https://app.example.com/signed-in\r\nSet-Cookie: a=b',
    'https://app.example.com/signed-in\0',
    'javascript:alert(1)//https://app.example.com/signed-in',
    'data:text/html,https://app.example.com/signed-in',
    'https://аpp.example.com/signed-in',
    '/signed-in',
    '',
  ];
  const tooLong = `${allowedPage}?${'a'.repeat(2_000)}`;

  it.each(strangers)('not to %j', async (redirect) => {
    const answer = await sso.project.server.ask(`/auth/login/corp?redirect=${encodeURIComponent(redirect)}`);
    expect(failure(answer)).toBe('400 INVALID_QUERY');
    expect(answer.json.errors[0].message).toBe('"redirect" is not allowed by AUTH_CORP_REDIRECT_ALLOW_LIST.');
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it('not twice, not too far for a cookie, and not where nothing is allowed', async () => {
    const page = encodeURIComponent(allowedPage);
    const ask = async (path: string) => failure(await sso.project.server.ask(path));
    expect(await ask(`/auth/login/corp?redirect=${page}&redirect=${page}`)).toBe('400 INVALID_QUERY');
    expect(await ask(`/auth/login/corp?redirect=${encodeURIComponent(tooLong)}`)).toBe('400 INVALID_QUERY');
    expect(await ask(`/auth/login/closed?redirect=${page}`)).toBe('400 INVALID_QUERY');
  });

  it('not on the way back either, with a state of ours', async () => {
    for (const redirect of strangers) {
      const state = makeState(redirect);
      const cookie = `${cookieName}=${signState(createTokens(secret), 'corp', state)}`;
      const path = `/auth/login/corp/callback?error=access_denied&iss=${sso.provider.issuer}`;
      const answer = await sso.project.server.ask(`${path}&state=${secretsOf(state).state}`, { headers: { cookie } });
      expect([redirect, failure(answer)]).toEqual([redirect, '401 INVALID_CREDENTIALS']);
      expect(answer.headers.get('location')).toBeNull();
    }
  });
});

describe('D02: states', () => {
  it('none, or none that is ours', async () => {
    const { back } = await comeBack();
    expect(verdict(await openBrowser().ask(back))).toBe('403 INVALID_TOKEN');
    for (const query of ['', '?code=x', '?state=x', '?error=access_denied', '?code=x&state=%ff']) {
      const answer = await sso.project.server.ask(`/auth/login/corp/callback${query}`);
      expect([query, failure(answer)]).toEqual([query, '403 INVALID_TOKEN']);
    }
    const told = 'The browser brought no cookie of a sign-in that began at the host of PUBLIC_URL.';
    await expect.poll(() => sso.project.server.log()).toContain(told);
  });

  it('of somebody else, which leaves the own one as it is', async () => {
    const [mine, others] = [await comeBack('corp', undefined, `?redirect=${allowedPage}`), await comeBack()];
    const page = await mine.browser.ask(others.back);
    expect(page.location?.href).toBe(`${allowedPage}?reason=INVALID_TOKEN`);
    expect(page.headers.getSetCookie()).toEqual([]);
    expect((await mine.browser.ask(mine.back)).status).toBe(303);
    expect((await others.browser.ask(others.back)).status).toBe(200);
  });

  it('given twice, or without one of its characters', async () => {
    for (const change of [
      (url: URL) => url.searchParams.append('state', url.searchParams.get('state') ?? ''),
      (url: URL) => url.searchParams.set('state', (url.searchParams.get('state') ?? '').slice(1)),
      (url: URL) => url.searchParams.set('state', ''),
      (url: URL) => url.searchParams.delete('state'),
    ]) {
      const { browser, back } = await comeBack();
      change(back);
      expect(verdict(await browser.ask(back))).toBe('403 INVALID_TOKEN');
    }
  });

  it('once, however it ended', async () => {
    const { browser, back } = await comeBack();
    const cookie = browser.cookies(back.href).get(cookieName) ?? '';
    const again = () =>
      sso.project.server.ask(back.pathname + back.search, { headers: { cookie: `${cookieName}=${cookie}` } });
    expect((await browser.ask(back)).status).toBe(200);
    expect(browser.cookies(back.href).has(cookieName)).toBe(false);
    expect(failure(await again())).toBe('403 INVALID_TOKEN');
    const refused = await comeBack();
    refused.back.searchParams.set('code', 'another');
    const held = refused.browser.cookies(back.href).get(cookieName) ?? '';
    expect(verdict(await refused.browser.ask(refused.back))).toBe('401 INVALID_CREDENTIALS');
    const answer = await sso.project.server.ask(refused.back.pathname + refused.back.search, {
      headers: { cookie: `${cookieName}=${held}` },
    });
    expect(failure(answer)).toBe('403 INVALID_TOKEN');
  });

  it('forged, of another kind, of another provider', async () => {
    const tokens = createTokens(secret);
    const state = makeState(allowedPage);
    const own = signState(tokens, 'corp', state);
    const [head, payload] = own.split('.');
    const none = Buffer.from('{"alg":"none","typ":"platform.oauth_state+jwt"}').toString('base64url');
    const cookies = [
      signState(createTokens(`${secret}.`), 'corp', state),
      signState(tokens, 'plain', state),
      tokens.sign('access', { provider: 'corp', key: state.key, redirect: null }, 60_000),
      tokens.sign('oauth_state', { key: state.key, redirect: null }, 60_000),
      tokens.sign('oauth_state', { provider: 'corp', key: true, redirect: null }, 60_000),
      `${head}.${payload}.`,
      `${none}.${payload}.`,
      `${own}x`,
      'x',
      '%00',
      'x'.repeat(9_000),
    ];
    const path = `/auth/login/corp/callback?code=x&state=${secretsOf(state).state}`;
    for (const cookie of cookies) {
      const answer = await sso.project.server.ask(path, { headers: { cookie: `${cookieName}=${cookie}` } });
      expect(failure(answer)).toBe('403 INVALID_TOKEN');
      expect(answer.headers.get('set-cookie')).toContain('Max-Age=0');
    }
  });

  it('too old', async () => {
    const late = createTokens(secret, { now: () => Date.now() - 302_000 });
    for (const redirect of [null, allowedPage]) {
      const state = makeState(redirect);
      const cookie = `${cookieName}=${signState(late, 'corp', state)}`;
      const path = `/auth/login/corp/callback?code=x&state=${secretsOf(state).state}`;
      const page = await fetch(sso.project.server.url + path, { headers: { cookie }, redirect: 'manual' });
      if (redirect === null) expect(await page.text()).toContain('TOKEN_EXPIRED');
      expect(page.status).toBe(redirect === null ? 401 : 303);
      expect(page.headers.get('location')).toBe(redirect === null ? null : `${redirect}?reason=TOKEN_EXPIRED`);
    }
  });

  it('with the code of somebody else', async () => {
    const [mine, others] = [await comeBack(), await comeBack()];
    // The provider compares the verifier.
    mine.back.searchParams.set('code', others.back.searchParams.get('code') ?? '');
    expect(verdict(await mine.browser.ask(mine.back))).toBe('401 INVALID_CREDENTIALS');
  });
});

describe('D04: identity tokens', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const changes: readonly (readonly [string, (parts: TokenParts) => TokenParts])[] = [
    ['for somebody else', claim({ aud: 'another' })],
    ['for several, of whom another one may use it', claim({ aud: ['platform', 'another'], azp: 'another' })],
    ['of another issuer', claim({ iss: 'https://evil.example' })],
    ['of another way', claim({ nonce: 'x' })],
    ['of no way', claim({ nonce: undefined })],
    ['that has expired', () => ({ header: {}, claims: { exp: now() - 60, iat: now() - 120 } })],
    ['without end', claim({ exp: undefined })],
    ['about nobody', claim({ sub: undefined })],
    ['about somebody else than the profile', claim({ sub: 'another' })],
    ['with an algorithm of no key', () => ({ header: { alg: 'none', kid: undefined }, claims: {} })],
    ['with a secret algorithm', () => ({ header: { alg: 'HS256' }, claims: {} })],
    ['with a key that nobody knows', () => ({ header: { kid: 'another' }, claims: {} })],
    ['with a critical header', () => ({ header: { crit: ['b64'], b64: true }, claims: {} })],
  ];

  function claim(claims: TokenParts['claims']) {
    return (): TokenParts => ({ header: {}, claims });
  }

  async function arrive(change: (token: string) => string | undefined) {
    const login = sso.newcomer();
    const { browser, back } = await comeBack('corp', login);
    sso.provider.tamper((answer) => ({ ...answer, id_token: change(String(answer.id_token)) }));
    const page = await browser.ask(back);
    const users = await sso.project.rows('SELECT 1 FROM platform.platform_users WHERE external_identifier = $1', [
      login,
    ]);
    return { verdict: verdict(page), users: users.length };
  }

  function resigned(token: string, change: (parts: TokenParts) => TokenParts): string {
    const parts = partsOf(token);
    const { header, claims } = change(parts);
    return sso.provider.sign({ header: { ...parts.header, ...header }, claims: { ...parts.claims, ...claims } });
  }

  it('signed anew by the provider is one', async () => {
    expect(await arrive((token) => resigned(token, claim({ more: 1 })))).toEqual({ verdict: '200', users: 1 });
  });

  it.each(changes)('%s is none', async (_, change) => {
    expect(await arrive((token) => resigned(token, change))).toEqual({ verdict: '403 INVALID_TOKEN', users: 0 });
  });

  it.each([
    ['none', () => undefined],
    ['something else', () => 'x.y.z'],
    ['one without signature', (token: string) => token.slice(0, token.lastIndexOf('.') + 1)],
    ['one with another signature', (token: string) => `${token.slice(0, -8)}AAAAAAAA`],
  ])('%s is none', async (_, change) => {
    expect(await arrive(change)).toEqual({ verdict: '403 INVALID_TOKEN', users: 0 });
  });

  it('signed by a key of its own header is none', async () => {
    const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = stranger.publicKey.export({ format: 'jwk' });
    for (const header of [{ jwk }, { jku: 'https://evil.example/keys' }, { x5u: 'https://evil.example' }]) {
      const result = await arrive((token) => {
        const parts = partsOf(token);
        const text = [{ ...parts.header, ...header }, parts.claims]
          .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
          .join('.');
        return `${text}.${createSign('sha256').update(text).sign(stranger.privateKey, 'base64url')}`;
      });
      expect(result).toEqual({ verdict: '403 INVALID_TOKEN', users: 0 });
    }
  });

  it('of an answer that names another issuer is not asked for', async () => {
    const { browser, back } = await comeBack();
    back.searchParams.set('iss', 'https://evil.example');
    expect(verdict(await browser.ask(back))).toBe('403 INVALID_TOKEN');
    const without = await comeBack();
    without.back.searchParams.delete('iss');
    expect(verdict(await without.browser.ask(without.back))).toBe('403 INVALID_TOKEN');
  });

  it('of one provider is nothing at the callback of another', async () => {
    const { browser, back } = await comeBack('corp');
    const held = browser.cookies(back.href).get(cookieName) ?? '';
    const answer = await sso.project.server.ask(back.pathname.replace('corp', 'closed') + back.search, {
      headers: { cookie: `platform_oauth_state_closed=${held}` },
    });
    expect(failure(answer)).toBe('403 INVALID_TOKEN');
    expect((await browser.ask(back)).status).toBe(200);
  });
});

it('D05: the log names the field that keeps a person from becoming a user, and no value', async () => {
  const { email } = await sso.project.addUser(null);
  const login = sso.newcomer();
  sso.provider.say(login, { email });
  expect(verdict(await sso.signIn('corp', login))).toBe('401 INVALID_CREDENTIALS');
  const printed = sso.project.server.log();
  expect(printed).toContain('No user could be made because of \\"email\\" (unique).');
  expect(printed).not.toContain(email);
});

it('the log has the code of a refusal that protocols name, and no other text of the address', async () => {
  for (const code of ['access_denied', 'zqMARKER7c41']) {
    const state = makeState(null);
    const cookie = `${cookieName}=${signState(createTokens(secret), 'corp', state)}`;
    const path = `/auth/login/corp/callback?error=${code}&iss=${sso.provider.issuer}`;
    await sso.project.server.ask(`${path}&state=${secretsOf(state).state}`, { headers: { cookie } });
  }
  await expect.poll(() => sso.project.server.log()).toContain('is an error: access_denied');
  expect(sso.project.server.log()).not.toContain('zqMARKER');
});

describe('D07: providers that nobody has named', () => {
  it.each([
    'nobody',
    'CORP',
    'corp%2F',
    'cor%70',
    'default',
    '__proto__',
    'constructor',
    'toString',
    '..',
    '%2e%2e',
    '%2e%2e%2f',
    'corp/',
    'corp/callback/',
    'corp/callback/x',
    'corp//callback',
  ])('%s', async (name) => {
    for (const path of [`/auth/login/${name}`, `/auth/login/${name}/callback`]) {
      if (path === '/auth/login/corp/callback') continue;
      for (const method of ['GET', 'POST', 'SEARCH']) {
        // A client would tidy the path up.
        const answer = await raw(method, path);
        expect([path, method, answer]).toEqual([path, method, '404']);
      }
    }
  });

  it('and methods that they do not have', async () => {
    for (const [method, path] of [
      ['POST', '/auth/login/corp'],
      ['DELETE', '/auth/login/corp/callback'],
      ['PUT', '/auth/login/corp/callback'],
    ]) {
      expect(failure(await sso.project.server.ask(path ?? '', { ...(method && { method }) }))).toBe(
        '404 ROUTE_NOT_FOUND',
      );
    }
  });
});

/** The status of an answer to a target that is sent as it is. */
async function raw(method: string, path: string): Promise<string> {
  const { hostname, port } = new URL(sso.project.server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`),
    );
    socket.once('data', (bytes) => resolve(String(bytes).split(' ')[1] ?? ''));
    socket.once('error', reject);
  });
}

describe('at the same time', () => {
  it('one of twenty uses of one callback succeeds, on three processes', async () => {
    for (let round = 0; round < 5; round++) {
      const { browser, back } = await comeBack();
      const cookie = `${cookieName}=${browser.cookies(back.href).get(cookieName)}`;
      const { servers } = sso.project;
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          servers[index % servers.length]?.ask(back.pathname + back.search, { headers: { cookie } }),
        ),
      );
      const statuses = answers.map((answer) => answer?.status).sort();
      expect(statuses).toEqual([200, ...Array.from({ length: 19 }, () => 403)]);
    }
  });

  it('first sign-ins of one person make one user, and all of them succeed', async () => {
    for (let round = 0; round < 3; round++) {
      const login = sso.newcomer();
      const ways = await Promise.all(Array.from({ length: 10 }, () => comeBack('plain', login)));
      const { servers } = sso.project;
      const pages = await Promise.all(
        ways.map(({ browser, back }, index) => {
          const cookie = [...browser.cookies(back.href)].map(([name, value]) => `${name}=${value}`).join('; ');
          return servers[index % servers.length]?.ask(back.pathname + back.search, { headers: { cookie } });
        }),
      );
      expect(pages.map((page) => page?.status)).toEqual(Array.from({ length: 10 }, () => 200));
      const users = await sso.project.rows('SELECT id FROM platform.platform_users WHERE external_identifier = $1', [
        login,
      ]);
      expect(users).toHaveLength(1);
    }
  });
});

it('D08: nothing that opens something is in an address or in the log', async () => {
  const { browser, back } = await comeBack('corp', sso.newcomer(), `?redirect=${allowedPage}`);
  const held = browser.cookies(back.href).get(cookieName) ?? '';
  const page = await browser.ask(back);
  expect(page.location?.href).toBe(allowedPage);
  const refresh = browser.cookies(back.href).get('platform_refresh_token') ?? '';
  expect(refresh).toMatch(/^[\w-]{43}$/);
  const printed = sso.project.servers.map((server) => server.log()).join();
  expect(printed).toContain('A provider could not be asked.');
  const code = back.searchParams.get('code') ?? '';
  const state = back.searchParams.get('state') ?? '';
  for (const canary of [held, refresh, code, state, 'a secret between server and provider', publicUrl]) {
    expect(canary).not.toBe('');
    expect(printed.includes(canary)).toBe(false);
  }
});
