/** docs/dependencies.md against the manifests of all packages, and against what is installed here. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findPackage, packagesFor } from '../../../scripts/dependencies.ts';
import { readText, root } from '../../architecture/files.ts';
import { sizeOf } from '../../packages/budgets.ts';

type Named = Readonly<Record<string, string>>;

interface PackageManifest {
  readonly dependencies?: Named;
  readonly optionalDependencies?: Named;
  readonly peerDependencies?: Named;
  readonly devDependencies?: Named;
}

const [, installedPart = '', toolsPart = ''] = readText('docs/dependencies.md').split(/^## .*$/m);
const installed = rowsOf(installedPart).map(([name = '', places = '', purpose, size, licence, instead]) => ({
  name: name.replaceAll('`', ''),
  places,
  purpose,
  megabytes: Number(size),
  licence,
  instead,
}));
const tools = rowsOf(toolsPart).map(([names = '', purpose, instead]) => ({
  names: names.split(', ').map((name) => name.replaceAll('`', '')),
  purpose,
  instead,
}));

/** Cells of a table, without its head. */
function rowsOf(text: string): readonly (readonly string[])[] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const manifestOf = (folder: string): PackageManifest => JSON.parse(readText(join(folder, 'package.json')));
const isOurs = (name: string): boolean => /^(?:@tablewright\/|(?:create-)?tablewright$)/.test(name);
const namesIn = (...lists: readonly (Named | undefined)[]): readonly string[] =>
  lists.flatMap((list) => Object.keys(list ?? {})).filter((name) => !isOurs(name));

const published = globSync('packages/*/package.json', { cwd: root }).map((path) => path.split(/[\\/]/)[1] ?? '');

/** Packages that a project installs, each with the names of ours that need it. */
function neededByProjects(): ReadonlyMap<string, ReadonlySet<string>> {
  const needed = new Map<string, Set<string>>();
  for (const folder of published) {
    const { dependencies, optionalDependencies, peerDependencies } = manifestOf(`packages/${folder}`);
    for (const name of namesIn(dependencies, optionalDependencies, peerDependencies)) {
      needed.set(name, (needed.get(name) ?? new Set()).add(folder));
    }
  }
  return needed;
}

test('every package that a project installs has a line, which names the packages that need it', () => {
  const told = installed.map(({ name, places }) => `${name}: ${places.replaceAll(/ \(optional\)/g, '')}`);
  const needed = [...neededByProjects()].map(([name, places]) => `${name}: ${[...places].sort().join(', ')}`);
  expect(told).toEqual(needed.sort());
});

test('every package of the repository alone has a line, and every line is of a package in use', () => {
  const folders = ['.', ...published.map((name) => `packages/${name}`), 'test/clients', 'test/compilers'].concat(
    'test/generators',
    'bench/mercurius',
  );
  const named = folders.map(manifestOf).flatMap((one) => namesIn(one.devDependencies, one.optionalDependencies));
  const projects = neededByProjects();
  const needed = new Set(named.filter((name) => !projects.has(name)));
  expect(tools.flatMap(({ names }) => names).sort()).toEqual([...needed].sort());
});

test('every line has a reason, and one against another way', () => {
  const cells = [...installed, ...tools].flatMap(({ purpose = '', instead = '' }) => [purpose, instead]);
  expect(cells.filter((cell) => cell.split(' ').length < 2)).toEqual([]);
});

describe.each(installed)('$name', ({ name, places, megabytes, licence }) => {
  const folder = findPackage(name, join(root, 'packages', places.split(/[, ]/)[0] ?? '')) ?? '';

  test('has the licence of the page', () => {
    expect(JSON.parse(readText(join(folder, 'package.json').slice(root.length + 1))).license).toBe(licence);
  });

  // Binaries have another size elsewhere.
  test.runIf(process.platform === 'linux' && process.arch === 'x64')('has about the size of the page', () => {
    const bytes = [folder, ...packagesFor(folder).map((one) => one.folder)].reduce(
      (sum, path) => sum + sizeOf(path),
      0,
    );
    expect(Math.abs(bytes / 1e6 - megabytes)).toBeLessThan(0.1 + megabytes / 10);
  });
});
