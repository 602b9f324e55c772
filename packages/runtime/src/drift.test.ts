import { expect, test } from 'vitest';
import { compareFingerprint, findNewColumns } from './drift.ts';
import type { Fingerprint, FingerprintObject, LiveObject } from './language/index.ts';

const articles: FingerprintObject = {
  schema: 'public',
  name: 'articles',
  kind: 'r',
  collections: ['articles', 'articles_tags'],
  rowSecurity: false,
  key: ['id'],
  columns: [
    { name: 'id', type: 'bigint', nullable: false },
    { name: 'status', type: 'public.status', nullable: true, labels: ['draft', 'done'] },
  ],
};
const fingerprint: Fingerprint = { hash: '', objects: [articles] };

/** Compares with the object as it was compiled, except for what changed. */
function check(change: Partial<LiveObject>): readonly string[] {
  return compareFingerprint(fingerprint, [{ ...articles, ...change }]).map(
    ({ severity, object, message }) => `${severity} ${object}: ${message}`,
  );
}

const placed: FingerprintObject = {
  ...articles,
  columns: [
    {
      ...{ name: 'place', type: 'public.place', nullable: true },
      members: [
        ['', 'city', 'text'],
        ['', 'spot', 'public.spot'],
        ['spot', 'lat', 'integer'],
      ],
    },
  ],
};

test.each([
  [[], []],
  [[[3, ['other', 'deep', 'text']]], []],
  [[[0, ['', 'town', 'text']]], ['lost the member "city"', 'has the new member "town"']],
  [[[2, ['spot', 'lat', 'bigint']]], ['"lat" of column "place" is now bigint, compiled as integer']],
  [[[3, ['spot', 'lon', 'integer']]], ['has the new member "lon"']],
  [
    [
      [0, ['', 'spot', 'public.spot']],
      [1, ['', 'city', 'text']],
    ],
    ['have another order'],
  ],
] as const)('members of composite values: %j', (changes, told) => {
  const members = [...(placed.columns[0]?.members ?? [])];
  for (const [position, member] of changes) members[position] = member;
  const columns = placed.columns.map((column) => ({ ...column, members }));
  const found = compareFingerprint({ hash: '', objects: [placed] }, [{ ...placed, columns }]);
  expect(found.map(({ severity }) => severity)).toEqual(told.map(() => 'error'));
  for (const [index, text] of told.entries()) expect(found[index]?.message).toContain(text);
});

function withStatus(change: Partial<FingerprintObject['columns'][number]>): Partial<LiveObject> {
  const [id, status] = articles.columns;
  return { columns: id === undefined || status === undefined ? [] : [id, { ...status, ...change }] };
}

test('nothing changed, nothing found; further columns are no difference', () => {
  expect(check({})).toEqual([]);
  expect(check({ columns: [...articles.columns, { name: 'x', type: 'text', nullable: true }] })).toEqual([]);
});

test('a missing table is named and closes its collections', () => {
  expect(compareFingerprint(fingerprint, [])).toEqual([
    {
      object: 'table public.articles',
      message: 'public.articles is gone or cannot be seen.',
      collections: ['articles', 'articles_tags'],
      severity: 'error',
      table: '"public"."articles"',
    },
  ]);
});

test.each([
  [{ kind: 'v' }, 'table public.articles: public.articles is of another kind than when compiled.'],
  [{ rowSecurity: true }, 'table public.articles: Row-level security of public.articles was switched on.'],
  [{ key: ['id', 'x'] }, 'table public.articles: The primary key of public.articles has changed.'],
  [{ columns: articles.columns.slice(0, 1) }, 'column public.articles.status: Column "status" is gone.'],
  [
    withStatus({ type: 'text' }),
    'column public.articles.status: Column "status" is now text, compiled as public.status.',
  ],
  [
    withStatus({ labels: ['draft', 'finished'] }),
    'column public.articles.status: The type of column "status" lost the label "done".',
  ],
  [
    withStatus({ labels: ['done', 'draft'] }),
    'column public.articles.status: The labels of column "status" have another order.',
  ],
])('%j closes the collections', (change, message) => {
  expect(check(change)).toEqual([`error ${message}`]);
});

test('a column that can be null now closes the collections, one that cannot any more is only told', () => {
  const strict: Fingerprint = { hash: '', objects: [{ ...articles, ...withStatus({ nullable: false }) }] };
  expect(compareFingerprint(strict, [articles])).toMatchObject([
    { severity: 'error', message: 'Column "status" can now be null.' },
  ]);
  expect(check(withStatus({ nullable: false }))).toEqual([
    'info column public.articles.status: Column "status" can no longer be null.',
  ]);
});

test('a new label is only told', () => {
  expect(check(withStatus({ labels: ['draft', 'review', 'done'] }))).toEqual([
    'info column public.articles.status: The type of column "status" has the new label "review".',
  ]);
});

test('nullability of views is not compared: the compiler knows more of it than the catalog', () => {
  const view: Fingerprint = { hash: '', objects: [{ ...articles, kind: 'v' }] };
  expect(compareFingerprint(view, [{ ...articles, kind: 'v', ...withStatus({ nullable: false }) }])).toEqual([]);
});

test('a column that appears between two readings is told', () => {
  const after = { ...articles, columns: [...articles.columns, { name: 'constructor', type: 'text', nullable: true }] };
  expect(findNewColumns([articles], [after]).map(({ object, severity }) => [object, severity])).toEqual([
    ['column public.articles.constructor', 'info'],
  ]);
  expect(findNewColumns([after], [articles])).toEqual([]);
});
