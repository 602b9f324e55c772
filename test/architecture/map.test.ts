import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path/posix';
import { expect, test } from 'vitest';
import { listFiles, readText, root } from './files.ts';

const text = readText('ARCHITECTURE.md');
const lines = text.trimEnd().split('\n');

test('the map fits 150 lines of 100 characters', () => {
  expect(lines.length).toBeLessThanOrEqual(150);
  expect(lines.filter((line) => [...line].length > 100)).toEqual([]);
});

test('the map names every room', () => {
  const rooms = new Set(
    listFiles('packages/{introspect,compiler,runtime,cli}/src/*/**/*.ts')
      .map((path) => path.split('/')[3] ?? '')
      .filter((room) => room !== 'testing' && !room.endsWith('.ts')),
  );
  expect([...rooms].filter((room) => !text.includes(`\`${room}/\``))).toEqual([]);
});

test('every invariant names tests that exist', () => {
  const rows = lines.filter((line) => /^\| (?!Invariant|---)/.test(line));
  expect(rows.length).toBeGreaterThan(30);
  const missing = rows.flatMap((row) => {
    const [first = '', ...others] = (row.split('|')[2] ?? '').trim().split(', ');
    const folder = dirname(first);
    const paths = [first, ...others.map((name) => (name.includes('/') ? name : `${folder}/${name}`))];
    return paths.filter((path) => globSync(`test/${path}{,.ts,.test.ts}`, { cwd: root }).length === 0);
  });
  expect(missing).toEqual([]);
});

test('every path of the map exists', () => {
  const paths = [...text.matchAll(/`((?:introspect|compiler|runtime|client)\/src\/[^`<]*)`/g)].map(
    ([, path = '']) => path,
  );
  expect(paths.length).toBeGreaterThan(8);
  expect(paths.flatMap(spelled).filter((path) => globSync(`packages/${path}`, { cwd: root }).length === 0)).toEqual([]);
});

/** `a/{b,c/d}.ts` as `a/b.ts` and `a/c/d.ts`. */
function spelled(path: string): string[] {
  const {
    before = '',
    inner = '',
    after = '',
  } = /^(?<before>[^{]*)\{(?<inner>[^}]*)\}(?<after>.*)$/.exec(path)?.groups ?? {};
  return inner === '' ? [path] : inner.split(',').map((part) => `${before}${part}${after}`);
}

test('the parts of the map are those of the tree', () => {
  const packages = listFiles('packages/*/package.json').map((path) => basename(dirname(path)));
  expect(packages.filter((name) => !text.includes(`**packages/${name}**`))).toEqual([]);
});
