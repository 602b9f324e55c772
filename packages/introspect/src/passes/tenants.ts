import {
  both,
  type CallerOperand,
  type Condition,
  never,
  parseOperand,
  systemCollection,
} from '@tablewright/runtime/language';
import type { PlatformConfig } from '../config/config.ts';
import type { Collection, Permission, Role, Table, TableId } from '../schema.ts';
import { collectionsByName, defaultSchema, findTables } from './lookup.ts';

/** The tenants of a configuration, as far as it can be understood; rules report the rest. */
export interface Tenants {
  readonly column: string;
  /** Value of the caller that names their tenant. */
  readonly of: CallerOperand;
  /** Tables whose rows belong to all tenants. */
  readonly shared: ReadonlySet<TableId>;
  /** Roles that see all tenants, beside administrators. */
  readonly exempt: ReadonlySet<string>;
}

/** Reads the tenants of a configuration; null where it has none, or no value of the caller names theirs. */
export function readTenants(config: PlatformConfig, tables: readonly Table[]): Tenants | null {
  const { tenant } = config;
  const operand = tenant === undefined ? null : tenantOperand(tenant.of);
  if (tenant === undefined || operand === null) return null;
  const { column, shared = [], exempt = [] } = tenant;
  const ids = shared.flatMap((name) => findTables(tables, name, defaultSchema(config)).map(({ id }) => id));
  return { column, of: operand, shared: new Set(ids), exempt: new Set(exempt) };
}

/** The value of the caller under `tenant.of`: a path to a field. Null for anything else. */
function tenantOperand(text: string): CallerOperand | null {
  const parsed = parseOperand(text);
  if (!parsed.ok || parsed.operand.kind !== 'caller' || parsed.operand.path.length === 0) return null;
  return parsed.operand;
}

const users = 'platform_users';

/** The collections, each with the condition of its rows; shared ones have none. */
export function withTenants(collections: readonly Collection[], tenants: Tenants | null): readonly Collection[] {
  if (tenants === null) return collections;
  return collections.map((collection) => {
    const tenant = tenantOf(collection, tenants);
    return tenant === undefined ? collection : { ...collection, tenant };
  });
}

/** The condition of rows of the caller's tenant; undefined where rows belong to all. A rule reports a missing column. */
function tenantOf(collection: Collection, tenants: Tenants): Condition | undefined {
  if (tenants.shared.has(collection.table)) return undefined;
  const field = collection.fields.find(({ column }) => column === tenants.column);
  if (field !== undefined) return isOfCaller(field.name, tenants);
  if (collection.system === undefined) return never;
  if (collection.name === users) return ofUser(tenants);
  const owner = systemCollection(collection.name)?.owner;
  if (owner === undefined) return undefined;
  const isLink = collection.relations.some(({ name, target }) => name === owner && target === users);
  return isLink && owner !== null
    ? { kind: 'related', relation: owner, quantifier: 'one', where: ofUser(tenants) }
    : never;
}

/** The condition of users of the caller's tenant: the path from the caller, on any user. */
function ofUser(tenants: Tenants): Condition {
  const { of: operand } = tenants;
  if (operand.of !== 'user') return { kind: 'related', relation: 'role', quantifier: 'one', where: onPath(tenants) };
  return onPath(tenants);
}

function onPath(tenants: Tenants): Condition {
  const { path } = tenants.of;
  const end: Condition = isOfCaller(path.at(-1) ?? '', tenants);
  return path
    .slice(0, -1)
    .reduceRight((where: Condition, relation) => ({ kind: 'related', relation, quantifier: 'one', where }), end);
}

function isOfCaller(field: string, { of: operand }: Tenants): Condition {
  return { kind: 'compare', field, operator: '_eq', operand };
}

/** Marks the roles that see all tenants. */
export function exemptRoles(roles: readonly Role[], tenants: Tenants | null): readonly Role[] {
  if (tenants === null) return roles;
  return roles.map((role) => (tenants.exempt.has(role.name) ? { ...role, exempt: true as const } : role));
}

/** Binds the rules of all other roles to their caller's tenant. */
export function bindTenants(
  permissions: readonly Permission[],
  roles: readonly Role[],
  collections: readonly Collection[],
): readonly Permission[] {
  const byName = collectionsByName(collections);
  const free = new Set(roles.flatMap(({ name, admin, exempt }) => (admin || exempt === true ? [name] : [])));
  return permissions.map((permission) => {
    const tenant = free.has(permission.role) ? undefined : byName.get(permission.collection)?.tenant;
    return tenant === undefined ? permission : bound(permission, tenant);
  });
}

/** Payloads cannot name the column: new items get the caller's tenant, and stored ones keep theirs. */
function bound(permission: Permission, tenant: Condition): Permission {
  const { action, where, check, fields, presets } = permission;
  const column = tenant.kind === 'compare' ? tenant : undefined;
  const isWrite = action === 'create' || action === 'update';
  const others = presets.filter(({ field }) => field !== column?.field);
  const preset = action === 'create' ? presetsOf(permission, column) : [];
  return {
    ...permission,
    fields: isWrite ? fields.filter((name) => name !== column?.field) : fields,
    where: both(tenant, where),
    check: check && both(tenant, check),
    presets: [...others, ...preset],
  };
}

/** The tenant's column, or the owner that the server gives new rows: its tenant has to be there when they are checked. */
function presetsOf({ collection }: Permission, column: Extract<Condition, { kind: 'compare' }> | undefined) {
  if (column !== undefined) return [{ field: column.field, value: column.operand }];
  const { owner = null, serverOwned = [] } = systemCollection(collection) ?? {};
  const isServers = owner !== null && serverOwned.includes(owner);
  return isServers ? [{ field: owner, value: { kind: 'caller', of: 'user', path: [] } as const }] : [];
}
