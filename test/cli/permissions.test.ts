/** Roles and rules in the file and in the tables: what is compiled, what is told when they differ, and how they meet. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ContractDatabase, createSystemDatabase, isOnMariadb } from '../support/contract-database.ts';
import { createProject } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

let database: ContractDatabase;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createSystemDatabase('CREATE TABLE docs (id integer PRIMARY KEY, title text)');
  project = await createProject();
  await write('permissions.yaml', first);
});
afterAll(async () => {
  await project?.remove();
  await database?.drop();
});

const first = `# Ours.
roles:
  editor: { description: Writes, app: true }
permissions:
  editor: { docs: { read: true, update: [{ fields: [title], presets: { title: a } }, { fields: [id] }] } }
  public: { docs: { read: { fields: [id], filter: { title: { _eq: a } } } } }
`;

const path = (name: string) => join(project.folder, name);
const write = (name: string, text: string) => writeFile(path(name), text);
const run = (sql: string) => database.rows(sql);

async function platform(...args: readonly string[]) {
  const all = [...args, '--json', '--project', project.folder];
  const { code, stdout, stderr } = await runWarm(all, { DATABASE_URL: database.url });
  const events = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  return { code, stderr, differences: events.filter(({ event }) => event === 'difference'), events };
}

const warnings = (events: readonly { readonly event: string; readonly code?: string }[]) =>
  events.flatMap(({ event, code = '' }) => (event === 'diagnostic' && code.startsWith('permission') ? [code] : []));

it('push shows the difference first, and makes the tables equal to the file when told so', async () => {
  const shown = await platform('permissions', 'push');
  expect([shown.code, shown.differences.length]).toEqual([1, 4]);
  expect(shown.stderr).toContain('--yes');
  expect(await run('SELECT 1 FROM platform.platform_permissions')).toEqual([]);
  expect((await platform('permissions', 'push', '--yes')).code).toBe(0);
  expect(
    await run(`SELECT r.name, p.action, p.permissions, p.presets, p.fields
      FROM platform.platform_permissions p LEFT JOIN platform.platform_roles r ON r.id = p.role ORDER BY p.id`),
  ).toEqual([
    { name: 'editor', action: 'read', permissions: null, presets: null, fields: '*' },
    { name: 'editor', action: 'update', permissions: null, presets: { title: 'a' }, fields: 'title' },
    { name: 'editor', action: 'update', permissions: null, presets: null, fields: 'id' },
    { name: null, action: 'read', permissions: { title: { _eq: 'a' } }, presets: null, fields: 'id' },
  ]);
  expect(await platform('permissions', 'diff')).toMatchObject({ code: 0, differences: [] });
  const deep = `repeat('{"_and":[', 99) || '{}' || repeat(']}', 99)`;
  const values = `'docs', 'read', (${deep})::json, 'id'`;
  await run(`INSERT INTO platform.platform_permissions (collection, action, permissions, fields) VALUES (${values})`);
  const unread = await platform('permissions', 'diff');
  expect([unread.code, unread.events.some(({ code }) => code === 'permissions-form')]).toEqual([1, true]);
  await run(`DELETE FROM platform.platform_permissions WHERE collection = 'docs' AND fields = 'id' AND role IS NULL
    AND permissions::text LIKE '{"_and"%'`);
});

it('pull takes no rules away because the tables were never filled', async () => {
  await run('CREATE TABLE kept AS SELECT * FROM platform.platform_permissions');
  await run('DELETE FROM platform.platform_permissions');
  const { code, stderr } = await platform('permissions', 'pull');
  await run('INSERT INTO platform.platform_permissions SELECT * FROM kept');
  await run('DROP TABLE kept');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/The tables have no rules.*\n.*permissions push --yes/)]);
  expect(await readFile(path('permissions.yaml'), 'utf8')).toBe(first);
});

it('push takes no rights away because the file is somewhere else', async () => {
  await rename(path('permissions.yaml'), path('elsewhere.yaml'));
  const { code, stderr } = await platform('permissions', 'push', '--yes');
  expect([code, stderr]).toEqual([2, expect.stringMatching(/There is no file ".*permissions\.yaml"\.\n.*--project/)]);
  expect(await run('SELECT count(*)::text AS rules FROM platform.platform_permissions')).toEqual([{ rules: '4' }]);
  await rename(path('elsewhere.yaml'), path('permissions.yaml'));
});

it('what is compiled is what the configuration names, and a difference is told', async () => {
  await run("UPDATE platform.platform_permissions SET fields = 'id,title' WHERE role IS NULL");
  const fromFile = await platform('generate');
  expect([fromFile.code, warnings(fromFile.events)]).toEqual([0, ['permissions-differ']]);
  expect(await readFile(path('generated/access/public.js'), 'utf8')).toContain("fields: ['id']");
  await write('platform.config.ts', "export default { permissionSource: 'tables' };\n");
  const fromTables = await platform('generate');
  expect([fromTables.code, warnings(fromTables.events)]).toEqual([0, ['permissions-differ']]);
  expect(await readFile(path('generated/access/public.js'), 'utf8')).toContain("fields: '*'");
  expect(await readFile(path('generated/server.js'), 'utf8')).toMatch(/permissionsDigest:\s+'[0-9a-f]{64}'/);
});

it('who may do something is asked of the tables where they are what is compiled', async () => {
  const { code, events } = await platform('can', 'public', 'read', 'docs');
  expect([code, events.find(({ event }) => event === 'answer').rules[0].fields]).toEqual([0, ['id', 'title']]);
});

it('items of the platform are judged by their keys as well', async () => {
  const keys = ['5b0f6c1e-0000-4000-8000-0000000000c1', '5b0f6c1e-0000-4000-8000-0000000000c2'] as const;
  for (const [index, key] of keys.entries()) {
    await run(`INSERT INTO platform.platform_users (id, email, role)
      SELECT '${key}', 'user${index}@example.com', id FROM platform.platform_roles WHERE name = 'editor'`);
  }
  const can = (key: string) => platform('can', 'editor', 'read', 'platform_users', key, '--user', keys[0]);
  const [own, other, none] = [await can(keys[0]), await can(keys[1]), await can(keys[0].replace('c1', 'c3'))];
  await run('DELETE FROM platform.platform_users');
  expect([own.code, other.code, none.code]).toEqual([0, 1, 2]);
  const [{ holds, failing }] = other.events.find(({ event }) => event === 'answer').rules;
  expect([holds, failing]).toEqual([false, ['id _eq $CURRENT_USER']]);
});

it('pull writes the file from the tables, after which both say the same, also without a database', async () => {
  // Its comments stay, also those of a file that a shell of Windows has written.
  await writeFile(path('permissions.yaml'), `\ufeff${first}`, 'utf16le');
  expect((await platform('permissions', 'pull')).code).toBe(0);
  expect(await readFile(path('permissions.yaml'), 'utf8')).toBe(`# Ours.
roles:
  editor:
    description: Writes
    app: true
permissions:
  editor:
    docs:
      read: true
      update: [ { fields: [ title ], presets: { title: a } }, { fields: [ id ] } ]
  public:
    docs:
      read: { fields: [ id, title ], filter: { title: { _eq: a } } }
`);
  const generated = await platform('generate');
  expect([generated.code, warnings(generated.events)]).toEqual([0, []]);
  const server = await readFile(path('generated/server.js'), 'utf8');
  expect((await platform('generate', '--offline')).code).toBe(0);
  expect(await readFile(path('generated/server.js'), 'utf8')).toBe(server);
});

it.skipIf(isOnMariadb())(
  'pull keeps rights to call functions, which no table has, and the right to remove for good',
  async () => {
    await run(`CREATE FUNCTION twice(n integer) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 2 * n'`);
    await run(`CREATE FUNCTION mine(who uuid) RETURNS uuid LANGUAGE sql IMMUTABLE AS 'SELECT who'`);
    await run(`CREATE FUNCTION ours(role uuid) RETURNS uuid LANGUAGE sql IMMUTABLE AS 'SELECT role'`);
    await run('ALTER TABLE docs ADD gone timestamptz');
    await write(
      'platform.config.ts',
      `export default { permissionSource: 'tables', functions: { mine: {}, ours: {}, twice: {} },
      collections: { docs: { softDelete: { field: 'gone' } } } };\n`,
    );
    const kept = await readFile(path('permissions.yaml'), 'utf8');
    const functions =
      'functions:\n  public:\n    - twice\n  editor:\n' +
      '    mine:\n      args: { who: $CURRENT_USER }\n    ours:\n      args: { role: $CURRENT_ROLE }\n' +
      '    twice:\n      args: { n: 2 }\n';
    const rules = kept.replace(
      '  public:\n',
      '      delete: { filter: { title: { _eq: a } }, purge: true }\n  public:\n',
    );
    await write('permissions.yaml', `${rules}${functions}`);
    const pushed = await platform('permissions', 'push', '--yes');
    expect([pushed.code, pushed.differences.length]).toEqual([0, 1]);
    expect(await platform('permissions', 'diff')).toMatchObject({ code: 0, differences: [] });
    await run(`UPDATE platform.platform_permissions SET fields = 'id' WHERE role IS NULL`);
    expect((await platform('permissions', 'pull')).code).toBe(0);
    const pulled = await readFile(path('permissions.yaml'), 'utf8');
    expect(pulled).toContain('delete: { filter: { title: { _eq: a } }, purge: true }');
    expect(pulled.endsWith(functions)).toBe(true);
    expect((await platform('generate')).code).toBe(0);
    expect((await platform('can', 'public', 'call', 'twice')).code).toBe(0);
    // Without the user that a value needs there is no right.
    expect((await platform('can', 'editor', 'call', 'mine')).code).toBe(1);
    expect((await platform('can', 'editor', 'call', 'mine', '--user', 'x')).code).toBe(0);
    const call = ['GET /functions/ours', '--as'] as const;
    const explained = [
      await platform('explain', ...call, 'editor'),
      await platform('explain', ...call, 'editor', '--offline'),
    ];
    expect(explained.map(({ code }) => code)).toEqual([0, 0]);
    const removal = await platform('can', 'editor', 'delete', 'docs');
    expect(removal.events.find(({ event }) => event === 'answer').rules).toMatchObject([{ purge: true }]);
    expect(await readFile(path('generated/access/editor.js'), 'utf8')).toContain('purge: true');
    await run(`DELETE FROM platform.platform_permissions WHERE action = 'delete'`);
    await write('platform.config.ts', "export default { permissionSource: 'tables' };\n");
    await write('permissions.yaml', kept);
  },
);

it('rows that do not compile are told by their keys, and a file that does not compile is not pushed', async () => {
  await run(
    "INSERT INTO platform.platform_permissions (id, collection, action, fields) VALUES (90, 'dcos', 'read', '*')",
  );
  const { code, stderr } = await platform('generate');
  expect(code).toBe(1);
  expect(stderr).toContain('platform_permissions 90');
  await run('DELETE FROM platform.platform_permissions WHERE id = 90');
  await write('permissions.yaml', `${first}  nobody: { docs: { read: true } }\n`);
  expect((await platform('permissions', 'push', '--yes')).stderr).toContain('nobody');
});

it('a role that users have is not removed by push', async () => {
  await run(`INSERT INTO platform.platform_users (email, role)
    SELECT 'eve@example.com', id FROM platform.platform_roles WHERE name = 'editor'`);
  await write('permissions.yaml', 'permissions: { public: { docs: { read: true } } }\n');
  const refused = await platform('permissions', 'push', '--yes');
  expect([refused.code, refused.stderr.includes('"editor"')]).toEqual([1, true]);
  expect((await run('SELECT count(*)::int AS rules FROM platform.platform_permissions'))[0]).toEqual({ rules: 4 });
  await run('DELETE FROM platform.platform_users');
  expect((await platform('permissions', 'push', '--yes')).code).toBe(0);
  expect(await run('SELECT fields FROM platform.platform_permissions')).toEqual([{ fields: '*' }]);
});

it.skipIf(isOnMariadb())('tables in a schema that the role may not enter are as none', async () => {
  const role = `outside_${database.name}`;
  await run(`CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT SELECT ON docs TO ${role}`);
  const url = new URL(database.url);
  Object.assign(url, { username: role, password: 'x' });
  const asOutside = (...args: readonly string[]) =>
    runWarm([...args, '--project', project.folder], { DATABASE_URL: url.href });
  try {
    await write('platform.config.ts', 'export default {};\n');
    await write('permissions.yaml', first);
    const generated = await asOutside('generate');
    expect(generated.code).toBe(0);
    expect(generated.stderr).toContain('USAGE ON ALL SEQUENCES IN SCHEMA "platform" to it.');
    // No configuration leaves out the tables of the platform.
    const { stdout, stderr } = await asOutside('doctor');
    expect(stdout + stderr).toContain('GRANT SELECT ON "platform"."platform_roles" to it.\n');
    expect((await asOutside('check')).code).toBe(0);
    await write('platform.config.ts', "export default { permissionSource: 'tables' };\n");
    const checked = await asOutside('check');
    expect(checked.stderr).toContain(
      'permissionSource: The permissions are to come from the tables of the platform, and these cannot be read.',
    );
    expect(checked.code).toBe(1);
    await write('platform.config.ts', 'export default {};\n');
    const can = await asOutside('can', 'editor', 'read', 'docs', '1');
    expect(can.stderr).toContain('The database refuses: permission denied for schema platform.');
    await run(`GRANT USAGE ON SCHEMA platform TO ${role}; GRANT SELECT ON platform.platform_roles TO ${role}`);
    const change = ['PATCH /items/docs/1', '--as', 'editor', '--data', '{"title":"b"}'];
    const rehearsed = await asOutside('explain', ...change, '--rehearse');
    expect(rehearsed.stderr).toContain('The database refuses: permission denied for table docs.');
    expect([can.code, rehearsed.code]).toEqual([2, 2]);
  } finally {
    await run(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});

it('a database of a later version fits nothing', async () => {
  await run("INSERT INTO platform.platform_migrations VALUES (99, 'later', repeat('0', 64), now(), '99.0.0')");
  const { code, events } = await platform('check');
  await run('DELETE FROM platform.platform_migrations WHERE id = 99');
  const pairs = events.filter(({ event, pair }) => event === 'verdict' && pair.includes('database'));
  expect(pairs.map(({ findings }) => findings.map(({ object }: { readonly object: string }) => object))).toEqual([
    expect.arrayContaining(['database']),
    expect.arrayContaining(['database']),
    expect.arrayContaining(['database']),
  ]);
  expect(code).toBe(1);
});
