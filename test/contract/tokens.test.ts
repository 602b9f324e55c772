/** What a token may be, whom it stands for, and when it stops. Source: API specification, sections 2.1, 2.2 and 3.4. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokens } from '../../packages/runtime/src/auth/sessions/tokens.ts';
import { type AccountsProject, serveAccounts, type TestUser, type Tokens } from '../support/accounts.ts';
import { isOnMariadb } from '../support/contract-database.ts';
import { secret } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { soon } from '../support/timing.ts';

let project: AccountsProject;
let member: string;
let team: string;
let ada: TestUser;
let adas: Tokens;
beforeAll(async () => {
  project = await serveAccounts({
    sql: `
      CREATE TABLE teams (id integer PRIMARY KEY, name text, leader uuid REFERENCES platform.platform_users);
      CREATE TABLE docs (id integer PRIMARY KEY, title text, owner uuid, role uuid, address text);`,
    permissions: `
roles: { member: { app: true }, team: {}, boss: { admin: true } }
permissions:
  public: { docs: { read: { fields: [id], filter: { id: { _eq: 0 } } } } }
  member:
    docs:
      read:
        - { fields: [id], filter: { owner: { _eq: $CURRENT_USER } } }
        - { fields: [id], filter: { role: { _eq: $CURRENT_ROLE } } }
        - { fields: [id], filter: { address: { _eq: $CURRENT_USER.email } } }
        - { fields: [id], filter: { title: { _eq: $CURRENT_ROLE.description } } }
        - { fields: [id], filter: { title: { _in: $CURRENT_USER.teams.name } } }
  team: { docs: { read: true } }`,
    environment: { RATE_LIMITER_AUTH_ADDRESS_POINTS: '100000', IP_TRUST_PROXY: '127.0.0.0/8' },
  });
  member = await project.addRole('member', { description: 'the role' });
  team = await project.addRole('team');
  ada = await project.addUser(member);
  await project.rows(`INSERT INTO teams VALUES (1, 'ours', '${ada.id}'), (2, 'theirs', NULL)`);
  await project.rows(`INSERT INTO docs VALUES (0, 'open', NULL, NULL, NULL), (1, 'own', '${ada.id}', NULL, NULL),
    (2, 'of the role', NULL, '${member}', NULL), (3, 'by address', NULL, NULL, '${ada.email}'),
    (4, 'the role', NULL, NULL, NULL), (5, 'ours', NULL, NULL, NULL), (6, 'theirs', NULL, NULL, NULL)`);
  adas = await project.signIn(ada);
});
afterAll(() => project?.close());

/** Numbers of the documents that somebody sees, or the error. */
async function seen(token: string, headers: Record<string, string> = {}): Promise<unknown> {
  const answer = await project.server.ask('/items/docs?fields=id&sort=id', { token, headers });
  return answer.status === 200 ? answer.json.data.map(({ id }: { id: number }) => id) : failure(answer);
}

/** A user who is signed in and has been seen, so that the server remembers. */
async function somebody(columns = {}): Promise<TestUser & Tokens> {
  const user = await project.addUser(member, columns);
  const tokens = await project.signIn(user);
  expect(await seen(tokens.access_token)).toEqual([2, 4]);
  return { ...user, ...tokens };
}

async function lastAccess({ id }: TestUser): Promise<unknown> {
  const [row] = await project.rows('SELECT last_access FROM platform.platform_users WHERE id = $1', [id]);
  return row?.last_access;
}

const admin = (path: string, method: string, body?: unknown) =>
  project.server.admin(path, { method, ...(body !== undefined && { body }) });

describe('values of the caller', () => {
  it('are those of the user who signed in', async () => {
    expect(await seen(adas.access_token)).toEqual([1, 2, 3, 4, 5]);
    expect(await seen((await somebody()).access_token)).toEqual([2, 4]);
  });

  it.skipIf(isOnMariadb())('are found with no statement more while the token is remembered', async () => {
    // Just remembered: a token that others asked with may be forgotten between two requests.
    const user = await project.addUser(member);
    const { access_token } = await project.signIn(user);
    await project.rows('UPDATE platform.platform_users SET last_access = NULL WHERE id = $1', [user.id]);
    await seen(access_token);
    // That somebody was here is noted behind the first request, and must not be counted with the second one.
    await expect.poll(() => lastAccess(user)).toBeInstanceOf(Date);
    project.statements.reset();
    await seen(access_token);
    expect(project.statements.executed()).toBe(1);
  });
});

