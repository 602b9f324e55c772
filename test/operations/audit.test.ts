/** Lines about what concerns security, of the command as its users start it. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { generateHosted } from '../support/host.ts';
import { otpOf } from '../support/otp.ts';
import { administrator, createProject, type Platform, startUnchecked } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';

type Line = Readonly<Record<string, unknown>>;

let database: TestDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase('CREATE TABLE docs (id integer PRIMARY KEY, title text)');
  await installSystem(database.url);
  project = await createProject();
  await writeFile(join(project.folder, 'platform.config.ts'), "export default { permissionSource: 'tables' };\n");
  await mkdir(join(project.folder, 'extensions'));
  await writeFile(join(project.folder, 'extensions', 'roles.ts'), roleForDoc);
  await generateHosted(project.folder, database.url);
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

/** Gives each item a role of its name. */
const roleForDoc = `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ after }) => {
  after('docs.create', async ({ payload, items }) => {
    await items.asAdmin('platform_roles').create({ name: String(payload.title) });
  });
});
`;

const start = (variables: Readonly<Record<string, string>> = {}) =>
  startUnchecked(project.folder, database.url, { LOG_LEVEL: 'fatal', IP_TRUST_PROXY: '127.0.0.1', ...variables }, []);

function lines(server: Platform): readonly Line[] {
  const texts = server.log().split('\n');
  return texts.filter((line) => line.includes('"audit":true')).map((line) => JSON.parse(line));
}

/** The lines that something causes, without their times. */
async function causes(server: Platform, work: () => Promise<unknown>, count = 1): Promise<readonly Line[]> {
  const before = lines(server).length;
  await work();
  await expect.poll(() => lines(server).length - before, { timeout: 30_000 }).toBeGreaterThanOrEqual(count);
  return lines(server)
    .slice(before)
    .map(({ time, requestId, ...line }) => {
      expect([typeof time, typeof requestId]).toEqual(['number', 'string']);
      return line;
    });
}

const signIn = (server: Platform, body: object, ip = '198.51.100.7') =>
  server.ask('/auth/login', { method: 'POST', body, headers: { 'x-forwarded-for': ip } });

const post = (server: Platform, path: string, body: unknown, method = 'POST') => server.admin(path, { method, body });

const line = (event: string, members: object) => ({
  ...{ level: 30, audit: true, event, msg: expect.any(String) },
  ...members,
});

const network = { address: '198.51.100.0/24' };

