import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ownCommand } from './own-command.ts';

const root = mkdtempSync(join(tmpdir(), 'own-command-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const script = join(root, 'lib', 'main.js');
const cwd = join(root, 'work');
for (const folder of ['lib', 'work', 'bin', 'installed/node_modules/.bin', 'installed/deeper']) {
  mkdirSync(join(root, folder), { recursive: true });
}
writeFileSync(script, '');
chmodSync(script, 0o755);
symlinkSync(script, join(root, 'bin', 'platform'));
symlinkSync(script, join(root, 'installed', 'node_modules', '.bin', 'platform'));

test('names the command as a shell finds it in the same folder', () => {
  const named = (environment: Readonly<Record<string, string>>, at = cwd, folder = at): string =>
    ownCommand('generate', folder, { script, cwd: at, environment });
  expect(named({ PATH: `/nowhere:${join(root, 'bin')}` })).toBe('platform generate');
  expect(named({ PATH: '/nowhere' })).toBe('node ../lib/main.js generate');
  const installed = join(root, 'installed', 'deeper');
  expect(named({ PATH: join(root, 'installed', 'node_modules', '.bin') }, installed)).toBe('npx platform generate');
  expect(named({ npm_lifecycle_event: 'platform' }, cwd, join(cwd, "it's new"))).toBe(
    "npm run platform -- generate --project 'it'\\''s new'",
  );
});
