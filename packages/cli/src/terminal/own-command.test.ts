import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { commandFormatter, ownCommand } from './own-command.ts';

const root = mkdtempSync(join(tmpdir(), 'own-command-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const scriptPath = join(root, 'lib', 'main.js');
const cwd = join(root, 'work');
for (const folder of ['lib', 'work', 'bin', 'installed/node_modules/.bin', 'installed/deeper', 'installed/member']) {
  mkdirSync(join(root, folder), { recursive: true });
}
writeFileSync(scriptPath, '');
chmodSync(scriptPath, 0o755);
symlinkSync(scriptPath, join(root, 'bin', 'platform'));
symlinkSync(scriptPath, join(root, 'installed', 'node_modules', '.bin', 'platform'));

test('names the command as a shell finds it in the same folder', () => {
  const named = (environment: Readonly<Record<string, string>>, at = cwd, folder = at): string =>
    ownCommand('generate', folder, { scriptPath, cwd: at, environment });
  expect(named({ PATH: `/nowhere:${join(root, 'bin')}` })).toBe('platform generate');
  expect(named({ PATH: '/nowhere' })).toBe('node ../lib/main.js generate');
  const installed = join(root, 'installed', 'deeper');
  expect(named({ PATH: join(root, 'installed', 'node_modules', '.bin') }, installed)).toBe('npx platform generate');
  expect(named({ npm_lifecycle_event: 'platform' }, cwd, join(cwd, "it's new"))).toBe(
    "npm run platform -- generate --project 'it'\\''s new'",
  );
});

test('names what npx and its like fetched for one call by the package that they fetch', () => {
  const named = (path: string): string => ownCommand('dev', cwd, { scriptPath: path, cwd, environment: {} });
  const file = 'node_modules/tablewright/bin/platform.cjs';
  expect(named(`/home/me/.npm/_npx/1a2b/${file}`)).toBe('npx tablewright dev');
  expect(named(`/home/me/.cache/pnpm/dlx/1a2b/${file}`)).toBe('pnpm dlx tablewright dev');
  expect(named(`/tmp/xfs-1a2b/dlx-77/${file}`)).toBe('yarn dlx tablewright dev');
});

test('finds what a workspace has for its members, and nothing of other folders above', () => {
  const member = join(root, 'installed', 'member');
  writeFileSync(join(member, 'package.json'), '{}');
  const named = (): string => ownCommand('dev', member, { scriptPath, cwd: member, environment: {} });
  expect(named()).toBe('node ../../lib/main.js dev');
  writeFileSync(join(root, 'installed', 'package.json'), '{ "workspaces": ["member"] }');
  expect(named()).toBe('npx platform dev');
});

test('says commands and the configuration of a text as they are called there', () => {
  const call = { scriptPath: '/home/me/.npm/_npx/1a2b/main.js', cwd, environment: {} };
  const commandWords = commandFormatter('.', call);
  expect(commandWords('Run `platform generate` again; see "output" in platform.config.ts.')).toBe(
    'Run `npx tablewright generate` again; see "output" in platform.config.ts.',
  );
  writeFileSync(join(cwd, 'platform.config.mts'), '');
  expect(commandWords('platform.config.ts: collections.books')).toBe('platform.config.mts: collections.books');
  expect(commandFormatter('shop', call)('See `platform roles`.')).toBe('See `npx tablewright roles --project shop`.');
});