describe('at the level fatal', () => {
  let server: Platform;
  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.stop());

  it('sign-in, sign-in-refused', async () => {
    const [made] = await causes(server, () => signIn(server, administrator));
    expect(made).toEqual(line('sign-in', { ...network, user: expect.any(String), provider: 'default' }));
    const refused = async (email: string) => {
      const [found] = await causes(server, () => signIn(server, { email, password: 'a wrong one' }));
      return found;
    };
    const first = await refused('nobody@example.com');
    const name = expect.stringMatching(/^[\w-]{22}$/);
    expect(first).toEqual(line('sign-in-refused', { ...network, name, reason: 'INVALID_CREDENTIALS' }));
    // The same name has the same HMAC, in every spelling; another one has another.
    expect((await refused('Nobody@Example.com'))?.name).toBe(first?.name);
    expect((await refused(administrator.email))?.name).not.toBe(first?.name);
    expect(JSON.stringify(lines(server))).not.toMatch(/nobody@|admin@example|a wrong one/i);
  });

  it('admin-token-used, once an hour and address', async () => {
    const from = (ip: string) => server.admin('/items/docs', { headers: { 'x-forwarded-for': ip } });
    const used = await causes(
      server,
      async () => {
        for (const ip of ['203.0.113.5', '203.0.113.5', '203.0.114.5', '203.0.113.5']) await from(ip);
      },
      2,
    );
    expect(used).toEqual(['203.0.113.0/24', '203.0.114.0/24'].map((address) => line('admin-token-used', { address })));
  });

  it('token-made, password-changed, role-changed, permission-changed, model-changed', async () => {
    const item = expect.stringMatching(/^[0-9a-f-]{36}$/);
    const by = { address: '127.0.0.0/24', action: 'create', items: [item] };
    // The first request from this address.
    await causes(server, () => server.admin('/server/info'));
    const role = await post(server, '/roles', { name: 'reader', app_access: false });
    const { id } = role.json.data;
    const user = {
      email: 'r@example.com',
      password: 'correct horse battery',
      role: id,
      token: 'token-of-a-reader-0000',
    };
    const events = await causes(server, () => post(server, '/users', user), 3);
    expect(events.toSorted((a, b) => String(a.event).localeCompare(String(b.event)))).toEqual([
      line('password-changed', { ...by, collection: 'platform_users' }),
      line('role-changed', { ...by, collection: 'platform_users' }),
      line('token-made', { ...by, collection: 'platform_users' }),
    ]);
    expect(lines(server)).toContainEqual(
      expect.objectContaining({ event: 'role-changed', collection: 'platform_roles', items: [id] }),
    );
    const rule = { collection: 'docs', action: 'read', fields: ['id'] };
    const [permission] = await causes(server, () => post(server, '/permissions', rule));
    expect(permission).toMatchObject({ event: 'permission-changed', collection: 'platform_permissions' });
    const table = { collection: 'brief', schema: {} };
    const [model] = await causes(server, () => post(server, '/collections', table));
    expect(model).toEqual(line('model-changed', { ...by, collection: 'platform_collections', items: ['brief'] }));
    // A write that is refused changes nothing, and a field that is none of these is no event.
    const before = lines(server).length;
    await post(server, '/permissions', { ...rule, fields: ['nothing'] });
    await post(server, '/users/me', { first_name: 'A' }, 'PATCH');
    await server.ask('/items/docs');
    expect(lines(server)).toHaveLength(before);
  });

  it('provider-changed, also where an identifier is taken away', async () => {
    const user = { email: 'p@example.com', password: 'correct horse battery' };
    const [made] = await causes(server, () => post(server, '/users', user));
    const [id] = Array.isArray(made?.items) ? made.items : [];
    const change = (changes: object) => causes(server, () => post(server, `/users/${id}`, changes, 'PATCH'));
    const expected = line('provider-changed', {
      ...{ address: '127.0.0.0/24', action: 'update', collection: 'platform_users', items: [id] },
    });
    expect(await change({ provider: 'corp', external_identifier: 'ann' })).toEqual([expected]);
    expect(await change({ external_identifier: 'eve', first_name: 'Eve' })).toEqual([expected]);
    expect(await change({ external_identifier: null })).toEqual([expected]);
    expect(await change({ provider: 'default' })).toEqual([expected]);
  });

  it('role-changed by an invitation, by a revision that is written back, and by code of the project', async () => {
    const role = await post(server, '/roles', { name: 'guest', app_access: false });
    const { id } = role.json.data;
    const invitation = { email: 'guest@example.com', role: id };
    const [invited] = await causes(server, () => post(server, '/users/invite', invitation));
    expect(invited).toMatchObject({ event: 'role-changed', action: 'create', collection: 'platform_users' });
    await causes(server, () => post(server, `/roles/${id}`, { name: 'visitor' }, 'PATCH'));
    const query = `filter[item][_eq]=${id}&sort=id&limit=1&fields=id`;
    const revisions = await server.admin(`/revisions?${query}`);
    const [reverted] = await causes(server, () => post(server, `/utils/revert/${revisions.json.data[0].id}`, {}));
    expect(reverted).toMatchObject({ event: 'role-changed', collection: 'platform_roles', items: [id] });
    const [hooked] = await causes(server, () => post(server, '/items/docs', { id: 1, title: 'by a hook' }));
    expect(hooked).toMatchObject({ event: 'role-changed', action: 'create', collection: 'platform_roles' });
  });

  it('refresh-token-reused', async () => {
    const { json } = await signIn(server, administrator);
    const refresh = (token: string) =>
      server.ask('/auth/refresh', { method: 'POST', body: { refresh_token: token, mode: 'json' } });
    const used: string = json.data.refresh_token;
    await refresh(used);
    await withClient(database.url, (client) =>
      client.query("UPDATE platform.platform_refresh_tokens SET rotated_at = rotated_at - interval '1 minute'"),
    );
    const [reused] = await causes(server, () => refresh(used));
    expect(reused).toEqual(line('refresh-token-reused', { address: '127.0.0.0/24', user: expect.any(String) }));
  });

  it('ip-refused, by token and by sign-in', async () => {
    const role = await post(server, '/roles', { name: 'inside', ip_access: ['10.0.0.0/8'] });
    const token = 'token-of-somebody-inside';
    const user = { email: 'i@example.com', password: 'correct horse battery', role: role.json.data.id, token };
    const [made] = (await causes(server, () => post(server, '/users', user), 3)).map(({ items }) => items);
    const [key] = Array.isArray(made) ? made : [];
    const refused = line('ip-refused', { ...network, user: key });
    const headers = { 'x-forwarded-for': '198.51.100.7' };
    expect(await causes(server, () => server.ask('/server/info', { token, headers }))).toEqual([refused]);
    const { email, password } = user;
    expect(await causes(server, () => signIn(server, { email, password }))).toEqual([refused]);
  });

  it('second-factor-refused', async () => {
    const { json } = await signIn(server, administrator);
    const token: string = json.data.access_token;
    const own = (path: string, body: object) => server.ask(`/users/me/tfa/${path}`, { method: 'POST', token, body });
    const { secret } = (await own('generate', { password: administrator.password })).json.data;
    const [wrong] = await causes(server, () => own('enable', { secret, otp: '000000' }));
    expect(wrong).toMatchObject({ event: 'second-factor-refused', reason: 'INVALID_OTP', user: expect.any(String) });
    expect((await own('enable', { secret, otp: otpOf(secret) })).status).toBe(204);
    const before = lines(server).length;
    // Who is asked for one has not failed yet.
    await signIn(server, administrator);
    expect(lines(server)).toHaveLength(before);
    const [refused] = await causes(server, () => signIn(server, { ...administrator, otp: '000000' }));
    expect(refused).toEqual(
      line('second-factor-refused', { ...network, name: expect.any(String), reason: 'INVALID_OTP' }),
    );
    // A recovery code signs in once.
    const codes = await own('recovery-codes', { otp: otpOf(secret, 1) });
    const withCode = { ...administrator, otp: codes.json.data.recovery_codes[0] };
    const [used] = await causes(server, () => signIn(server, withCode));
    expect(used).toMatchObject({ event: 'sign-in', user: expect.any(String) });
    const [again] = await causes(server, () => signIn(server, withCode));
    expect(again).toMatchObject({ event: 'second-factor-refused', reason: 'INVALID_OTP' });
    expect(server.log()).not.toContain(withCode.otp);
    await withClient(database.url, (client) => client.query('UPDATE platform.platform_users SET tfa_secret = NULL'));
  });
});

