/** What docs/system-tables.md shows works as it stands there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectPostgres } from '../../packages/runtime/src/dialects/postgres/database.ts';
import { logChanges } from '../../packages/runtime/src/system/log-changes.ts';
import { createAccountFinder } from '../../packages/runtime/src/users/account.ts';
import { createDatabase, withClient } from '../support/database.ts';
import { readExamples } from '../support/examples.ts';
import { createProject, runPlatform } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

const page = readFileSync(fileURLToPath(new URL('../../docs/system-tables.md', import.meta.url)), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = '']) =>
    name === language ? [text] : [],
  );
const [alter = '', grants = ''] = blocks('sql');
const [permissions = ''] = blocks('yaml');

const ada = '00000000-0000-4000-8000-00000000000a';
let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: `CREATE TABLE articles (id integer PRIMARY KEY, title text);
      ${alter}
      INSERT INTO platform.platform_users (id, first_name, status, token)
        VALUES ('${ada}', 'Ada', 'active', 'static'), (gen_random_uuid(), 'Bob', 'suspended', NULL);
      INSERT INTO articles SELECT row_number() OVER (ORDER BY first_name), first_name, id FROM platform.platform_users;`,
    permissions,
  });
});
afterAll(() => project?.close());

it('the request names authors that are active', async () => {
  const [path = ''] = /\/items\/\S+author_id\.first_name/.exec(page) ?? [];
  expect((await project.ask(path)).json).toEqual({
    data: [
      { title: 'Ada', author_id: { first_name: 'Ada' } },
      { title: 'Bob', author_id: null },
    ],
  });
});

it('the request makes a user', async () => {
  const [{ method, path, body } = { method: '', path: '', body: '' }] = readExamples(page);
  const role = await project.admin('/roles', { method: 'POST', body: { name: 'member' } });
  const made = await project.admin(path, { method, body: body.replace('…', role.json.data.id) });
  expect([made.status, made.json.data]).toMatchObject([200, { email: 'eve@example.com', role: role.json.data.id }]);
});

it('the commands install the tables and compile them', async () => {
  const database = await createDatabase();
  const other = await createProject();
  const [commands = ''] = blocks('sh');
  try {
    for (const line of commands.trim().split('\n')) {
      const [, args = ''] = /^platform (.*?) *#/.exec(line) ?? [];
      const ended = await runPlatform([...args.split(' '), '--project', other.folder], { DATABASE_URL: database.url });
      expect([args, ended.code]).toEqual([args, 0]);
    }
    expect(readFileSync(join(other.folder, 'generated/collections/platform_users.d.ts'), 'utf8')).toContain('email');
  } finally {
    await other.remove();
    await database.drop();
  }
});

it('the grants are all that a server needs', async () => {
  await withClient(project.database.url, (client) =>
    client.query(`CREATE ROLE server_role LOGIN PASSWORD 'server'; ${grants}`),
  );
  const url = new URL(project.database.url);
  url.username = 'server_role';
  url.password = 'server';
  const server = await connectPostgres({ url: url.href });
  try {
    expect(
      await createAccountFinder(server, { schema: '"platform"', dialect: 'postgres' }).byToken('static'),
    ).toMatchObject({ id: ada });
    const change = { action: 'create', collection: 'articles', item: '1', parent: null } as const;
    const origin = { user: ada, ip: null, userAgent: null, origin: null };
    const { text, parameters } = logChanges('"platform"', origin, [{ ...change, revision: { data: {}, delta: {} } }]);
    await withClient(url.href, (client) => client.query(text, [...parameters]));
  } finally {
    await server.close(0);
    await withClient(project.database.url, (client) =>
      client.query('DROP OWNED BY server_role; DROP ROLE server_role'),
    );
  }
});
