import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TableSketch } from '../testing/facts.ts';
import { resolve } from '../testing/resolve.ts';

const page = readFileSync(new URL('../../../../docs/permissions.md', import.meta.url), 'utf8');

const rows = [...page.matchAll(/^\| `([a-z-]+)` +\| (error|warning|note) +\| [^|]+\| `(.+)` +\|$/gm)].map(
  ([, code = '', kind = '', example = '']) => ({ code, kind, example }),
);

const tables: Readonly<Record<string, TableSketch>> = {
  authors: { columns: ['id!=:integer', 'name'], key: ['id'] },
  articles: {
    columns: ['id!=:integer', 'title!', 'views:integer', 'author_id:integer'],
    key: ['id'],
    foreignKeys: ['author_id > authors.id'],
  },
  platform_revisions: { schema: 'platform', columns: ['id!=:integer'], key: ['id'] },
  totals: { kind: 'materializedView', columns: ['n'], readOnly: true },
};

test.each(rows)('the example of $code gives it', ({ code, kind, example }) => {
  const { diagnostics } = resolve(tables, { permissions: example });
  const severity = kind === 'note' ? 'info' : kind;
  expect(diagnostics.filter((one) => one.code === code).map((one) => one.severity)).toContain(severity);
  if (severity !== 'error') expect(diagnostics.filter((one) => one.severity === 'error')).toEqual([]);
});

test('every diagnostic of rules is documented', () => {
  const sources = [
    ...['config/yaml/placed-value', 'config/permissions/parse-permissions'],
    ...['filter-names', 'resolve-permissions', 'resolve-rules'].map((name) => `passes/permissions/${name}`),
    ...['reach', 'refused-writes', 'useless-rules'].map((name) => `rules/permissions/${name}`),
  ].map((name) => readFileSync(new URL(`../${name}.ts`, import.meta.url), 'utf8'));
  const lines = sources.flatMap((text) => text.split('\n')).filter((line) => /\bcodes? ?[:=]/.test(line));
  const codes = new Set(
    lines.flatMap((line) => [...line.matchAll(/'([a-z]+(?:-[a-z]+)+|private)'/g)].map(([, code]) => code)),
  );
  expect(codes.size).toBeGreaterThan(20);
  // Those of functions stand in docs/functions.md.
  const ofRules = [...codes].filter((code) => code?.startsWith('function-') !== true);
  expect(ofRules.filter((code) => !rows.some((row) => row.code === code))).toEqual([]);
});
