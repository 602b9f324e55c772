import type { ForeignKey, Index, Relation, Table } from '@tablewright/introspect/schema';
import { describe, expect, test } from 'vitest';
import { collectionOf, columnOf, schemaOf, tableOf, typeOf } from '../testing/build-schema.ts';
import { resolveRelation } from './relation.ts';
import { indexSchema } from './schema-index.ts';

const integer = typeOf('int4', 'integer');
const present = { nullable: false } as const;
const shelves = tableOf('shelves', [columnOf('shop', integer, present), columnOf('number', integer, present)]);
const books = tableOf('books', [columnOf('id', integer, present)]);
const foreignKey: ForeignKey = {
  name: 'far',
  columns: ['number', 'shop'],
  target: shelves.id,
  targetColumns: ['number', 'shop'],
  onDelete: 'cascade',
  onUpdate: 'no action',
  deferrable: false,
  initiallyDeferred: false,
  validated: true,
};
const links = tableOf(
  'books_shelves',
  ['book_id', 'shop', 'number'].map((name) => columnOf(name, integer, present)),
  { foreignKeys: [foreignKey] },
);
const relation: Relation = {
  kind: 'm2m',
  name: 'shelves',
  target: 'shelves',
  junction: 'books_shelves',
  near: [{ from: 'id', to: 'book_id' }],
  far: [
    { from: 'shop', to: 'shop' },
    { from: 'number', to: 'number' },
  ],
  sort: null,
};

function resolve(junction: Partial<Table>, target: Partial<Table> = {}) {
  const tables = [books, { ...links, ...junction }, { ...shelves, ...target }];
  return resolveRelation(
    relation,
    indexSchema(
      schemaOf(
        tables,
        tables.map((table) => collectionOf(table)),
      ),
    ),
  );
}

function indexOn(columns: readonly string[], more: Partial<Index> = {}): Index {
  return { name: columns.join('_'), method: 'btree', columns, include: [], unique: false, predicate: null, ...more };
}

describe('links of a many-to-many are found by a value', () => {
  const both = { indexes: [indexOn(['number', 'shop', 'book_id', 'position'])] };
  const columns = [...shelves.columns, columnOf('label', typeOf('text', 'text'))];

  test('of which the target has an index, where the junction has one of both sides', () => {
    const indexes = [indexOn(['shop', 'number'], { unique: true }), indexOn(['label', 'number'])];
    expect(resolve(both, { columns, indexes })).toMatchObject({ sought: ['label'] });
    expect(resolve({ indexes: [indexOn(['book_id', 'shop'])] }, { columns, indexes })).not.toHaveProperty('sought');
  });

  test.each([
    indexOn(['label'], { method: 'gin' }),
    indexOn(['label'], { predicate: 'label IS NOT NULL' }),
    indexOn(['shop', 'label']),
    indexOn(['(lower(label))']),
  ])('not by the index %j', (index) => {
    expect(resolve(both, { columns, indexes: [index] })).not.toHaveProperty('sought');
  });
});

test('a list is ordered by the columns that an index has next to those that lead to its rows', () => {
  const list: Relation = {
    kind: 'o2m',
    name: 'books_shelves',
    target: 'books_shelves',
    on: [
      { from: 'shop', to: 'shop' },
      { from: 'number', to: 'number' },
    ],
    inverse: 'far',
    single: false,
    sort: null,
    onDeselect: 'delete',
    language: null,
  };
  const ordered = (...indexes: readonly Index[]) => {
    const tables = [shelves, { ...links, indexes }];
    return resolveRelation(
      list,
      indexSchema(
        schemaOf(
          tables,
          tables.map((table) => collectionOf(table)),
        ),
      ),
    );
  };
  expect(ordered(indexOn(['number', 'shop', 'book_id']))).toMatchObject({ ordered: ['"book_id"'] });
  const others = [['number', 'shop'], ['shop', 'book_id', 'number'], ['book_id']].map((columns) => indexOn(columns));
  expect(ordered(...others)).not.toHaveProperty('ordered');
});

test('links of a many-to-many lead to a target once where both sides are a key', () => {
  const key = { name: 'key', deferrable: false, nullsNotDistinct: false };
  const uniques = [{ ...key, columns: ['shop', 'book_id', 'number'] }];
  expect(resolve({ uniques })).toMatchObject({ paired: true });
  expect(resolve({ uniques: uniques.map((one) => ({ ...one, deferrable: true })) })).not.toHaveProperty('paired');
  expect(resolve({ uniques: [{ ...key, columns: ['shop', 'book_id'] }] })).not.toHaveProperty('paired');
  expect(resolve({ uniques, inherited: true })).not.toHaveProperty('paired');
});

describe('a many-to-many', () => {
  test('is unbroken where a foreign key leads each link to a target', () => {
    expect(resolve({})).toMatchObject({ unbroken: true });
  });

  test.each<[title: string, junction: Partial<Table>, target?: Partial<Table>]>([
    ['there is none', { foreignKeys: [] }],
    ['it is not validated', { foreignKeys: [{ ...foreignKey, validated: false }] }],
    ['it leads elsewhere', { foreignKeys: [{ ...foreignKey, target: books.id }] }],
    ['it pairs other columns', { foreignKeys: [{ ...foreignKey, targetColumns: ['shop', 'number'] }] }],
    ['one of its columns can be null', { columns: links.columns.map((column) => ({ ...column, nullable: true })) }],
    ['rows of other tables appear among the links', { inherited: true }],
    ['rows of other tables appear among the targets', {}, { inherited: true }],
    ['row-level security may hide targets', {}, { rowSecurity: { enabled: true, forced: false } }],
  ])('is not where %s', (_, junction, target) => {
    expect(resolve(junction, target)).not.toHaveProperty('unbroken');
  });
});
