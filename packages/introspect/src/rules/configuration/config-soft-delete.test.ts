import { expect, test } from 'vitest';
import type { SoftDeleteConfig } from '../../config/config.ts';
import { facts, type TableSketch } from '../../testing/facts.ts';
import { collection, complaints, resolve, resolveFacts } from '../../testing/resolve.ts';

const things: TableSketch = {
  columns: ['id!=:integer', 'name', 'state!', 'deleted_at:timestamptz', 'gone!:timestamptz', 'count:integer'],
  key: ['id'],
};

function problemsOf(softDelete: SoftDeleteConfig, sketch = things): readonly string[] {
  return complaints(resolve({ things: sketch }, { config: { collections: { things: { softDelete } } } }).diagnostics);
}

test('the field takes the values that archive and restore', () => {
  const place = 'platform.config.ts: collections.things.softDelete';
  expect(problemsOf({ field: 'deleted_at' })).toEqual([]);
  expect(problemsOf({ field: 'state', value: 'archived', restore: 'live' })).toEqual([]);
  expect(problemsOf({ field: 'deletd_at' })).toEqual([`error unknown-name ${place}.field`]);
  expect(problemsOf({ field: 'name' })).toEqual([`error soft-delete ${place}.field`]);
  expect(problemsOf({ field: 'gone' })).toEqual([`error soft-delete ${place}.field`]);
  expect(problemsOf({ field: 'count', value: 'many' })).toEqual([`error soft-delete ${place}.value`]);
  expect(problemsOf({ field: 'count', value: '1', restore: 'none' })).toEqual([`error soft-delete ${place}.restore`]);
  const told = (softDelete: SoftDeleteConfig) =>
    resolve({ things }, { config: { collections: { things: { softDelete } } } }).diagnostics[0];
  expect(told({ field: 'name' })?.hint).toContain("`value`: { field: 'name', value: 'archived' }");
  expect(told({ field: 'count' })?.hint).toContain("`value`: { field: 'count', value: '1' }");
  expect(told({ field: 'count', value: 'many' })?.message).toBe('"many" must be an integer.');
  expect(problemsOf({ field: 'deleted_at' }, { ...things, readOnly: true })).toEqual([
    `error soft-delete ${place}.field`,
  ]);
});

test('unique keys that count archived items are told', () => {
  const keyed = { ...things, uniques: [['name'], ['name', 'deleted_at']] };
  expect(problemsOf({ field: 'deleted_at' }, keyed)).toEqual(['warning unique-with-soft-delete table public.things']);
  const config = { collections: { things: { softDelete: { field: 'name', value: "o'er" } } } };
  const [told] = resolve({ things: { ...things, uniques: [['count']] } }, { config }).diagnostics;
  expect(told?.hint).toContain(`CREATE UNIQUE INDEX … WHERE "name" IS DISTINCT FROM 'o''er';`);
});

test('a generated column of the key leaves archived items out', () => {
  const told = (expression: string): readonly string[] => {
    const sketched = facts({ things: { ...things, uniques: [['name', 'count']] } });
    const generated = { kind: 'generated', expression, stored: false } as const;
    const tables = sketched.tables.map((table) => ({
      ...table,
      columns: table.columns.map((column) => (column.name === 'count' ? { ...column, fill: generated } : column)),
    }));
    const config = { collections: { things: { softDelete: { field: 'deleted_at' } } } };
    return complaints(resolveFacts({ ...sketched, tables }, { config }).diagnostics);
  };
  expect(told('case when deleted_at is null then 1 end')).toEqual([]);
  expect(told('length(name)')).toEqual(['warning unique-with-soft-delete table public.things']);
});

test('rules for delete may remove for good, and no others', () => {
  const permissions = (rule: string) => `roles: { editor: {} }\npermissions: { editor: { things: { ${rule} } } }`;
  const config = { collections: { things: { softDelete: { field: 'deleted_at' } } } };
  const { schema } = resolve({ things }, { config, permissions: permissions('delete: { purge: true }') });
  expect(schema.permissions).toMatchObject([{ action: 'delete', purge: true }]);
  expect(collection(schema, 'things').softDelete).toEqual({ field: 'deleted_at' });
  const { diagnostics } = resolve({ things }, { config, permissions: permissions('delete: { purge: maybe }') });
  expect(complaints(diagnostics)[0]).toMatch(/^error permissions-form/);
  expect(
    complaints(resolve({ things }, { permissions: permissions('read: { fields: [id], purge: true }') }).diagnostics)[0],
  ).toMatch(/^error permissions-key/);
});
