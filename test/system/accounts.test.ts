/** Users are found by what a request brings, in one statement each; what nobody has is nobody, never an error. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { type AccountFinder, createAccountFinder } from '../../packages/runtime/src/users/account.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type CountingProxy, countStatements } from '../support/proxy.ts';
import { installSystem } from '../support/system.ts';

const ada = '00000000-0000-4000-8000-00000000000a';
const bob = '00000000-0000-4000-8000-00000000000b';
const editors = '00000000-0000-4000-8000-0000000000ed';
const session = '00000000-0000-4000-8000-00000000005e';
const ended = '00000000-0000-4000-8000-00000000005f';

let database: TestDatabase;
let proxy: CountingProxy;
let connection: Awaited<ReturnType<typeof connectPostgres>>;
let find: AccountFinder;
beforeAll(async () => {
  database = await createDatabase();
  await installSystem(database.url, { schema: "it's" });
  await withClient(database.url, (client) =>
    client.query(`SET search_path = "it's";
      INSERT INTO platform_roles (id, name, ip_access, enforce_tfa) VALUES ('${editors}', 'editor', '10.0.0.0/8, ::1', true);
      INSERT INTO platform_users (id, email, password, token, role, security_version, tfa_secret)
        VALUES ('${ada}', 'Ada@Example.com', 'hash', 'static-token', '${editors}', 3, 'secret');
      INSERT INTO platform_users (id, email, status) VALUES ('${bob}', 'bob@example.com', 'suspended');
      INSERT INTO platform_sessions (id, "user", security_version, expires_at)
        VALUES ('${session}', '${ada}', 2, now() + interval '1 day'), ('${ended}', '${ada}', 3, now());`),
  );
  proxy = await countStatements(database.url);
  connection = await connectPostgres({ url: proxy.url });
  find = createAccountFinder(connection, { schema: '"it\'s"', dialect: 'postgres' });
  // Whatever a pool does when it begins is behind it then.
  await find.byToken('nobody');
});
afterAll(async () => {
  await connection?.close(0);
  await proxy?.close();
  await database?.drop();
});

const adasAccount = {
  id: ada,
  email: 'Ada@Example.com',
  status: 'active',
  provider: 'default',
  securityVersion: 3,
  hasTfa: true,
  role: {
    id: editors,
    name: 'editor',
    adminAccess: false,
    appAccess: true,
    enforceTfa: true,
    ipAccess: ['10.0.0.0/8', '::1'],
  },
};

describe('a user is found', () => {
  it('by a static token, in one statement', async () => {
    proxy.reset();
    expect(await find.byToken('static-token')).toEqual(adasAccount);
    expect(proxy.executed()).toBe(1);
  });

  it('by an address in any case, with what signing in needs', async () => {
    for (const email of ['ada@example.com', 'ADA@EXAMPLE.COM', 'ａda@example.com']) {
      expect(await find.byEmail(email)).toEqual({ account: adasAccount, password: 'hash', tfaSecret: 'secret' });
    }
    expect(await find.byEmail('bob@example.com')).toMatchObject({
      account: { id: bob, status: 'suspended', hasTfa: false, role: null },
      password: null,
      tfaSecret: null,
    });
  });

  it('by a session that has not ended', async () => {
    expect(await find.bySession(session)).toEqual({ account: adasAccount, securityVersion: 2 });
    expect(await find.bySession(ended)).toBeNull();
  });
});

it.each(['', 'Static-token', '\0', 'a\0b', '\ud800', "'", ada])('nobody is %j', async (text) => {
  for (const look of [find.byToken, find.byEmail, find.bySession]) expect(await look(text)).toBeNull();
});

it('nobody has a token or an address of any length', async () => {
  for (const look of [find.byToken, find.byEmail]) expect(await look('x'.repeat(100_000))).toBeNull();
});

it('an address is looked up by its index', async () => {
  await withClient(database.url, async (client) => {
    await client.query(`SET enable_seqscan = off`);
    const { rows } = await client.query(
      `EXPLAIN SELECT FROM "it's".platform_users AS u
       WHERE "it's".platform_normal_email(u.email) = "it's".platform_normal_email('a')`,
    );
    expect(JSON.stringify(rows)).toContain('platform_users_email_key');
  });
});