describe('an access class', () => {
  it.each<[string, string, boolean, unknown]>([
    ['of a role that was compiled', 'team', false, [0, 1, 2, 3, 4, 5, 6]],
    ['of a role that was not, is the public one', 'unknown', false, [0]],
    ['called admin without being one, is the public one', 'admin', false, [0]],
    ['called like an administrator in the rules without being one, is the public one', 'boss', false, [0]],
    ['of whatever role has admin access, is that of administrators', 'other', true, [0, 1, 2, 3, 4, 5, 6]],
  ])('%s', async (_what, name, admin_access, expected) => {
    const user = await project.addUser(await project.addRole(name, { admin_access }));
    expect(await seen((await project.signIn(user)).access_token)).toEqual(expected);
  });

  it('of nobody’s role is the public one', async () => {
    const user = await project.addUser(null);
    const { access_token } = await project.signIn(user);
    expect(await seen(access_token)).toEqual([0]);
    expect((await project.server.ask('/users/me', { token: access_token })).json).toEqual({ data: { id: user.id } });
  });
});

describe('a static token', () => {
  it('stands for its user, in either place', async () => {
    const user = await project.addUser(member, { token: 'a-static-token-1' });
    expect(await seen('a-static-token-1')).toEqual([2, 4]);
    const query = await project.server.ask('/users/me?fields=id&access_token=a-static%2Dtoken-1');
    expect(query.json).toEqual({ data: { id: user.id } });
    const both = await project.server.ask('/users/me?access_token=a', { token: 'b' });
    expect(failure(both)).toBe('400 INVALID_QUERY');
  });

  it('is nobody’s when nobody has it, or its user is not active', async () => {
    await project.addUser(member, { token: 'a-static-token-2', status: 'suspended' });
    for (const token of ['a-static-token-2', 'A-static-token-1', 'x'.repeat(10_000), '%00', "' OR 1=1 --"]) {
      expect(await seen(token)).toBe('401 INVALID_CREDENTIALS');
    }
  });

  it('is nothing that a program sends by mistake, or that somebody guesses', async () => {
    const short = [
      'a',
      'null',
      'undefined',
      '0',
      'abcdefghijklmno',
      'undefinedundefined',
      'nullnullnullnull',
      'of é 0123456789',
    ];
    for (const token of short) {
      await project.addUser(member, { token });
      expect([token, await seen(encodeURIComponent(token))]).toEqual([token, '401 INVALID_CREDENTIALS']);
      const query = await project.server.ask(`/items/docs?access_token=${encodeURIComponent(token)}`);
      expect([token, failure(query)]).toEqual([token, '401 INVALID_CREDENTIALS']);
    }
    const { id } = await project.addUser(member, { token: 'a-static-token-of-one' });
    const other = await project.addUser(member);
    const refused = async (path: string, method: string, body: unknown): Promise<string> => {
      const answer = await project.server.admin(path, { method, body });
      const [{ message, extensions }] = answer.json.errors;
      return [answer.status, message, JSON.stringify(extensions)].join(' ');
    };
    const rule = await refused(`/users/${other.id}`, 'PATCH', { token: 'short' });
    expect(rule).toMatch(/^400 "token" must be a static token.*"type":"check"/);
    for (const token of [...short, 'a-static-token-of-one', `${'x'.repeat(16)} y`, 'eyJhIjoxfQ.e30.x']) {
      expect([token, await refused(`/users/${other.id}`, 'PATCH', { token })]).toEqual([token, rule]);
    }
    const made = { email: 'taker@example.com', password: 'long enough', token: 'a-static-token-of-one' };
    expect(await refused('/users', 'POST', made)).toBe(rule);
    expect(await refused('/users', 'PATCH', { keys: [other.id], data: { token: 'a-static-token-of-one' } })).toBe(rule);
    expect((await admin(`/users/${id}`, 'PATCH', { token: 'a-static-token-of-one' })).status).toBe(200);
    const query = `mutation { update_users_item(id: "${other.id}", data: { token: "a-static-token-of-one" }) { id } }`;
    const document = await project.server.admin('/graphql/system', { method: 'POST', body: { query } });
    expect(document.json.errors[0].extensions.type).toBe('check');
  });

  it('stops at once where it is changed', async () => {
    const { id } = await project.addUser(member, { token: 'a-static-token-3' });
    expect(await seen('a-static-token-3')).toEqual([2, 4]);
    expect((await admin(`/users/${id}`, 'PATCH', { token: 'a-static-token-4' })).status).toBe(200);
    expect(await seen('a-static-token-3')).toBe('401 INVALID_CREDENTIALS');
    expect(await seen('a-static-token-4')).toEqual([2, 4]);
  });
});

