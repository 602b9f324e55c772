/** What a project installs with the packages. Source: security, case H20. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checksumIn, dependenciesOf, manifestIn } from '../../scripts/dependencies.ts';

const root = join(import.meta.dirname, '../..');
const all = dependenciesOf(join(root, 'packages/cli'));
const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');

test('are few packages, whose number nobody raises unawares', () => {
  expect(all.length).toBeGreaterThan(50);
  expect(all.length).toBeLessThanOrEqual(165);
});

test('run nothing when they are installed, but for the library of password hashes', () => {
  const hooks = ['preinstall', 'install', 'postinstall'];
  const running = all.filter(({ scripts = {} }) => hooks.some((name) => scripts[name] !== undefined));
  expect(running.map(({ name }) => name)).toEqual(['argon2']);
});

/** Of the library of images only what is linked as it comes is under the LGPL. */
const fits: ReadonlySet<string> = new Set(
  ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD', 'MIT-0', 'BlueOak-1.0.0', 'Python-2.0'].concat(
    'LGPL-3.0-or-later',
  ),
);

test('have licences that go with MIT', () => {
  const others = all.filter(({ license }) => !fits.has(String(license)));
  expect(others.map(({ name, license }) => `${name}: ${license}`)).toEqual([]);
  const lesser = all.filter(({ license }) => license === 'LGPL-3.0-or-later');
  expect(lesser.every(({ name }) => name.startsWith('@img/sharp-libvips'))).toBe(true);
});

test('are pinned: by versions in our manifests, by sums in the lock file', () => {
  for (const name of ['runtime', 'introspect', 'compiler', 'create', 'cli', 'client']) {
    const { dependencies = {}, optionalDependencies = {} } = manifestIn(join(root, 'packages', name));
    const ranges = Object.values({ ...dependencies, ...optionalDependencies });
    expect(ranges.filter((range) => !/^(?:\d+\.\d+\.\d+|workspace:\*)$/.test(range))).toEqual([]);
  }
  expect(all.filter((one) => checksumIn(lock, one) === undefined).map(({ name }) => name)).toEqual([]);
});

test('are told by a bill of materials', () => {
  const bill = JSON.parse(execFileSync(process.execPath, [join(root, 'scripts/sbom.ts')], { encoding: 'utf8' }));
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'tablewright' } } });
  const told = bill.components.map(({ name, version }: { name: string; version: string }) => `${name}@${version}`);
  expect(told).toEqual(all.map(({ name, version }) => `${name}@${version}`));
  const [{ hashes }] = bill.components;
  expect(hashes).toEqual([{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }]);
});
