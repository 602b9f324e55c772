import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const manifest: Manifest = JSON.parse(read('package.json'));

test('everything runs on the pinned Node', () => {
  expect(process.versions.node).toBe(manifest.devDependencies?.node);
});

test('the packages that bring the binary have the version of the package node', () => {
  expect(new Set(Object.values(manifest.optionalDependencies ?? {}))).toEqual(
    new Set([manifest.devDependencies?.node]),
  );
});

test('the lockfile names no registry host', () => {
  expect(read('pnpm-lock.yaml')).not.toMatch(/https?:\/\//);
});

test.each(['package.json', ...globSync('packages/*/package.json', { cwd: root })])(
  '%s names exact versions',
  (path) => {
    const { dependencies, devDependencies, optionalDependencies }: Manifest = JSON.parse(read(path));
    const versions = Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies });
    expect(versions.filter((version) => !/^(\d+\.\d+\.\d+(-[\w.]+)?|workspace:\*)$/.test(version))).toEqual([]);
  },
);
