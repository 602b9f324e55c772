/** Signing in at a real identity provider. Source: API specification, sections 2.7 and 2.8. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, publicUrl } from '../support/identity-provider.ts';
import { startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { allowedPage, type SsoProject, serveSso, verdict } from '../support/single-sign-on.ts';

let sso: SsoProject;
beforeAll(async () => {
  sso = await serveSso();
});
afterAll(() => sso?.close());

/** The row of a user of a provider. */
async function userOf(name: string, login: string) {
  const [user] = await sso.project.rows(
    'SELECT * FROM platform.platform_users WHERE provider = $1 AND external_identifier = $2',
    [name, login],
  );
  return user;
}

it('lists the providers, with nothing that is not meant for everybody', async () => {
  const { json, headers } = await sso.project.server.ask('/auth');
  expect(json).toEqual({
    data: [
      { name: 'corp', driver: 'openid', icon: 'badge', label: 'Corporation' },
      { name: 'plain', driver: 'oauth2' },
      { name: 'closed', driver: 'openid' },
    ],
    disableDefault: false,
  });
  expect(headers.get('cache-control')).toBe('no-store');
});

describe('the way to the provider', () => {
  it('has everything that the provider must repeat, and a cookie that outlives the five minutes of its state', async () => {
    const { status, location, headers } = await openBrowser().ask(`${sso.project.server.url}/auth/login/corp`);
    expect(status).toBe(302);
    expect(location?.origin).toBe(sso.provider.issuer);
    expect(Object.fromEntries(location?.searchParams ?? [])).toEqual({
      client_id: 'platform',
      response_type: 'code',
      redirect_uri: `${publicUrl}/auth/login/corp/callback`,
      scope: 'openid profile email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const [cookie = '', ...more] = headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie.replace(/=[^;]*/, '=…')).toBe(
      'platform_oauth_state_corp=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=3600',
    );
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('asks for a nonce where there is an identity token only', async () => {
    const { location } = await openBrowser().ask(`${sso.project.server.url}/auth/login/plain`);
    expect(location?.searchParams.get('code_challenge_method')).toBe('S256');
    expect(location?.searchParams.has('nonce')).toBe(false);
  });

  it('leads back by a form where the provider describes no other way', async () => {
    const { provider, project } = sso;
    const path = '/.well-known/openid-configuration';
    const described: object = JSON.parse(await (await fetch(`${provider.issuer}${path}`)).text());
    provider.distort(path, JSON.stringify({ ...described, response_modes_supported: ['fragment', 'form_post'] }));
    const environment = { AUTH_PROVIDERS: 'corp', PUBLIC_URL: publicUrl, ...provider.variables('corp', 'openid') };
    const other = await startPlatform(project.folder, project.database.url, environment, []);
    try {
      const { location } = await openBrowser().ask(`${other.url}/auth/login/corp`);
      expect(location?.searchParams.get('response_mode')).toBe('form_post');
    } finally {
      provider.distort(path, null);
      await other.stop();
    }
  });

  it('is another one every time', async () => {
    const ways = await Promise.all(
      Array.from({ length: 20 }, () => openBrowser().ask(`${sso.project.server.url}/auth/login/corp`)),
    );
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(new Set(ways.map(({ location }) => location?.searchParams.get(name))).size).toBe(20);
    }
  });
});

describe.each(['corp', 'plain'])('coming back from %s', (name) => {
  it('makes a user of somebody unknown, and signs in', async () => {
    const login = sso.newcomer();
    const page = await sso.signIn(name, login);
    expect(page.status).toBe(200);
    const { data } = JSON.parse(page.text);
    expect(Object.keys(data)).toEqual(['access_token', 'expires', 'refresh_token']);
    expect(page.headers.getSetCookie()).toEqual([
      `platform_oauth_state_${name}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`,
    ]);
    const user = await userOf(name, login);
    expect(user).toMatchObject({
      email: `${login}@example.com`,
      first_name: 'Given',
      last_name: `Family of ${login}`.slice(0, 50),
      status: 'active',
      role: sso.member,
      password: null,
      last_access: expect.any(Date),
    });
    expect(user?.auth_data).toMatchObject({ sub: login, email: `${login}@example.com`, email_verified: true });
    const me = await sso.project.server.ask('/users/me', { token: data.access_token });
    expect(me.json.data).toMatchObject({ id: user?.id, provider: name, auth_data: '**********' });
    const made = await sso.project.server.ask('/items/docs', { method: 'POST', token: data.access_token, body: {} });
    expect(made.json.data.owner).toBe(user?.id);
    const refreshed = await sso.project.post('/auth/refresh', { refresh_token: data.refresh_token });
    expect(refreshed.status).toBe(200);
  });

  it('writes the user as every user is written, and the sign-in', async () => {
    const login = sso.newcomer();
    await sso.signIn(name, login);
    const user = await userOf(name, login);
    const activity = await sso.project.rows(
      'SELECT action, "user", ip, collection FROM platform.platform_activity WHERE item = $1 ORDER BY id',
      [user?.id],
    );
    expect(activity).toEqual([
      { action: 'create', user: null, ip: '127.0.0.1', collection: 'platform_users' },
      { action: 'login', user: user?.id, ip: '127.0.0.1', collection: 'platform_users' },
    ]);
    const [revision] = await sso.project.rows(
      'SELECT data::text AS data FROM platform.platform_revisions WHERE item = $1 AND collection = $2',
      [user?.id, 'platform_users'],
    );
    expect(revision?.data).toContain(login);
    expect(revision?.data).not.toContain('email_verified');
  });

  it('knows somebody again, by nothing but what the provider calls them', async () => {
    const login = sso.newcomer();
    await sso.signIn(name, login);
    const before = await userOf(name, login);
    sso.provider.say(login, { email: `${login}@elsewhere.example`, given_name: 'Other' });
    expect((await sso.signIn(name, login)).status).toBe(200);
    const after = await userOf(name, login);
    expect(after).toMatchObject({ id: before?.id, email: before?.email, first_name: 'Given' });
    expect(after?.auth_data).toMatchObject({ email: `${login}@elsewhere.example` });
  });

  it('goes on to an allowed page with a cookie, and no token in its address', async () => {
    const page = await sso.signIn(name, sso.newcomer(), { redirect: `${allowedPage}/deep?a=1#b` });
    expect(page.status).toBe(303);
    expect(page.location?.href).toBe(`${allowedPage}/deep?a=1#b`);
    expect(page.text).toBe('');
    const [cleared, set = ''] = page.headers.getSetCookie();
    expect(cleared).toContain('Max-Age=0');
    expect(set.replace(/=[^;]*/, '=…')).toBe(
      'platform_refresh_token=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800',
    );
    const answer = await sso.project.post('/auth/refresh', undefined, {
      headers: { cookie: set.split(';')[0] ?? '' },
    });
    expect(answer.status).toBe(200);
  });

  it('tells the page why it did not work', async () => {
    const login = sso.newcomer();
    await sso.signIn(name, login);
    const user = await userOf(name, login);
    await sso.project.rows(`UPDATE platform.platform_users SET status = 'suspended' WHERE id = $1`, [user?.id]);
    expect(verdict(await sso.signIn(name, login))).toBe('401 INVALID_CREDENTIALS');
    const page = await sso.signIn(name, login, { redirect: `${allowedPage}?a=1&reason=none` });
    expect(page.status).toBe(303);
    expect(page.location?.href).toBe(`${allowedPage}?a=1&reason=INVALID_CREDENTIALS`);
    expect(page.headers.getSetCookie().join()).not.toContain('platform_refresh_token');
    expect(page.headers.getSetCookie().join()).toContain('Max-Age=0');
  });

  it('refuses somebody whom the provider refuses', async () => {
    expect(verdict(await sso.signIn(name, null))).toBe('401 INVALID_CREDENTIALS');
    const page = await sso.signIn(name, null, { redirect: 'http://localhost:3000' });
    expect(page.location?.href).toBe('http://localhost:3000/?reason=INVALID_CREDENTIALS');
  });

  it('takes a form as well as an address', async () => {
    const browser = openBrowser();
    const login = sso.newcomer();
    const back = await browser.signIn(`${sso.project.server.url}/auth/login/${name}`, login);
    const page = await browser.ask(sso.here(new URL(back.pathname, back)), Object.fromEntries(back.searchParams));
    expect(page.status).toBe(200);
    expect(await userOf(name, login)).toBeDefined();
  });
});

describe('the callback by POST', () => {
  const path = '/auth/login/corp/callback';

  it.each([
    ['application/json', '{"state":"x"}', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['text/plain', 'state=x', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['multipart/form-data; boundary=x', 'state=x', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['application/x-www-form-urlencoded; charset=utf-8', 'state=x', '403 INVALID_TOKEN'],
    ['application/x-www-form-urlencoded', '%ff=%zz&state', '403 INVALID_TOKEN'],
    ['application/x-www-form-urlencoded', '', '403 INVALID_TOKEN'],
  ])('with %s %s', async (type, body, expected) => {
    const answer = await sso.project.post(path, body, { headers: { 'content-type': type } });
    expect(failure(answer)).toBe(expected);
  });

  it('reads nothing of the address', async () => {
    const browser = openBrowser();
    const back = await browser.signIn(`${sso.project.server.url}/auth/login/corp`, sso.newcomer());
    expect(verdict(await browser.ask(sso.here(back), { a: 'b' }))).toBe('403 INVALID_TOKEN');
  });
});

describe('who may register', () => {
  it('nobody, unless the provider is open', async () => {
    const login = sso.newcomer();
    expect(verdict(await sso.signIn('closed', login))).toBe('401 INVALID_CREDENTIALS');
    expect(await userOf('closed', login)).toBeUndefined();
    await sso.project.addUser(sso.member, { provider: 'closed', external_identifier: login, password: null });
    expect((await sso.signIn('closed', login)).status).toBe(200);
  });

  it('nobody with the address of somebody else, who is never taken for them', async () => {
    const owner = await sso.project.addUser(null, { email: `Owner.${sso.newcomer()}@example.com` });
    for (const verified of [true, false]) {
      const login = sso.newcomer();
      sso.provider.say(login, { email: owner.email.toUpperCase(), email_verified: verified });
      expect(verdict(await sso.signIn('corp', login))).toBe('401 INVALID_CREDENTIALS');
      expect(await userOf('corp', login)).toBeUndefined();
    }
    const sessions = await sso.project.rows('SELECT 1 FROM platform.platform_sessions WHERE "user" = $1', [owner.id]);
    expect(sessions).toEqual([]);
  });

  it('an equal name at two providers is two people', async () => {
    const login = sso.newcomer();
    await sso.signIn('corp', login);
    expect(verdict(await sso.signIn('plain', login))).toBe('401 INVALID_CREDENTIALS');
    sso.provider.say(login, { email: `other-${login}@example.com` });
    expect((await sso.signIn('plain', login)).status).toBe(200);
    expect((await userOf('plain', login))?.id).not.toBe((await userOf('corp', login))?.id);
  });

  it.each([
    ['no address', { email: undefined }, { email: null }],
    ['a nested name', { given_name: { a: 1 } }, { first_name: null }],
    ['a long name', { given_name: '😀'.repeat(60) }, { first_name: '😀'.repeat(50) }],
    ['an impossible name', { given_name: 'a\0b' }, { first_name: null }],
  ])('somebody with %s', async (_, claims, expected) => {
    const login = sso.newcomer();
    sso.provider.say(login, claims);
    expect((await sso.signIn('plain', login)).status).toBe(200);
    expect(await userOf('plain', login)).toMatchObject(expected);
  });

  it('nobody with an address that is none', async () => {
    for (const email of ['a@b\r\nBcc: c@d', `${'x'.repeat(130)}@example.com`, 'nobody']) {
      const login = sso.newcomer();
      sso.provider.say(login, { email });
      expect(verdict(await sso.signIn('corp', login))).toBe('401 INVALID_CREDENTIALS');
    }
  });
});

describe('users of providers', () => {
  it('sign in and ask for a password as if they did not exist', async () => {
    const login = sso.newcomer();
    await sso.signIn('corp', login);
    const known = await sso.project.addUser(sso.member, { provider: 'corp', external_identifier: sso.newcomer() });
    const answers = await Promise.all(
      [`${login}@example.com`, known.email, 'nobody@example.com'].map((email) =>
        sso.project.post('/auth/login', { email, password: known.password }),
      ),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(401);
    const asked = await sso.project.post('/auth/password/request', { email: `${login}@example.com` });
    expect(asked.status).toBe(204);
    const mails = await sso.project.rows('SELECT 1 FROM platform.platform_mails');
    const tokens = await sso.project.rows(
      `SELECT 1 FROM platform.platform_single_use_tokens WHERE purpose = 'password_reset'`,
    );
    expect([mails, tokens]).toEqual([[], []]);
  });

  it('have no second factor here, whatever their role asks of others', async () => {
    const login = sso.newcomer();
    const strict = await sso.project.addRole('member', { enforce_tfa: true });
    const columns = { provider: 'corp', external_identifier: login, tfa_secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' };
    const user = await sso.project.addUser(strict, columns);
    const { data } = JSON.parse((await sso.signIn('corp', login)).text);
    expect((await sso.project.server.ask('/items/docs', { token: data.access_token })).status).toBe(200);
    await sso.project.rows('UPDATE platform.platform_users SET tfa_secret = NULL WHERE id = $1', [user.id]);
    const again = JSON.parse((await sso.signIn('corp', login)).text);
    expect((await sso.project.server.ask('/items/docs', { token: again.data.access_token })).status).toBe(200);
  });

  it('come from where their role may be used', async () => {
    const login = sso.newcomer();
    const far = await sso.project.addRole('member', { ip_access: '192.0.2.0/24' });
    await sso.project.addUser(far, { provider: 'corp', external_identifier: login });
    expect(verdict(await sso.signIn('corp', login))).toBe('401 INVALID_IP');
    const page = await sso.signIn('corp', login, { redirect: allowedPage });
    expect(page.location?.searchParams.get('reason')).toBe('INVALID_IP');
  });
});

describe('keys of a provider', () => {
  const fetched = () => sso.provider.asked.filter((path) => path === '/jwks').length;

  it('that were replaced are known at the next sign-in, and asked for once', async () => {
    expect((await sso.signIn('corp', sso.newcomer())).status).toBe(200);
    const before = fetched();
    expect((await sso.signIn('corp', sso.newcomer())).status).toBe(200);
    expect(fetched()).toBe(before);
    sso.provider.replaceKeys();
    const pages = await Promise.all(Array.from({ length: 5 }, () => sso.signIn('corp', sso.newcomer())));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(fetched()).toBe(before + 1);
  });

  it('are not asked for with every token of an unknown key, nor kept where they make no sense', async () => {
    sso.provider.replaceKeys();
    const before = fetched();
    for (let count = 0; count < 3; count += 1) {
      expect(verdict(await sso.signIn('corp', sso.newcomer()))).toBe('403 INVALID_TOKEN');
    }
    expect(fetched()).toBe(before);
    // Another provider has keys of its own.
    sso.provider.distort('/jwks', '{"keys":[5]}');
    expect(verdict(await sso.signIn('closed', sso.newcomer()))).toBe('503 SERVICE_UNAVAILABLE');
    sso.provider.distort('/jwks', null);
    expect(verdict(await sso.signIn('closed', sso.newcomer()))).toBe('401 INVALID_CREDENTIALS');
  });
});