describe('an access token', () => {
  const tokens = createTokens(secret);
  const claims = () => JSON.parse(Buffer.from(adas.access_token.split('.')[1] ?? '', 'base64url').toString('utf8'));

  it('of another secret, another kind, or garbled is none', async () => {
    const { sid } = claims();
    const [head, body, signature = ''] = adas.access_token.split('.');
    expect(await seen(tokens.sign('access', { id: ada.id, sid }, 60_000))).toEqual([1, 2, 3, 4, 5]);
    for (const token of [
      createTokens(`${secret}x`).sign('access', { id: ada.id, sid }, 60_000),
      tokens.sign('invite', { id: ada.id, sid }, 60_000),
      tokens.sign('access', { id: ada.id }, 60_000),
      `${head}.${body}.${signature.slice(0, -2)}`,
      `${head}.${body}.`,
      `${head}.${body}.${signature}`.padEnd(9_000, 'A'),
    ]) {
      expect(await seen(token)).toBe('403 INVALID_TOKEN');
    }
  });

  it('of a session of somebody else is worth nothing', async () => {
    const { id } = await project.addUser(team);
    expect(await seen(tokens.sign('access', { id, sid: claims().sid }, 60_000))).toBe('401 INVALID_CREDENTIALS');
    expect(await seen(tokens.sign('access', { id, sid: 'x' }, 60_000))).toBe('401 INVALID_CREDENTIALS');
  });

  it('expires, also where it is remembered', async () => {
    let token = '';
    // It may be over before it is used where a machine is busy.
    await expect
      .poll(() => {
        token = tokens.sign('access', { id: ada.id, sid: claims().sid }, 1_000);
        return seen(token);
      })
      .toEqual([1, 2, 3, 4, 5]);
    await soon(() => seen(token), '401 TOKEN_EXPIRED', 5_000);
  });

  it('is judged before the path', async () => {
    const answer = await project.server.ask('/nowhere', { token: 'a.b.c' });
    expect(failure(answer)).toBe('401 INVALID_CREDENTIALS');
    const unknown = await project.server.ask('/nowhere', { token: adas.access_token });
    expect(failure(unknown)).toBe('404 ROUTE_NOT_FOUND');
    const expired = tokens.sign('access', { id: ada.id, sid: claims().sid }, -1_000);
    expect(failure(await project.server.ask('/nowhere', { token: expired }))).toBe('401 TOKEN_EXPIRED');
    const bad = await project.server.ask('/items/%zz', { token: 'nobody' });
    expect(failure(bad)).toBe('401 INVALID_CREDENTIALS');
  });
});

