import { describe, expect, test } from 'vitest';
import { collectionOf, columnOf, schemaOf, tableOf, typeOf } from '../testing/build-schema.ts';
import { resolveApi } from './resolve-api.ts';

const integer = typeOf('int4', 'integer');
const text = typeOf('text', 'text');
const action = { onDelete: 'no action', onUpdate: 'no action', deferrable: false, initiallyDeferred: false } as const;

const people = tableOf('people', [
  columnOf('id', integer, { nullable: false, fill: { kind: 'identity', always: false } }),
  columnOf('name', text, { fill: { kind: 'default', expression: "'it''s'::text" } }),
  columnOf('rank', integer, { fill: { kind: 'serial', sequence: 'public."odd.seq"' } }),
  columnOf('boss', integer),
  columnOf('made', integer, { fill: { kind: 'generated', expression: '1', stored: true } }),
]);
const constrained = {
  ...people,
  uniques: [{ name: 'a_name', columns: ['name', 'rank'], deferrable: false, nullsNotDistinct: false }],
  foreignKeys: [
    { name: 'b_boss', columns: ['boss'], target: 'public.people', targetColumns: ['id'], validated: true, ...action },
    { name: 'c_else', columns: ['rank'], target: 'public.hidden', targetColumns: ['id'], validated: true, ...action },
  ],
  checks: [{ name: 'd_check', expression: 'boss <> id', columns: ['boss', 'id'], allowed: null }],
};
const view = {
  ...tableOf('team', [
    columnOf('key', integer, { source: { table: 'public.people', column: 'id' } }),
    columnOf('title', text, { source: { table: 'public.people', column: 'name' } }),
    columnOf('made', integer, { source: { table: 'public.people', column: 'made' }, updatable: false }),
  ]),
  kind: 'view' as const,
};
const readOnly = {
  ...tableOf('log', [columnOf('id', integer)]),
  writable: { insert: false, update: false, delete: false },
};

function collections() {
  const tables = [readOnly, constrained, view];
  const listed = [
    collectionOf(readOnly),
    collectionOf(constrained, [], {
      fields: collectionOf(constrained).fields.map((field) => ({ ...field, required: field.name === 'name' })),
    }),
    collectionOf(view),
  ];
  return new Map(
    resolveApi(schemaOf(tables, listed)).collections.map(({ descriptor }) => [descriptor.name, descriptor]),
  );
}

function fallbacks(name: string): unknown {
  const fields = collections().get(name)?.fields ?? [];
  return Object.fromEntries(fields.map((field) => [field.name, field.fallback]));
}

describe('what fills a field that an item leaves out', () => {
  test('is the default, the next number, or nothing', () => {
    expect(fallbacks('people')).toEqual({
      id: `pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('"public"."people"', 'id'))`,
      name: "'it''s'::text",
      rank: `pg_catalog.nextval('"public"."odd.seq"'::pg_catalog.regclass)`,
      boss: undefined,
      made: undefined,
    });
  });

  test('of a view is what fills the column that it shows', () => {
    expect(fallbacks('team')).toEqual({
      key: `pg_catalog.nextval(pg_catalog.pg_get_serial_sequence('"public"."people"', 'id'))`,
      title: "'it''s'::text",
      made: undefined,
    });
  });
});

test('a field that only the configuration requires says so', () => {
  const required = collections()
    .get('people')
    ?.fields.filter((field) => field.required === true);
  expect(required?.map(({ name }) => name)).toEqual(['name']);
});

describe('constraints', () => {
  test('are listed by name with their fields, foreign keys with their collection where there is one', () => {
    expect(collections().get('people')?.constraints).toEqual([
      { name: 'a_name', type: 'unique', fields: ['name', 'rank'] },
      { name: 'b_boss', type: 'foreign_key', fields: ['boss'], target: 'people' },
      { name: 'c_else', type: 'foreign_key', fields: ['rank'] },
      { name: 'd_check', type: 'check', fields: ['boss', 'id'] },
      { name: 'people_pkey', type: 'unique', fields: ['id'] },
    ]);
  });

  test('of a view are those of its table, under its own names', () => {
    expect(collections().get('team')?.constraints).toEqual([
      { name: 'a_name', type: 'unique', fields: ['title'], incomplete: true },
      { name: 'b_boss', type: 'foreign_key', fields: [], target: 'people' },
      { name: 'c_else', type: 'foreign_key', fields: [] },
      { name: 'd_check', type: 'check', fields: ['key'] },
      { name: 'people_pkey', type: 'unique', fields: ['key'] },
    ]);
  });

  test('that no relation has are links, by columns that are shown or that the database computes', () => {
    expect(collections().get('people')?.links).toEqual([
      { kind: 'm2o', name: 'b_boss', target: 'people', on: [{ from: '"boss"', to: '"id"' }], nullable: true },
    ]);
    expect(collections().get('team')?.links).toBeUndefined();
  });

  test('of what cannot be written are not needed', () => {
    expect(collections().get('log')?.constraints).toBeUndefined();
  });
});