it('limit-reached, once a minute: of sign-ins, and of all requests', async () => {
  const server = await start({
    RATE_LIMITER_ENABLED: 'true',
    RATE_LIMITER_POINTS: '30',
    RATE_LIMITER_DURATION: '60s',
    RATE_LIMITER_AUTH_ADDRESS_POINTS: '3',
  });
  try {
    const ip = '192.0.2.77';
    for (let tried = 0; tried < 6; tried++) await signIn(server, { email: 'x@example.com', password: 'y' }, ip);
    for (let asked = 0; asked < 40; asked++) await server.ask('/server/ping', { headers: { 'x-forwarded-for': ip } });
    const reached = () => lines(server).filter(({ event }) => event === 'limit-reached');
    await expect
      .poll(() => reached().map(({ limit, address, name }) => [limit, address, typeof name]))
      .toEqual([
        ['login', '192.0.2.0/24', 'string'],
        ['requests.client', '192.0.2.0/24', 'undefined'],
      ]);
  } finally {
    await server.stop();
  }
});

it('an address is there as LOG_ADDRESSES says, and nothing with the level silent', async () => {
  for (const [variables, address] of [
    [{ LOG_ADDRESSES: 'full' }, '198.51.100.7'],
    [{ LOG_ADDRESSES: 'none' }, undefined],
  ] as const) {
    const server = await start(variables);
    const [made] = await causes(server, () => signIn(server, administrator));
    await server.stop();
    expect(made?.address).toBe(address);
  }
  const silent = await start({ LOG_LEVEL: 'silent' });
  expect((await signIn(silent, administrator)).status).toBe(200);
  await silent.stop();
  expect(lines(silent)).toEqual([]);
});