describe('what ends a session acts at once in the process that did it', () => {
  const refresh = async (user: Tokens): Promise<string> =>
    failure(await project.post('/auth/refresh', { refresh_token: user.refresh_token }));

  it.each<[string, object]>([
    ['another password', { password: 'another password' }],
    ['a suspension', { status: 'suspended' }],
    ['being archived', { status: 'archived' }],
  ])('%s', async (_what, change) => {
    const user = await somebody({ token: `static-${Math.random()}-of-somebody` });
    expect((await admin(`/users/${user.id}`, 'PATCH', change)).status).toBe(200);
    expect(await seen(user.access_token)).toBe('401 INVALID_CREDENTIALS');
    expect(await refresh(user)).toBe('401 INVALID_CREDENTIALS');
  });

  it('being deleted', async () => {
    const user = await somebody();
    expect((await admin(`/users/${user.id}`, 'DELETE')).status).toBe(204);
    expect(await seen(user.access_token)).toBe('401 INVALID_CREDENTIALS');
    expect(await refresh(user)).toBe('401 INVALID_CREDENTIALS');
  });

  it('another role outdates the access token, and a refresh brings another one', async () => {
    const user = await somebody();
    expect((await admin(`/users/${user.id}`, 'PATCH', { role: team })).status).toBe(200);
    expect(await seen(user.access_token)).toBe('401 TOKEN_EXPIRED');
    const { json } = await project.post('/auth/refresh', { refresh_token: user.refresh_token });
    expect(await seen(json.data.access_token)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it('a role that is deleted', async () => {
    const role = await project.addRole('team');
    const user = await project.addUser(role);
    const { access_token } = await project.signIn(user);
    expect(await seen(access_token)).toHaveLength(7);
    expect((await admin(`/roles/${role}`, 'DELETE')).status).toBe(204);
    expect(await seen(access_token)).toBe('401 INVALID_CREDENTIALS');
  });

  it('and a change behind its back within five seconds', async () => {
    const user = await somebody();
    await project.rows('DELETE FROM platform.platform_sessions WHERE "user" = $1', [user.id]);
    await soon(() => seen(user.access_token), '401 INVALID_CREDENTIALS', 6_000);
  });
});

describe('the addresses of a role', () => {
  it('are compared with the client, as proxies that are believed tell it', async () => {
    const role = await project.addRole('team', { ip_access: '10.0.0.0/8,2001:db8::/32' });
    const user = await project.addUser(role, { token: 'from-inside-only-0' });
    for (const [address, expected] of [
      ['10.1.2.3', 7],
      ['::ffff:10.1.2.3', 7],
      ['2001:db8::1', 7],
      ['11.0.0.1', '401 INVALID_IP'],
      ['10.1.2.3, 11.0.0.1', '401 INVALID_IP'],
      ['167838211', '401 INVALID_IP'],
    ] as const) {
      const answer = await seen('from-inside-only-0', { 'x-forwarded-for': address });
      expect([address, Array.isArray(answer) ? answer.length : answer]).toEqual([address, expected]);
    }
    expect(await seen('from-inside-only-0')).toBe('401 INVALID_IP');
    const body = { email: user.email, password: user.password };
    expect(failure(await project.post('/auth/login', body))).toBe('401 INVALID_IP');
    expect(failure(await project.post('/auth/login', { ...body, password: 'x' }))).toBe('401 INVALID_CREDENTIALS');
    const inside = { headers: { 'x-forwarded-for': '10.1.2.3' } };
    const { json } = await project.post('/auth/login', body, inside);
    const { refresh_token } = json.data;
    expect(failure(await project.post('/auth/refresh', { refresh_token }))).toBe('401 INVALID_IP');
    expect((await project.post('/auth/refresh', { refresh_token }, inside)).status).toBe(200);
  });
});

describe('a role that demands a second factor', () => {
  it('lets a user without one do nothing but set it up', async () => {
    const user = await project.addUser(await project.addRole('team', { enforce_tfa: true }));
    const { access_token: token } = await project.signIn(user);
    for (const path of ['/items/docs', '/items/docs/1', '/users', `/users/${user.id}`, '/nowhere']) {
      expect([path, failure(await project.server.ask(path, { token }))]).toEqual([path, '403 FORBIDDEN']);
    }
    for (const path of ['/users/me', '/users/me?fields=id,email', '/server/info', '/server/specs/oas', '/auth']) {
      expect([path, (await project.server.ask(path, { token })).status]).toEqual([path, 200]);
    }
    for (const [method, path, body] of [
      ['PATCH', '/users/me', { first_name: 'Mallory' }],
      ['PATCH', '/users/me', { password: 'another long one' }],
      ['PATCH', '/users/me/track/page', { last_page: '/x' }],
      ['POST', '/graphql/system', { query: 'mutation { update_users_me(data: { first_name: "M" }) { id } }' }],
      ['POST', '/utils/hash/generate', { string: 'x' }],
      ['GET', '/users/me?fields=role.*', undefined],
      ['GET', '/users/me?fields[]=role%2Ename', undefined],
      ['GET', '/users/me?fields=count(teams)', undefined],
      ['GET', `/users/me?filter[email][_starts_with]=a`, undefined],
      ['GET', '/users/me?alias[r]=role&fields=r', undefined],
      ['GET', '/users/me?d%65ep[teams][_limit]=1', undefined],
    ] as const) {
      const answer = await project.server.ask(path, { method, token, ...(body && { body }) });
      expect([method, path, failure(answer)]).toEqual([method, path, '403 FORBIDDEN']);
    }
    expect(
      await project.rows(`SELECT first_name, last_page FROM platform.platform_users WHERE id = '${user.id}'`),
    ).toEqual([{ first_name: null, last_page: null }]);
  });
});

it('the last access is noted, once a minute', async () => {
  const user = await project.addUser(member, { token: 'noted-once-a-minute' });
  await seen('noted-once-a-minute');
  await expect.poll(() => lastAccess(user)).toBeInstanceOf(Date);
  const first = await lastAccess(user);
  await seen('noted-once-a-minute');
  expect(await lastAccess(user)).toEqual(first);
});
