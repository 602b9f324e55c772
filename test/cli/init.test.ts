/** What `platform init` makes of a folder, and what the next commands make of that. */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { type CommandResult, startPlatform } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

let root: string;
let database: TestDatabase;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'platform-init-'));
  database = await createDatabase('CREATE TABLE books (id int PRIMARY KEY); INSERT INTO books VALUES (7)');
});
afterAll(() => Promise.all([database?.drop(), rm(root, { recursive: true, force: true })]));

/** A folder with these files. */
async function folderWith(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(root, name);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

function platform(folder: string, ...args: readonly string[]): Promise<CommandResult> {
  return runWarm([...args, '--project', folder]);
}

const written = ['.env.example', '.gitignore', 'permissions.yaml', 'tsconfig.json'];

it('makes a whole project of an empty folder, whose first answer has rows', async () => {
  const folder = join(root, 'My Shop');
  expect((await platform(folder, 'init', '--yes')).code).toBe(0);
  expect((await readdir(folder)).sort()).toEqual(
    [...written, 'migrations', 'package.json', 'platform.config.ts'].sort(),
  );
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  expect(manifest).toMatchObject({ name: 'my-shop', private: true, type: 'module' });
  expect(Object.keys(manifest.scripts)).toEqual(['dev', 'generate', 'check', 'start']);
  expect((await platform(folder, 'generate')).code).toBe(0);
  const server = await startPlatform(folder, '', {}, []);
  const { json } = await server.ask('/items/products?fields=name,category_id.name&limit=1');
  expect(json).toEqual({ data: [{ name: 'Desk lamp', category_id: { name: 'Lamps' } }] });
  await server.stop();
}, 120_000);

it('has a start without an embedded database make it of the migrations', async () => {
  const folder = join(root, 'My Shop');
  await rm(join(folder, '.platform'), { recursive: true });
  const server = await startPlatform(folder, '', {}, []);
  expect((await server.ask('/items/categories?fields=name')).json.data).toHaveLength(2);
  await server.stop();
}, 120_000);

it('changes nothing that is there', async () => {
  const files = { 'package.json': '{ "type": "module" }', 'permissions.yaml': 'roles: {}\n', '.gitignore': '.env' };
  const folder = await folderWith('present', files);
  const { stdout } = await platform(folder, 'init', '--yes', '--json');
  const events = stdout.split('\n').filter((line) => line.startsWith('{"event":"file"'));
  const kept = events.map((line) => JSON.parse(line)).filter((event) => !event.written);
  expect(kept.map(({ file }) => file)).toEqual(['package.json', 'permissions.yaml']);
  expect(await readdir(folder)).not.toContain('migrations');
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('.env\nnode_modules/\n.platform/\n');
  for (const name of ['package.json', 'permissions.yaml'] as const) {
    expect(await readFile(join(folder, name), 'utf8')).toBe(files[name]);
  }
  const again = await platform(folder, 'init', '--yes', '--json');
  expect(again.stdout).not.toContain('"written":true');
});

it('fits a project of CommonJS modules, with extensions', async () => {
  const extension = `import { defineExtension } from '../generated/extension.js';
export default defineExtension(({ before }) => before('products.create', ({ payload }) => {
  payload.name = 'renamed';
}));
`;
  const folder = await folderWith('common', {
    'package.json': '{ "type": "commonjs" }',
    'extensions/rename.mts': extension,
  });
  expect((await platform(folder, 'init', '--yes')).code).toBe(0);
  const config = join(folder, 'platform.config.mts');
  await writeFile(config, (await readFile(config, 'utf8')).replace("{ enums: 'types' }", 'false'));
  expect((await platform(folder, 'generate')).code).toBe(0);
  expect(await readdir(join(folder, 'generated'))).not.toContain('graphql');
  const server = await startPlatform(folder, '', {}, []);
  const body = { name: 'Lamp', price: 1, category_id: 1 };
  const { json } = await server.admin('/items/products', { method: 'POST', body });
  expect(json.data.name).toBe('renamed');
  await server.stop();
}, 120_000);

it('tells a project of CommonJS modules what a configuration has to be called', async () => {
  const config = "import { defineConfig } from 'tablewright/config';\nexport default defineConfig({});\n";
  const folder = await folderWith('named', { 'package.json': '{ "type": "commonjs" }', 'platform.config.ts': config });
  const { code, stderr } = await platform(folder, 'generate');
  expect([code, stderr]).toEqual([1, expect.stringContaining('Call it platform.config.mts')]);
});

it('reads .env, where the environment wins', async () => {
  const folder = await folderWith('variables', { '.env': `DATABASE_URL=${database.url}\n` });
  const run = (url: string | undefined, ...args: readonly string[]): Promise<CommandResult> =>
    runWarm([...args, '--project', folder], { DATABASE_URL: url });
  expect((await run(undefined, 'init', '--yes')).code).toBe(0);
  expect(await readdir(folder)).not.toContain('migrations');
  expect((await run(undefined, 'generate')).stderr).toContain('Compiled 1 collection');
  expect((await run('postgres://u@127.0.0.1:1/x', 'generate')).code).toBe(3);
});

it('makes nothing public in a database that has other tables, until its own are made there', async () => {
  const other = await createDatabase(
    'CREATE TABLE products (id int PRIMARY KEY, name text, price int, category_id int)',
  );
  const folder = join(root, 'moved');
  expect((await platform(folder, 'init', '--yes')).code).toBe(0);
  const run = (...args: readonly string[]): Promise<CommandResult> =>
    runWarm([...args, '--project', folder], { DATABASE_URL: other.url });
  const { code, stderr } = await run('generate');
  expect([code, stderr]).toEqual([0, expect.stringContaining('The rules of a new project are left out')]);
  const server = await startPlatform(folder, other.url, {}, []);
  expect((await server.ask('/items/products')).status).toBe(403);
  expect((await server.admin('/items/products')).json).toEqual({ data: [] });
  await server.stop();
  expect((await run('check')).code).toBe(0);
  await withClient(other.url, (client) => client.query('DROP TABLE products'));
  expect((await run('migrate')).code).toBe(0);
  expect((await run('generate')).stderr).not.toContain('left out');
  expect(await readFile(join(folder, 'generated/access/public.js'), 'utf8')).toContain('products');
  await other.drop();
}, 120_000);
