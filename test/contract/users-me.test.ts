/** What users do with themselves, and what changes of them mean for who is signed in. Source: specification, sections 2.2 and 3. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts, type TestUser, type Tokens } from '../support/accounts.ts';
import { administrator } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { soon } from '../support/timing.ts';

let project: AccountsProject;
let member: string;
let plain: string;
let admin: string;
let ada: TestUser;
let tokens: Tokens;
beforeAll(async () => {
  project = await serveAccounts({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY)',
    permissions: `
roles: { member: { app: true }, plain: { app: false } }
permissions:
  plain: { docs: { read: true } }
  member:
    docs: { read: true }
    platform_users: { update: { fields: [first_name, password], filter: { id: { _eq: $CURRENT_USER } } } }`,
    environment: { RATE_LIMITER_AUTH_ADDRESS_POINTS: '100000', RATE_LIMITER_AUTH_ACCOUNT_POINTS: '100000' },
  });
  member = await project.addRole('member');
  plain = await project.addRole('plain', { app_access: false });
  admin = (await project.post('/auth/login', administrator)).json.data.access_token;
});
beforeEach(async () => {
  ada = await project.addUser(member);
  tokens = await project.signIn(ada);
});
afterAll(() => project?.close());

const ask = (path: string, method = 'GET', body?: unknown, token = tokens.access_token) =>
  project.server.ask(path, { method, token, ...(body !== undefined && { body }) });

describe('/users/me', () => {
  it('is read and changed as the permissions say', async () => {
    expect((await ask('/users/me')).json.data).toMatchObject({ id: ada.id, email: ada.email, password: '**********' });
    expect((await ask('/users/me?fields=email')).json.data).toEqual({ email: ada.email });
    const changed = await ask('/users/me?fields=first_name', 'PATCH', { first_name: 'Ada' });
    expect(changed.json.data).toEqual({ first_name: 'Ada' });
    expect(failure(await ask('/users/me', 'PATCH', { role: null }))).toBe('403 FORBIDDEN');
    expect(failure(await ask('/users/me', 'DELETE'))).toBe('403 FORBIDDEN');
  });

  it('is a key where nothing else may be read', async () => {
    const bob = await project.addUser(plain);
    const { access_token: token } = await project.signIn(bob);
    expect((await ask('/users/me', 'GET', undefined, token)).json).toEqual({ data: { id: bob.id } });
  });

  it('keeps the page that was looked at last', async () => {
    expect((await ask('/users/me/track/page', 'PATCH', { last_page: '/items' })).status).toBe(204);
    expect((await ask('/users/me?fields=last_page')).json.data).toEqual({ last_page: '/items' });
    for (const body of [{}, [], { last_page: 1 }, { last_page: 'x'.repeat(256) }, { last_page: 'x', email: 'y' }]) {
      expect(failure(await ask('/users/me/track/page', 'PATCH', body))).toBe('400 INVALID_PAYLOAD');
    }
  });
});

describe('a change of a user who is signed in', () => {
  it.each([
    [{ password: 'a-new-password' }, '401 INVALID_CREDENTIALS'],
    [{ status: 'suspended' }, '401 INVALID_CREDENTIALS'],
    [{ role: null }, '401 TOKEN_EXPIRED'],
    [{ first_name: 'A.' }, '200 no error'],
  ])('counts at once: %j', async (data, expected) => {
    expect((await ask('/items/docs')).status).toBe(200);
    expect((await ask(`/users/${ada.id}`, 'PATCH', data, admin)).status).toBe(200);
    expect(failure(await ask('/items/docs'))).toBe(expected);
  });

  it('by a role that is deleted', async () => {
    const role = await project.addRole('passing');
    const eve = await project.addUser(role);
    const { access_token: token } = await project.signIn(eve);
    expect((await ask(`/roles/${role}`, 'DELETE', undefined, admin)).status).toBe(204);
    expect(failure(await ask('/users/me', 'GET', undefined, token))).toBe('401 INVALID_CREDENTIALS');
  });

  it('leaves a new password to sign in with', async () => {
    expect((await ask('/users/me', 'PATCH', { password: 'a-new-password' })).status).toBe(200);
    const old = await project.post('/auth/login', { email: ada.email, password: ada.password });
    expect(failure(old)).toBe('401 INVALID_CREDENTIALS');
    const { status } = await project.post('/auth/login', { email: ada.email, password: 'a-new-password' });
    expect(status).toBe(200);
  });
});

it('passwords meet the pattern of the settings', async () => {
  await project.rows(`INSERT INTO platform.platform_settings (auth_password_policy) VALUES ('[0-9]')`);
  const change = (password: string) => ask(`/users/${ada.id}`, 'PATCH', { password }, admin);
  await soon(async () => failure(await change('without-digits')), '400 FAILED_VALIDATION', 8_000);
  expect((await change('with-digit-1')).status).toBe(200);
  await project.rows('DELETE FROM platform.platform_settings');
});
