import { expect, test } from 'vitest';
import type { PlatformConfig, TenantConfig } from '../../config/config.ts';
import type { TableSketch } from '../../testing/facts.ts';
import { complaints, notes, resolve } from '../../testing/resolve.ts';

const users: TableSketch = {
  schema: 'platform',
  columns: ['id!:uuid', 'tenant_id:integer', 'team_id:integer'],
  key: ['id'],
};
const things: TableSketch = { columns: ['id!=:integer', 'tenant_id!:integer', 'name!'], key: ['id'] };
const tenant: TenantConfig = { column: 'tenant_id', of: '$CURRENT_USER.tenant_id' };
const rules = (permissions: string) => `roles: { member: {}, operator: {} }\npermissions: ${permissions}`;

function problemsOf(
  tables: Readonly<Record<string, TableSketch>>,
  config: Partial<TenantConfig> = {},
  permissions = rules('{}'),
) {
  const resolved = resolve(
    { platform_users: users, things, ...tables },
    { config: { tenant: { ...tenant, ...config } }, permissions },
  );
  return complaints(resolved.diagnostics).filter((text) => !text.includes('role-without-rules'));
}

test('every table has the column, or is shared', () => {
  const countries: TableSketch = { columns: ['id!', 'name'], key: ['id'] };
  expect(problemsOf({})).toEqual([]);
  expect(problemsOf({ countries })).toEqual(['error tenant-missing table public.countries']);
  expect(problemsOf({ countries }, { shared: ['countries'] })).toEqual([]);
});

test('the column can be compared with the value of the caller, and is never null', () => {
  const column = 'column public.others.tenant_id';
  const others = (type: string): TableSketch => ({ columns: ['id!=:integer', `tenant_id${type}`], key: ['id'] });
  expect(problemsOf({ others: others('!:text') })).toEqual([`error tenant-type ${column}`]);
  expect(problemsOf({ others: others('!:bigint') })).toEqual([]);
  expect(problemsOf({ others: others(':integer') })).toEqual([`warning tenant-nullable ${column}`]);
});

test('names and paths of the configuration exist', () => {
  const place = 'platform.config.ts: tenant';
  expect(problemsOf({}, { shared: ['thigns'] })).toEqual([`error unknown-name ${place}.shared[0]`]);
  expect(problemsOf({}, { exempt: ['operater', 'public', 'operator'] })).toEqual([
    `error unknown-name ${place}.exempt[0]`,
    `error unknown-name ${place}.exempt[1]`,
  ]);
  for (const path of ['tenant_id', '$CURRENT_USER', '$NOW', '$CURRENT_USER.tenants', '$CURRENT_USER.tenant_id.id'])
    expect(problemsOf({}, { of: path })).toEqual([`error tenant-of ${place}.of`]);
});

test('a path that leads to no field tells how users get one', () => {
  const { diagnostics } = resolve(
    { platform_users: { ...users, columns: ['id!:uuid'] }, things },
    { config: { tenant }, permissions: rules('{}') },
  );
  expect(diagnostics.find(({ code }) => code === 'tenant-of')?.hint).toContain('platform migrate');
});

test('a hidden column, and keys that lead to hidden rows, are refused', () => {
  const notesTable: TableSketch = {
    columns: ['id!=:integer', 'tenant_id!:integer', 'thing:integer'],
    key: ['id'],
    foreignKeys: ['thing > things.id'],
  };
  const config = (collections: NonNullable<PlatformConfig['collections']>) =>
    resolve(
      { platform_users: users, things, notes: notesTable },
      { config: { tenant, collections }, permissions: rules('{}') },
    );
  expect(complaints(config({ things: { fields: { tenant_id: { hidden: true } } } }).diagnostics)).toContain(
    'error tenant-hidden column public.things.tenant_id',
  );
  expect(complaints(config({ things: { hidden: true } }).diagnostics)).toContain(
    'error tenant-foreign-key table public.notes',
  );
  expect(complaints(config({}).diagnostics).filter((text) => text.startsWith('error'))).toEqual([]);
});

test('keys over all tenants and missing indexes are told', () => {
  const { diagnostics } = resolve(
    { platform_users: users, things: { ...things, uniques: [['name']] } },
    { config: { tenant } },
  );
  expect(complaints(diagnostics)).toEqual(['warning tenant-unique table public.things']);
  expect(notes(diagnostics, 'tenant-index')).toHaveLength(1);
  const pairs: TableSketch = {
    columns: ['one!:integer', 'other!:integer', 'tenant_id!:integer'],
    key: ['one', 'other'],
    foreignKeys: ['one > things.id', 'other > things.id'],
  };
  expect(complaints(resolve({ platform_users: users, things, pairs }, { config: { tenant } }).diagnostics)).toEqual([
    'warning tenant-unique table public.pairs',
  ]);
  const led: TableSketch = { ...things, uniques: [['tenant_id', 'name']] };
  expect(
    notes(resolve({ platform_users: users, things: led }, { config: { tenant } }).diagnostics, 'tenant-index'),
  ).toEqual([]);
});

test('rules of all but administrators and exempt roles are bound', () => {
  const permissions = rules(
    '{ member: { things: { read: true, create: true, update: true, delete: { filter: { name: a } } } }, operator: { things: { read: true } } }',
  );
  const { schema } = resolve(
    { platform_users: users, things },
    { config: { tenant: { ...tenant, exempt: ['operator'] } }, permissions },
  );
  const own = {
    kind: 'compare',
    field: 'tenant_id',
    operator: '_eq',
    operand: { kind: 'caller', of: 'user', path: ['tenant_id'] },
  };
  const told = schema.permissions.map(({ role, action, fields, where, presets }) => [
    role,
    action,
    fields.includes('tenant_id'),
    where,
    presets.length,
  ]);
  expect(told).toEqual([
    ['member', 'create', false, own, 1],
    ['member', 'delete', false, { kind: 'and', of: [own, expect.objectContaining({ field: 'name' })] }, 0],
    ['member', 'read', true, own, 0],
    ['member', 'update', false, own, 0],
    ['operator', 'read', true, { kind: 'and', of: [] }, 0],
  ]);
});

test('every role needs a role of the database, however it is called', () => {
  const config: PlatformConfig = { database: { rowSecurity: { claims: 'app.claims', roles: { public: 'anon' } } } };
  const { diagnostics } = resolve({ things }, { config, permissions: 'roles: { constructor: {}, member: {} }' });
  expect(diagnostics.find(({ code }) => code === 'row-security-role')?.message).toBe(
    '"constructor" and "member" run as "anon", the role of the database of "public".',
  );
});
