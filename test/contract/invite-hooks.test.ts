/** Invitations pass the hooks of users, as every other write of users does. Source: API specification, section 3.3. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AccountsProject, serveAccounts } from '../support/accounts.ts';
import { whileHeld } from '../support/holding.ts';
import { type MailServer, startMailServer } from '../support/mail.ts';
import { adminToken } from '../support/platform.ts';
import { failure } from '../support/project.ts';

const hooks = `import { PlatformError } from '@tablewright/runtime';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, after, afterCommit }) => {
  before('platform_users.create', ({ payload }) => {
    if (payload.email?.endsWith('@refused.example')) throw new PlatformError('UNPROCESSABLE_ENTITY', 'Not from there.');
    payload.title = 'before';
  });
  after('platform_users.create', async ({ key, payload, items }) => {
    await items.asAdmin('notes').create({ text: \`made \${payload.email}\` });
    const [name, host] = payload.email?.split('@') ?? [];
    if (host === 'hidden.example') await items('entries').create({ id: 9, list: 2, name: name ?? '' });
    // A write of the same caller, in a hook, has that caller's own rules, not those of invitations.
    if (payload.email?.startsWith('nested')) await items('platform_users').update(key, { title: 'nested' });
  });
  after('platform_users.update', async ({ items }) => {
    await items.asAdmin('notes').create({ text: 'changed' });
  });
  afterCommit('platform_users.create', async ({ items }) => {
    await items.asAdmin('notes').create({ text: 'committed' });
  });
});
`;

let mail: MailServer;
let project: AccountsProject;
let member: string;
let inviters: string;
beforeAll(async () => {
  mail = await startMailServer();
  project = await serveAccounts({
    sql: `CREATE TABLE notes (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text);
      CREATE TABLE lists (id integer PRIMARY KEY, open boolean NOT NULL);
      CREATE TABLE entries (id integer PRIMARY KEY, list integer REFERENCES lists, name text, UNIQUE (list, name));
      INSERT INTO lists VALUES (1, true), (2, false);
      INSERT INTO entries VALUES (1, 2, 'taken')`,
    permissions: `
roles: { member: {}, inviter: {} }
permissions:
  member: { notes: { read: true } }
  inviter:
    platform_roles: { read: true }
    platform_users: { create: { fields: [email, role, title] } }
    lists: { read: { fields: '*', filter: { open: { _eq: true } } } }
    entries: { create: true }`,
    extensions: { 'users.ts': hooks },
    environment: { EMAIL_SMTP_HOST: '127.0.0.1', EMAIL_SMTP_PORT: String(mail.port) },
  });
  member = await project.addRole('member');
  inviters = await project.addRole('inviter');
});
afterAll(async () => {
  await project?.close();
  await mail?.close();
});

const invite = (email: string | readonly string[], token = adminToken) =>
  project.post('/users/invite', { email, role: member }, { token });
const notes = async () => (await project.rows('SELECT text FROM notes ORDER BY id')).map(({ text }) => text);

it('and what a hook throws refuses them all', async () => {
  expect(failure(await invite(['a@example.com', 'b@refused.example']))).toBe('422 UNPROCESSABLE_ENTITY');
  expect(
    await project.rows(`SELECT FROM platform.platform_users WHERE email LIKE '%@example.com' AND status = 'invited'`),
  ).toEqual([]);
  expect(await notes()).toEqual([]);
});

it('and what hooks write is there with the user', async () => {
  expect((await invite('c@example.com')).status).toBe(204);
  await mail.to('c@example.com');
  const [user] = await project.rows(
    `SELECT title, status, password FROM platform.platform_users WHERE email = 'c@example.com'`,
  );
  expect(user).toEqual({ title: 'before', status: 'invited', password: null });
  await expect.poll(notes).toEqual(['made c@example.com', 'committed']);
  expect((await invite('C@example.com')).status).toBe(204);
  await expect.poll(notes).toEqual(['made c@example.com', 'committed', 'changed']);
});

it('but hooks have the rules of the caller for what they write themselves', async () => {
  const inviter = await project.addUser(inviters);
  const { access_token: token } = await project.signIn(inviter);
  expect((await invite('plain@example.com', token)).status).toBe(204);
  expect(failure(await invite('nested@example.com', token))).toBe('403 FORBIDDEN');
  expect((await invite('nested@example.com')).status).toBe(204);
  const [user] = await project.rows(`SELECT title FROM platform.platform_users WHERE email = 'nested@example.com'`);
  expect(user).toEqual({ title: 'nested' });
});

it('and a unique key tells nothing of rows that hooks may not link', async () => {
  const { access_token: token } = await project.signIn(await project.addUser(inviters));
  const [taken, free] = [await invite('taken@hidden.example', token), await invite('free@hidden.example', token)];
  expect(failure(free)).toBe('403 FORBIDDEN');
  expect([taken.status, taken.text]).toEqual([free.status, free.text]);
});

it('and one whose address comes to be meanwhile is invited again', async () => {
  const email = 'late@example.com';
  const id = '00000000-0000-4000-8000-00000000001a';
  const before = `INSERT INTO platform.platform_users (id, email, status) VALUES ('${id}', '${email}', 'invited')`;
  expect((await whileHeld(project.database.url, { before }, () => invite(email))).status).toBe(204);
  const users = await project.rows(`SELECT id, role FROM platform.platform_users WHERE email = '${email}'`);
  expect(users).toEqual([{ id, role: member }]);
  await mail.to(email);
  expect((await notes()).slice(-1)).toEqual(['changed']);
});
