/** Client packages of a project by themselves, as a frontend's pipeline makes them: from files, without a database. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { printSchema } from '@tablewright/introspect/resolve';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { blogSchema } from '../../packages/compiler/src/testing/blog.ts';
import { type CommandResult, createProject } from '../support/platform.ts';
import { runWarm } from '../support/warm-command.ts';

const permissions = `roles: { editor: {}, writer: {}, guest: {} }
permissions:
  public: { articles: { read: { fields: [id, title] } } }
  guest: { authors: { read: { fields: [id] } } }
  editor: { articles: { read: true, update: true }, tags: { read: true } }
  writer: { articles: { read: true, update: true }, tags: { read: true } }
`;

let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  project = await createProject();
  await write('platform.schema.json', printSchema(blogSchema()));
  await write('package.json', JSON.stringify({ name: '@acme/Shop' }));
});
beforeEach(async () => {
  await write('permissions.yaml', permissions);
  await rm(join(project.folder, 'generated'), { recursive: true, force: true });
});
afterAll(() => project?.remove());

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(project.folder, path, '..'), { recursive: true });
  await writeFile(join(project.folder, path), text);
}

function generate(...args: readonly string[]): Promise<CommandResult> {
  const nowhere = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nowhere' };
  return runWarm(['generate', '--offline', '--project', project.folder, ...args], nowhere);
}

async function generated(): Promise<readonly string[]> {
  const folder = join(project.folder, 'generated');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1)).sort();
}

const read = (path: string): Promise<string> => readFile(join(project.folder, 'generated', path), 'utf8');

it('writes the clients of the named classes and no other file', async () => {
  const schema = await readFile(join(project.folder, 'platform.schema.json'), 'utf8');
  const { code, stderr } = await generate('--clients-only', '--classes', 'public, editor_writer');
  expect(stderr).toContain('Compiled 2 clients in ');
  expect(code).toBe(0);
  const files = ['collections/articles.d.ts', 'index.d.ts', 'index.js', 'package.json'];
  expect(await generated()).toEqual([
    'client/editor_writer/collections/articles.d.ts',
    'client/editor_writer/collections/tags.d.ts',
    'client/editor_writer/enums.d.ts',
    ...files.slice(1).map((file) => `client/editor_writer/${file}`),
    ...files.map((file) => `client/public/${file}`),
    'manifest.json',
  ]);
  expect(await readFile(join(project.folder, 'platform.schema.json'), 'utf8')).toBe(schema);
});

it('writes what the whole run writes, and takes only its own files away', async () => {
  expect((await generate()).code).toBe(0);
  const whole = await generated();
  const [server, manifest, client] = await Promise.all(
    ['server.js', 'manifest.json', 'client/editor_writer/index.d.ts'].map(read),
  );
  expect((await generate('--clients-only')).stderr).toContain('(0 written');
  await write('generated/manifest.json', 'not JSON');
  expect((await generate('--clients-only')).code).toBe(0);
  await write('generated/manifest.json', manifest ?? '');
  expect(await read('manifest.json')).toBe(manifest);

  await write('generated/client/editor_writer/mine.js', '');
  await write('permissions.yaml', permissions.replaceAll(', tags: { read: true }', ''));
  const { stderr } = await generate('--clients-only', '--classes', 'editor_writer', '--json');
  expect(stderr).toBe('');
  const gone = 'client/editor_writer/collections/tags.d.ts';
  expect(await generated()).toEqual([...whole.filter((path) => path !== gone), 'client/editor_writer/mine.js'].sort());
  expect(await read('client/editor_writer/index.d.ts')).not.toBe(client);
  expect(await read('server.js')).toBe(server);
  const before = JSON.parse(manifest ?? '');
  const after = JSON.parse(await read('manifest.json'));
  expect({ ...after, files: Object.keys(after.files) }).toEqual({
    ...before,
    files: Object.keys(before.files).filter((path) => path !== gone),
  });
  const changed = Object.keys(after.files).filter((path) => after.files[path] !== before.files[path]);
  expect(changed.every((path) => path.startsWith('client/editor_writer/'))).toBe(true);
});

it('says which classes there are, where a name is none of them', async () => {
  const { code, stderr } = await generate('--clients-only', '--classes', 'writer,gest');
  expect(code).toBe(1);
  expect(stderr).toContain('There is no access class "writer".');
  expect(stderr).toContain('Did you mean "editor_writer"? The classes are admin, public, editor_writer, guest.');
  expect(stderr).toContain('There is no access class "gest".');
  expect(stderr).toContain('Did you mean "guest"?');
  await expect(generated()).rejects.toThrow('ENOENT');
});

it.each([
  [['--classes', 'public'], '--classes needs --clients-only.'],
  [['--clients-only', '--check'], '--check judges all files: leave --clients-only out.'],
  [['--clients-only', '--classes', 'public,'], '--classes takes names with commas between them'],
])('refuses %j', async (args, message) => {
  const { code, stderr } = await generate(...args);
  expect(stderr).toContain(message);
  expect(code).toBe(2);
});

it('names packages after the project, or as the configuration says', async () => {
  const nameOf = async (name: string): Promise<string> => JSON.parse(await read(`client/${name}/package.json`)).name;
  await generate('--clients-only');
  expect(await nameOf('editor_writer')).toBe('@acme/shop-client-editor_writer');
  const config = (name: string) =>
    write('platform.config.mjs', `export default { client: { packageName: '${name}' } }`);
  await config('@shop/api-{class}');
  await generate('--clients-only', '--classes', 'public');
  expect(await nameOf('public')).toBe('@shop/api-public');

  for (const [name, message] of [
    ['Shop-{class}', 'npm takes no package named "Shop-public"'],
    ['shop', 'The clients of "admin", "public", "editor_writer", "guest" would all be named "shop".'],
  ] as const) {
    await config(name);
    const { code, stderr } = await generate();
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
    expect(stderr).toContain('platform.config.mjs: client.packageName');
  }
  await rm(join(project.folder, 'platform.config.mjs'));
});
