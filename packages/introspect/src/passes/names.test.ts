import { expect, test } from 'vitest';
import type { PlatformConfig } from '../config/config.ts';
import type { TableSketch } from '../testing/facts.ts';
import { collection, complaints, resolve } from '../testing/resolve.ts';

const plain: TableSketch = { columns: ['id!', 'title'], key: ['id'] };

function names(tables: Readonly<Record<string, TableSketch>>, config?: PlatformConfig): readonly string[] {
  return resolve(tables, config === undefined ? {} : { config }).schema.collections.map(({ name }) => name);
}

test('tables of the default schema take their own name, others are prefixed', () => {
  expect(names({ b: plain, a: plain, orders: { ...plain, schema: 'shop' } })).toEqual(['a', 'b', 'shop_orders']);
});

test('the first allowed schema is the default where public is not allowed', () => {
  const tables = { a: { ...plain, schema: 'shop' }, b: { ...plain, schema: 'stock' } };
  expect(names(tables, { database: { schemas: ['shop', 'stock'] } })).toEqual(['a', 'stock_b']);
  expect(names(tables, { database: { schemas: ['stock', 'public'] } })).toEqual(['shop_a', 'stock_b']);
});

test('the configuration renames and hides, by name or by schema and name', () => {
  const tables = { a: plain, b: plain, orders: { ...plain, schema: 'shop' } };
  const config = { collections: { a: { hidden: true }, 'public.b': { name: 'bees' }, orders: { name: 'a' } } };
  expect(names(tables, config)).toEqual(['a', 'bees']);
});

test('reserved names are left out unless renamed', () => {
  const tables = { platform_settings: plain, users: { ...plain, schema: 'platform' }, a: plain };
  const { schema, diagnostics } = resolve(tables);
  expect(schema.collections.map(({ name }) => name)).toEqual(['a']);
  expect(complaints(diagnostics)).toEqual([
    'warning reserved-name table platform.users',
    'warning reserved-name table public.platform_settings',
  ]);
  expect(names(tables, { collections: { platform_settings: { name: 'people' } } })).toEqual(['a', 'people']);
});

test('two tables of one name are an error with advice', () => {
  const { diagnostics } = resolve({ shop_a: plain, a: { ...plain, schema: 'shop' } });
  expect(diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
    { code: 'name-collision', hint: expect.stringContaining('"shop.a"') },
  ]);
  expect(diagnostics.find(({ code }) => code === 'name-collision')?.message).toBe(
    'The tables "public.shop_a" and "shop.a" would all be the collection "shop_a".',
  );
});

test('fields take name, note, type and requirement from the configuration', () => {
  const fields = { title: { name: 'heading', note: 'Shown above.', required: true }, tags: { type: 'csv' as const } };
  const { schema } = resolve(
    { a: { columns: ['id!=', 'title', 'tags', 'body!', 'gone'], key: ['id'] } },
    { config: { collections: { a: { fields: { ...fields, gone: { hidden: true } } } } } },
  );
  expect(collection(schema, 'a').fields).toEqual([
    { name: 'id', column: 'id', type: 'text', note: null, required: false },
    { name: 'heading', column: 'title', type: 'text', note: 'Shown above.', required: true },
    { name: 'tags', column: 'tags', type: 'csv', note: null, required: false },
    { name: 'body', column: 'body', type: 'text', note: null, required: true },
  ]);
});

test('keys, order and archive are field names, found by field or column', () => {
  const a = { name: 'first', sort: 'b', archive: { field: 'state', value: 'old' }, fields: { b: { name: 'c' } } };
  const { schema } = resolve(
    { a: { columns: ['b!', 'a!', 'state'], key: ['b', 'a'], comment: 'From the database.' } },
    { config: { collections: { a } } },
  );
  expect(collection(schema, 'first')).toMatchObject({
    key: ['c', 'a'],
    sort: 'c',
    archive: { field: 'state', value: 'old', unarchiveValue: null },
    note: 'From the database.',
    singleton: false,
  });
});

test('views take a configured key, tables keep their own', () => {
  const view: TableSketch = { kind: 'view', columns: ['id', 'lang', 'n'], readOnly: true };
  const { schema, diagnostics } = resolve(
    { v: view, w: view, t: plain },
    { config: { collections: { v: { key: ['id', 'lang'] }, t: { key: ['title'] } } } },
  );
  expect(schema.collections.map(({ name, key }) => [name, key])).toEqual([
    ['t', ['id']],
    ['v', ['id', 'lang']],
    ['w', []],
  ]);
  expect(complaints(diagnostics)).toEqual(['error key-exists platform.config.ts: collections.t.key']);
});

test('a hidden key column leaves the collection without a key', () => {
  const { schema, diagnostics } = resolve(
    { a: plain },
    { config: { collections: { a: { fields: { id: { hidden: true } } } } } },
  );
  expect(collection(schema, 'a').key).toEqual([]);
  expect(complaints(diagnostics)).toEqual(['warning hidden-key platform.config.ts: collections.a.fields']);
});
