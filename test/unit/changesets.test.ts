/** A change of a package needs a changeset, whatever is there of the history; and all packages get one version. */
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { judgeChangesets } from '../../scripts/changesets.ts';

const root = join(import.meta.dirname, '../..');
const identity = [
  ...['user.name=Test', 'user.email=test@example.com', 'init.defaultBranch=main'],
  // No process that tidies up beside each commit.
  ...['maintenance.auto=false', 'gc.auto=0'],
].flatMap((setting) => ['-c', setting]);
let folder: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'platform-changesets-')));
  git('init', '--quiet');
  release('0.1.0');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: readonly string[]): string {
  // No configuration of this machine: hooks and signatures of people are not ours.
  const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
  return execFileSync('git', [...identity, ...args], { cwd: folder, env, encoding: 'utf8' });
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function commit(path: string, text = path): void {
  write(path, text);
  git('add', '--all');
  git('commit', '--quiet', '--message', path);
}

/** Sets the version, and uses up the changesets. */
function release(version: string): void {
  rmSync(join(folder, '.changeset'), { recursive: true, force: true });
  commit('packages/cli/package.json', `{\n  "name": "x",\n  "version": "${version}"\n}\n`);
}

const isFine = (place = folder): boolean => judgeChangesets(place).ok;

test('a change of a package without one is refused, with its path and the command', () => {
  expect(isFine()).toBe(true);
  commit('packages/cli/src/new.ts');
  expect(judgeChangesets(folder)).toMatchObject({ ok: false });
  expect(judgeChangesets(folder).message).toMatch(
    /^ {2}packages\/cli\/src\/new\.ts$[\s\S]*npm run changeset -- --empty/m,
  );
  commit('.changeset/brave-cats.md', '---\n---\n');
  expect(isFine()).toBe(true);
});

test('what is not committed counts, and so does what is removed', () => {
  write('packages/cli/src/draft.ts', '1');
  expect(isFine()).toBe(false);
  write('.changeset/draft.md', '---\n---\n');
  expect(isFine()).toBe(true);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'draft');
  release('0.2.0');
  expect(isFine()).toBe(true);
  rmSync(join(folder, 'packages/cli/src/draft.ts'));
  expect(isFine()).toBe(false);
});

test('tests, documents and other folders need none', () => {
  for (const path of ['packages/cli/src/new.test.ts', 'packages/cli/README.md', 'docs/new.md', 'test/new.ts'])
    commit(path);
  expect(isFine()).toBe(true);
});

test('before the first release one stands for everything; afterwards each branch needs its own', () => {
  commit('.changeset/first.md', '---\n---\n');
  git('checkout', '--quiet', '-b', 'early');
  commit('packages/cli/src/early.ts');
  expect(isFine()).toBe(true);
  git('checkout', '--quiet', 'main');
  release('0.2.0');
  git('tag', 'v0.2.0');
  commit('packages/cli/src/later.ts');
  commit('.changeset/later.md', '---\n---\n');
  git('checkout', '--quiet', '-b', 'late');
  commit('packages/cli/src/late.ts');
  expect(isFine()).toBe(false);
  commit('.changeset/late.md', '---\n---\n');
  expect(isFine()).toBe(true);
});

test('a clone without tags, one with a short history and a copy without any are judged by what they have', () => {
  release('0.2.0');
  commit('packages/cli/src/new.ts');
  const clone = (...options: readonly string[]): string => {
    const target = mkdtempSync(join(folder, 'clone-'));
    git('clone', '--quiet', ...options, pathToFileURL(folder).href, target);
    return target;
  };
  expect(isFine(clone('--no-tags'))).toBe(false);
  const short = clone('--depth=1');
  expect(judgeChangesets(short)).toMatchObject({ ok: true, message: expect.stringContaining('short history') });
  writeFileSync(join(short, 'packages/cli/src/other.ts'), '1');
  expect(isFine(short)).toBe(false);
  const copy = mkdtempSync(join(tmpdir(), 'platform-copy-'));
  expect(judgeChangesets(copy)).toEqual({ ok: true, message: 'no history to compare with' });
  rmSync(copy, { recursive: true });
});

test('a release gives every published package the same version, and each a changelog', () => {
  const manifests = globSync('packages/*/package.json', { cwd: root });
  for (const path of ['package.json', 'pnpm-workspace.yaml', ...manifests, '.changeset/config.json']) {
    cpSync(join(root, path), join(folder, path));
  }
  commit('.changeset/small.md', '---\n"@tablewright/client": minor\n---\n\nSays hello.\n');
  const before: readonly string[] = manifests.map(versionIn);
  expect(new Set(before).size).toBe(1);
  const [major, minor = '0'] = (before[0] ?? '').split('.');
  execFileSync(process.execPath, [join(root, 'node_modules/@changesets/cli/bin.js'), 'version'], { cwd: folder });
  expect(new Set(manifests.map(versionIn))).toEqual(new Set([`${major}.${Number(minor) + 1}.0`]));
  for (const path of manifests) {
    const changelog = readFileSync(join(folder, dirname(path), 'CHANGELOG.md'), 'utf8');
    expect(changelog).toContain(`## ${versionIn(path)}`);
  }
  expect(readFileSync(join(folder, 'packages/client/CHANGELOG.md'), 'utf8')).toContain('Says hello.');
  expect(globSync('.changeset/*.md', { cwd: folder })).toEqual([]);
});

function versionIn(path: string): string {
  return JSON.parse(readFileSync(join(folder, path), 'utf8')).version;
}
