/** Calls of the commands on a Node that is too old: one sentence instead of a stack. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { parse } from 'acorn';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const command = join(root, 'packages/cli/bin/platform.cjs');

/** How the command ends on this Node, which says that it is another version. */
function callOn(version: string, ...args: readonly string[]) {
  const claim = `Object.defineProperty(process.versions, 'node', { value: '${version}' });`;
  const program = ['--import', `data:text/javascript,${encodeURIComponent(claim)}`, command];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...program, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test('is syntax of Node 8', () => {
  expect(() => parse(readFileSync(command, 'utf8'), { ecmaVersion: 2017, allowHashBang: true })).not.toThrow();
});

test.each(['8.17.0', '20.20.2', '23.11.1'])('Node %s is told what it lacks', (version) => {
  const message = `tablewright needs Node 24 or newer; this is ${version}.`;
  expect(callOn(version, 'start')).toEqual({ status: 2, stdout: '', stderr: `${message}\n` });
  const { stdout } = callOn(version, 'start', '--json');
  expect(JSON.parse(stdout)).toEqual({ event: 'error', message, hint: null });
});

test('Node 24 and newer run it', () => {
  expect(callOn('24.0.0', '--help').stdout).toContain('Usage: platform');
  expect(callOn('26.1.0', '--help').stdout).toContain('Usage: platform');
});

const others = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter((path) => existsSync(path))
  .map((path) => ({ path, version: spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1) }))
  .filter(({ version }) => version !== '' && Number(version.split('.')[0]) < 24);

test.skipIf(others.length === 0)('an older Node of this machine is told so', () => {
  for (const { path, version } of others) {
    const { status, stderr } = spawnSync(path, [command, 'init'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, `tablewright needs Node 24 or newer; this is ${version}.\n`]);
  }
});
