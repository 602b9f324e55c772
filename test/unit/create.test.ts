/**
 * `create-tablewright` as people call it, in folders outside of the repository; `test/packages` installs what it makes, and
 * `test/cli/first-steps.test.ts` has the mistakes.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, expect, test } from 'vitest';

const command = join(import.meta.dirname, '../../packages/create/bin/create-tablewright.cjs');
const root = mkdtempSync(join(tmpdir(), 'create-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function create(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, npm_config_user_agent: '', ...environment };
  const { status, stderr } = spawnSync(process.execPath, [command, ...args], { cwd: root, env, encoding: 'utf8' });
  return { status, stderr };
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('writes an API with tables to begin with, and says what comes next', () => {
  const { status, stderr } = create(['shop', '--yes', '--no-install']);
  expect(status).toBe(0);
  expect(stderr).toContain('Next:\n  cd shop\n  npm install\n  npm run generate\n  npm run dev\n');
  expect(readdirSync(join(root, 'shop')).sort()).toEqual(
    ['.env.example', '.gitignore', 'README.md', 'migrations', 'package.json', 'permissions.yaml'].concat(
      'platform.config.ts',
      'tsconfig.json',
    ),
  );
  const manifest = JSON.parse(read('shop/package.json'));
  expect(manifest.name).toBe('shop');
  expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(['dev', 'generate', 'check', 'start']));
  expect(read('shop/.gitignore').split('\n')).toEqual(expect.arrayContaining(['.env', '.platform/', 'node_modules/']));
});

test('writes the URL of a database to .env and nowhere else', () => {
  const url = "postgres://me:p%23q'x@127.0.0.1:5432/mine";
  expect(create(['mine', '--no-install', '--database', url]).status).toBe(0);
  expect(statSync(join(root, 'mine/.env')).mode & 0o777).toBe(0o600);
  expect(parseEnv(read('mine/.env'))).toEqual({ DATABASE_URL: url, SECRET: expect.stringMatching(/^[\w-]{43}$/) });
  const others = readdirSync(join(root, 'mine'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name !== '.env',
  );
  expect(others.filter((name) => read(`mine/${name}`).includes('127.0.0.1:5432'))).toEqual([]);
  expect(others).not.toContain('migrations');
  expect(read('mine/permissions.yaml')).toContain('roles: {}');
});

test('writes the React app of the tests', () => {
  expect(create(['app', '--no-install', '--template', 'vite-react', '--package-manager', 'pnpm'])).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('Next:\n  cd app\n  pnpm install\n  pnpm run dev\n  pnpm run web\n'),
  });
  expect(JSON.parse(read('app/package.json')).name).toBe('app');
  expect(readdirSync(join(root, 'app'))).toEqual(expect.arrayContaining(['vite.config.ts', 'src', 'migrations']));
});

test('tells how the tables of a template come into a database', () => {
  const { stderr } = create([
    'recipes',
    '--no-install',
    '--template',
    'vite-react',
    '--database',
    'postgres://me@host/x',
  ]);
  expect(stderr).toContain('npm install\n  npx platform migrate\n  npm run dev\n');
});

test('goes by the package manager that runs it', () => {
  const agent = { npm_config_user_agent: 'yarn/4.18.1 npm/? node/v24.21.0 linux x64' };
  expect(create(['yarn', '--no-install'], agent).stderr).toContain('yarn install\n  yarn run generate');
  expect(read('yarn/.yarnrc.yml')).toBe('nodeLinker: node-modules\n');
});

test('takes a folder with nothing but .git in it', () => {
  mkdirSync(join(root, 'cloned/.git'), { recursive: true });
  expect(create(['cloned', '--no-install']).status).toBe(0);
});
