/** Users and roles by the command line: what it makes can sign in, what it changes ends what was there. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { createDatabase } from '../support/database.ts';
import { runPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';

let project: AccountsProject;
beforeAll(async () => {
  project = await serveAccounts({
    sql: 'CREATE TABLE docs (id integer PRIMARY KEY); INSERT INTO docs VALUES (1)',
    permissions: `
roles: { editor: { description: Writes., app: true }, chief: { admin: true }, idle: {} }
permissions: { editor: { docs: { read: true } }, idle: { docs: { read: { fields: [id] } } } }`,
  });
});
afterAll(() => project?.close());

async function platform(args: readonly string[], input = '') {
  const all = [...args, '--json', '--project', project.folder];
  const { code, stdout, stderr } = await runPlatform(all, { DATABASE_URL: project.database.url }, input);
  const events = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { code, stderr, events: events.filter(({ event }) => event === 'user' || event === 'role') };
}

const login = (email: string, password: string) => project.post('/auth/login', { email, password });

it('a user is made with a role of the permissions file and a password that is told once', async () => {
  const { code, events } = await platform(['users', 'create', 'eve@example.com', '--role', 'editor']);
  expect([code, events]).toEqual([
    0,
    [{ event: 'user', email: 'eve@example.com', role: 'editor', password: expect.any(String) }],
  ]);
  const { json } = await login('eve@example.com', events[0].password);
  const docs = await project.server.ask('/items/docs', { token: json.data.access_token });
  expect(docs.json.data).toEqual([{ id: 1 }]);
  const again = await platform(['users', 'create', 'EVE@example.com']);
  expect(again.stderr).toMatch(/There is a user .*\n.* users passwd/);
});

it('a password from the standard input is taken, and ends the sessions there are', async () => {
  await platform(['users', 'create', 'bob@example.com', '--password-stdin'], 'the first password\n');
  const { json } = await login('bob@example.com', 'the first password');
  const { code } = await platform(['users', 'passwd', 'Bob@example.com', '--password-stdin'], 'the second password');
  expect(code).toBe(0);
  expect(failure(await login('bob@example.com', 'the first password'))).toBe('401 INVALID_CREDENTIALS');
  expect((await login('bob@example.com', 'the second password')).status).toBe(200);
  const { refresh_token } = json.data;
  expect(failure(await project.post('/auth/refresh', { refresh_token }))).toBe('401 INVALID_CREDENTIALS');
});

it('of a user of a provider it ends the sessions, and says that no password counts', async () => {
  const { email } = await project.addUser(null, { provider: 'corp', external_identifier: 'x' });
  const shown = await runPlatform(['users', 'passwd', email, '--project', project.folder], {
    DATABASE_URL: project.database.url,
  });
  expect(shown.stderr).toContain(
    `Every session of ${email} has ended. No password counts: this user signs in at "corp".`,
  );
  await project.rows('DELETE FROM platform.platform_users WHERE email = $1', [email]);
});

it('a static token is given and taken away', async () => {
  const [{ token }] = (await platform(['users', 'token', 'eve@example.com'])).events;
  expect((await project.server.ask('/users/me', { token })).status).toBe(200);
  await platform(['users', 'token', 'eve@example.com', '--remove']);
  expect(await project.rows('SELECT 1 FROM platform.platform_users WHERE token IS NOT NULL')).toEqual([]);
});

it('users and roles are listed, and roles of the file made', async () => {
  const users = await platform(['users', 'list']);
  expect(users.events.map(({ email, role, status }) => [email, role, status])).toEqual([
    ['admin@example.com', 'admin', 'active'],
    ['bob@example.com', null, 'active'],
    ['eve@example.com', 'editor', 'active'],
  ]);
  const shown = await runPlatform(['roles', '--project', project.folder], { DATABASE_URL: project.database.url });
  expect(shown.stderr).toContain('Only in the permissions file: chief, idle');
  await platform(['roles', '--sync']);
  await project.rows(`INSERT INTO platform.platform_roles (name) VALUES ('unruled')`);
  const roles = await platform(['roles']);
  expect(roles.events.map(({ name, admin, app, ruled, users: count }) => [name, admin, app, ruled, count])).toEqual([
    ['admin', true, true, true, 1],
    ['chief', true, false, true, 0],
    ['editor', false, true, true, 1],
    ['idle', false, false, true, 0],
    ['unruled', false, true, false, 0],
  ]);
});

it.each([
  [['users', 'create', 'nobody'], 'is no e-mail address'],
  [['users', 'create', 'a@example.com', '--role', 'other'], 'There is no role "other"'],
  [['users', 'create', 'a@example.com', '--password-stdin'], 'There is no password'],
  [['users', 'passwd', 'nobody@example.com'], /There is no user .*\n.* users list/],
  [['users', 'token', 'nobody@example.com'], /There is no user .*\n.* users list/],
  [['users', 'unknown'], "unknown command 'unknown'"],
])('%j fails with what is wrong', async (args, message) => {
  const { code, stderr } = await platform(args);
  expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
});

it('a password that is too short is refused', async () => {
  const { code, stderr } = await platform(['users', 'passwd', 'eve@example.com', '--password-stdin'], 'short\n');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/at least 8 characters.*\n.*--password-stdin/)]);
});

it('without the tables there are no users', async () => {
  const database = await createDatabase();
  const { code, stderr } = await runPlatform(['users', 'list', '--project', project.folder], {
    DATABASE_URL: database.url,
  });
  await database.drop();
  expect([code, stderr]).toEqual([1, expect.stringMatching(/Run `.* migrate --project .*` to install them/)]);
});
