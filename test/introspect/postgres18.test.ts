import { readFile } from 'node:fs/promises';
import type { SchemaFacts } from '@tablewright/introspect';
import { buildTables, readCatalog } from '@tablewright/introspect';
import { beforeAll, describe, expect, test } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { createEmbedded } from '../support/embedded.ts';
import { codesOf, columnOf, factsOf, fixture, tableOf } from './facts.ts';

async function factsOfServer(sql: string): Promise<SchemaFacts> {
  const database = await createDatabase(sql);
  const facts = await factsOf(database.url);
  await database.drop();
  return facts;
}

async function factsOfPglite(sql: string): Promise<SchemaFacts> {
  const database = await createEmbedded();
  await database.exec(sql);
  const catalog = await readCatalog(async (text, parameters) => {
    const result = await database.query<(string | null)[]>(text, [...parameters], {
      rowMode: 'array',
    });
    return result.rows;
  });
  await database.close();
  return buildTables(catalog);
}

describe.each([
  ['a server', factsOfServer],
  ['PGlite', factsOfPglite],
])('version 18 on %s', (_, read) => {
  let facts: SchemaFacts;
  beforeAll(async () => {
    facts = await read(await readFile(fixture('postgres18.sql'), 'utf8'));
  });

  test('virtual generated columns', () => {
    expect(columnOf(facts, 'public.room', 'area')).toMatchObject({
      fill: { kind: 'generated', expression: '(width * length)', stored: false },
      updatable: false,
    });
    expect(columnOf(facts, 'public.rooms', 'area')).toMatchObject({
      fill: { kind: 'generated' },
      updatable: false,
    });
  });

  test('keys without overlaps are keys, foreign keys of periods are no relations', () => {
    expect(tableOf(facts, 'public.stay').primaryKey?.columns).toEqual(['room', 'during']);
    expect(tableOf(facts, 'public.bill').foreignKeys.map((key) => [key.name, key.validated])).toEqual([
      ['bill_room', false],
    ]);
    expect(codesOf(facts)).toEqual(
      expect.arrayContaining(['temporal-key table public.stay', 'foreign-key-temporal table public.bill']),
    );
  });

  test('constraints that are not enforced promise nothing', () => {
    expect(columnOf(facts, 'public.bill', 'kind').type.values).toBeNull();
    expect(tableOf(facts, 'public.bill').checks).toEqual([]);
    expect(codesOf(facts)).toContain('check-not-enforced table public.bill');
  });

  test('NOT NULL counts once it is validated', () => {
    expect(columnOf(facts, 'public.bill', 'note').nullable).toBe(true);
    expect(columnOf(facts, 'public.bill', 'sure').nullable).toBe(false);
    expect(codesOf(facts)).toContain('not-null-not-validated table public.bill');
  });

  test('details of the versions since 15', () => {
    expect(tableOf(facts, 'public.bill').uniques).toEqual([
      { name: 'bill_code_key', columns: ['code'], deferrable: false, nullsNotDistinct: true },
    ]);
    expect(columnOf(facts, 'public.stay', 'price').type).toMatchObject({ precision: 3, scale: -1 });
    expect(tableOf(facts, 'public.discount').foreignKeys[0]).toMatchObject({ onDelete: 'set null' });
    expect(codesOf(facts)).toContain('foreign-key-detail table public.discount');
  });

  test('columns of a grouped view are traced', () => {
    expect(columnOf(facts, 'public.grouped', 'width').source).toEqual({ table: 'public.room', column: 'width' });
  });
});

test('an older server is refused by name', async () => {
  const catalog = await readCatalog(async () => [['130012']]);
  expect(buildTables(catalog)).toEqual({
    tables: [],
    enums: [],
    diagnostics: [expect.objectContaining({ code: 'server-version', severity: 'error' })],
  });
});
