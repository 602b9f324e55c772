/** Tables under policies where callers are not passed on to the database: what the connection sees of them is told. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createProject, type Platform, runPlatform, startPlatform } from '../support/platform.ts';
import { urlOfRole } from '../support/roles.ts';

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let url: string;
let server: Platform;
beforeAll(async () => {
  database = await createDatabase();
  url = await urlOfRole(
    database,
    'server',
    (role) => `
    CREATE TABLE notes (id int PRIMARY KEY, owner text);
    CREATE TABLE drafts (id int PRIMARY KEY, owner text);
    CREATE TABLE plain (id int PRIMARY KEY);
    INSERT INTO notes VALUES (1, '${role}'), (2, 'another'); INSERT INTO drafts VALUES (1, 'another');
    ALTER TABLE notes ENABLE ROW LEVEL SECURITY; ALTER TABLE drafts ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON notes USING (owner = current_user);
    GRANT SELECT ON notes, drafts, plain TO ${role};`,
  );
  project = await createProject();
  await writeFile(
    join(project.folder, 'permissions.yaml'),
    'permissions: { public: { notes: { read: true }, drafts: { read: true } } }\n',
  );
  server = await startPlatform(project.folder, url, { LOG_LEVEL: 'warn' });
});
afterAll(async () => {
  await server?.stop();
  await Promise.all([database?.drop(), project?.remove()]);
});

test('the start warns of each table that hides rows, and of no other', async () => {
  expect((await server.ask('/items/notes?fields=id')).json).toEqual({ data: [{ id: 1 }] });
  expect((await server.ask('/items/drafts')).json).toEqual({ data: [] });
  const lines = (): readonly unknown[] =>
    server
      .log()
      .split('\n')
      .flatMap((line) => (line.includes('database role') && line.includes('"level":40') ? [JSON.parse(line)] : []));
  await expect.poll(lines).toMatchObject([
    { table: 'public.drafts', policies: [], msg: expect.stringContaining('sees no rows of public.drafts') },
    { table: 'public.notes', policies: ['own'], msg: expect.stringContaining('sees only rows of public.notes') },
  ]);
});

test('introspection tells it of each table', async () => {
  const { stdout, stderr } = await runPlatform(['introspect', '--project', project.folder], { DATABASE_URL: url });
  const told = stdout + stderr;
  expect(told).toContain('sees no rows of "drafts": no policy for reading is for it. Lists of it are empty.');
  expect(told).toContain('sees only rows of "notes" that its policies let through: "own".');
  expect(told).not.toContain('"plain"');
});

test('a role that no policy binds is told as a note', async () => {
  const environment = { DATABASE_URL: database.url };
  const { stdout, stderr } = await runPlatform(['introspect', '--notes', '--project', project.folder], environment);
  expect(stdout + stderr).toContain('Row-level security of "drafts" does not bind the database role');
});
