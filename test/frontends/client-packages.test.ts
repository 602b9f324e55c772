/** The three ways of docs/clients.md to use a generated client, each with npm. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printSchema } from '@tablewright/introspect/resolve';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { blogSchema } from '../../packages/compiler/src/testing/blog.ts';
import { packPackages } from '../packages/tarballs.ts';
import { runPlatform } from '../support/platform.ts';
import { createFolder, type InstalledProject, quietly, succeed, withTarballs } from './projects.ts';

let project: InstalledProject;
beforeAll(async () => {
  packPackages();
  project = await createFolder();
});
beforeEach(async () => {
  await succeed(project, 'sh', ['-c', 'rm -rf -- * .npmrc']);
  await write('api/package.json', { name: 'shop', version: '0.1.0', private: true, type: 'module' });
  await write('api/permissions.yaml', 'permissions: { public: { articles: { read: { fields: [id, title] } } } }\n');
  await write('api/platform.schema.json', printSchema(blogSchema()));
  const args = ['generate', '--offline', '--clients-only', '--project', join(project.folder, 'api')];
  const { code, stderr } = await runPlatform(args);
  expect(code, stderr).toBe(0);
});
afterAll(() => project?.remove());

async function write(path: string, contents: string | object): Promise<void> {
  const file = join(project.folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof contents === 'string' ? contents : JSON.stringify(contents));
}

/** Installs in a folder, and gives what the client of `public` that is imported in `web` has. */
async function useClient(folder: string, specifier: string): Promise<string> {
  await succeed(project, 'npm', ['install', '--prefix', folder, ...quietly]);
  const program = `import { createClient } from '${specifier}';
const client = createClient('http://127.0.0.1:1');
console.log(Object.keys(client.items('articles')).join());`;
  await write('web/main.js', program);
  return (await succeed(project, 'node', ['web/main.js'])).trim();
}

const methods = 'readByQuery,readAll,aggregate,readOne,readMany';

it('by a relative import', async () => {
  const web = withTarballs({ name: 'web', private: true, type: 'module', dependencies: { '@tablewright/client': '' } });
  await write('package.json', web);
  expect(await useClient('.', '../api/generated/client/public/index.js')).toBe(methods);
});

it('as a member of a workspace', async () => {
  const { overrides } = withTarballs({});
  await write('package.json', { private: true, workspaces: ['api', 'api/generated/client/*', 'web'], overrides });
  const dependencies = { 'shop-client-public': '0.1.0' };
  await write('web/package.json', { name: 'web', private: true, type: 'module', dependencies });
  expect(await useClient('.', 'shop-client-public')).toBe(methods);
});

it('as a copy in node_modules', async () => {
  const dependencies = { 'shop-client-public': 'file:../api/generated/client/public' };
  const { overrides } = withTarballs({});
  await write('web/package.json', { name: 'web', private: true, type: 'module', dependencies, overrides });
  await write('web/.npmrc', 'install-links=true\n');
  expect(await useClient('web', 'shop-client-public')).toBe(methods);
  // A copy does not follow what is generated later: `npm ci` copies again.
  await write('api/permissions.yaml', 'permissions: { public: { tags: { read: { fields: [id] } } } }\n');
  await runPlatform(['generate', '--offline', '--clients-only', '--project', join(project.folder, 'api')]);
  await succeed(project, 'npm', ['ci', '--prefix', 'web', ...quietly]);
  await expect(succeed(project, 'node', ['web/main.js'])).rejects.toThrow('articles');
});
