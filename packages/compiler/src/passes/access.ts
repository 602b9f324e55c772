/**
 * Roles and their rules → access classes: roles that may do the same are one class, so that a plan is made once.
 *
 * `public` (requests without a token) and `admin` always exist. A class is named after `admin` or `public` when it
 * holds that role, else after its roles.
 */
import type { Collection, Permission, Role, Schema, Table } from '@tablewright/introspect/schema';
import {
  type AccessClass,
  type AccessRule,
  always,
  type CollectionAccess,
  type FunctionAccess,
  systemCollection,
  type WriteRule,
} from '@tablewright/runtime/language';
import { createFactsOfTwo } from '../cache/same.ts';
import type { RouteHead } from '../extensions/read-routes.ts';
import { fileName, uniqueNames } from '../print/identifier.ts';
import { canonicalJson } from '../print/json.ts';
import type { SchemaIndex } from './schema-index.ts';

/** Resolves the access classes: `admin`, `public`, then the others sorted by name. */
export function resolveAccess(
  schema: Schema,
  index: SchemaIndex,
  routes: readonly GrantedRoute[],
): readonly AccessClass[] {
  const admins = schema.roles.filter(({ admin }) => admin).map(({ name }) => name);
  const collections = schema.collections.map((collection) => adminAccess(collection, index));
  const groups = groupRoles(schema, routes);
  const names = nameGroups(groups.map(({ roles }) => roles));
  const others = groups.map(({ roles, access, exempt, functions }, index) => ({
    name: names[index] ?? '',
    roles,
    admin: false,
    ...(exempt && { exempt: true as const }),
    collections: access,
    ...(functions.length > 0 && { functions }),
  }));
  const functions = (schema.functions ?? []).map(({ name }): FunctionAccess => ({ function: name }));
  const [open, rest] = [others.filter(({ name }) => name === 'public'), others.filter(({ name }) => name !== 'public')];
  return [
    {
      name: 'admin',
      roles: ['admin', ...admins],
      admin: true,
      collections,
      ...(functions.length > 0 && { functions }),
    },
    ...open,
    ...rest.sort((a, b) => (a.name < b.name ? -1 : 1)),
  ];
}

/** A route of the project, and the roles that may call it. */
export type GrantedRoute = Pick<RouteHead, 'method' | 'path' | 'roles'>;

interface Group {
  readonly roles: readonly string[];
  readonly access: readonly CollectionAccess[];
  readonly exempt: boolean;
  readonly functions: readonly FunctionAccess[];
}

/** Roles by what they may do. App access, routes and functions are permissions too, so they keep two roles apart. */
function groupRoles(schema: Schema, routes: readonly GrantedRoute[]): readonly Group[] {
  const rules = Map.groupBy(schema.permissions, ({ role }) => role);
  const calls = Map.groupBy(schema.calls ?? [], ({ role }) => role);
  const visitor: Pick<Role, 'name' | 'app' | 'exempt'> = { name: 'public', app: false };
  const roles = [visitor, ...schema.roles.filter(({ admin }) => !admin)].map(({ name, app, exempt = false }) => ({
    name,
    app,
    exempt,
    access: collectionAccess(rules.get(name) ?? []),
    functions: (calls.get(name) ?? []).map(({ function: called, args }): FunctionAccess => {
      return { function: called, ...(args.length > 0 && { args }) };
    }),
    callable: routes.flatMap((route) => (route.roles.includes(name) ? [`${route.method} ${route.path}`] : [])),
  }));
  return groupSame(roles).map((members) => ({
    roles: members.map(({ name }) => name),
    access: members[0]?.access ?? [],
    exempt: members[0]?.exempt ?? false,
    functions: members[0]?.functions ?? [],
  }));
}

interface RolePermissions extends Pick<Group, 'access' | 'functions'> {
  readonly name: string;
  readonly app: boolean;
  /** Sees the rows of all tenants. */
  readonly exempt: boolean;
  readonly callable: readonly string[];
}

/** Groups roles by what they may do, in the order of their first. Most say it in one order, so few are sorted. */
function groupSame(roles: readonly RolePermissions[]): readonly (readonly RolePermissions[])[] {
  const permissionsOf = ({ app, exempt, access, callable, functions }: RolePermissions) => {
    return [app, exempt, access, callable, functions];
  };
  const alike = [...Map.groupBy(roles, (role) => JSON.stringify(permissionsOf(role))).values()];
  const same = Map.groupBy(alike, ([first]) => (first === undefined ? '' : canonicalJson(permissionsOf(first))));
  return [...same.values()].map((groups) => (groups.length === 1 ? (groups[0] ?? []) : inOrder(roles, groups.flat())));
}

function inOrder(roles: readonly RolePermissions[], members: readonly RolePermissions[]): readonly RolePermissions[] {
  const all = new Set(members);
  return roles.filter((role) => all.has(role));
}

/** A rule without fields grants nothing, not even that its rows exist; only deleting needs none. */
function collectionAccess(permissions: readonly Permission[]): readonly CollectionAccess[] {
  const granting = permissions.filter(({ action, fields }) => action === 'delete' || fields.length > 0);
  const groups = Map.groupBy(granting, ({ collection }) => collection);
  return [...groups]
    .map(([collection, rules]) => ({ collection, ...actionRules(rules) }))
    .sort((a, b) => (a.collection < b.collection ? -1 : 1));
}

function actionRules(rules: readonly Permission[]): Omit<CollectionAccess, 'collection'> {
  const rulesOf = (action: Permission['action']) => rules.filter((rule) => rule.action === action);
  const [read, create, update, remove] = [rulesOf('read'), rulesOf('create'), rulesOf('update'), rulesOf('delete')];
  return {
    ...(read.length > 0 && { read: read.map(({ fields, where }) => ({ fields, where })) }),
    ...(create.length > 0 && { create: create.map(writeRule) }),
    ...(update.length > 0 && { update: update.map(writeRule) }),
    ...(remove.length > 0 && { delete: remove.map(deleteRule) }),
  };
}

function deleteRule({ fields, where, purge }: Permission): AccessRule {
  return { fields, where, ...(purge && { purge }) };
}

function writeRule({ fields, where, check, presets }: Permission): WriteRule {
  return { fields, where, check, presets };
}

/** Every field and relation, every row, every action that the database has for the table. */
function adminAccess(collection: Collection, index: SchemaIndex): CollectionAccess {
  const table = index.table(collection.table);
  return oneAccess(collection, table, () => wholeAccess(collection, table));
}

const oneAccess = createFactsOfTwo<Collection, Table, CollectionAccess>();

function wholeAccess(collection: Collection, table: Table): CollectionAccess {
  const writable = writableActions(collection, table);
  const fields = [...new Set([...collection.fields, ...collection.relations].map(({ name }) => name))];
  const rule: AccessRule = { fields, where: always };
  const write: WriteRule = { ...rule, check: null, presets: [] };
  const fixed = fixedFields(collection);
  const writes = [write];
  const changes = fixed.length === 0 ? writes : [{ ...write, fields: fields.filter((name) => !fixed.includes(name)) }];
  return {
    collection: collection.name,
    read: [rule],
    ...(writable.insert && { create: writes }),
    ...(writable.update && { update: changes }),
    ...(writable.delete && { delete: [{ fields: [], where: always }] }),
  };
}

/** Fields of the platform's own collections that no payload changes after creation. */
function fixedFields({ name, system }: Collection): readonly string[] {
  return system === undefined ? [] : (systemCollection(name)?.fixed ?? []);
}

/** Actions that the database allows on the table; for the platform's collections those that payloads can ask for. */
function writableActions({ system }: Collection, { writable }: Table): Table['writable'] {
  if (system === undefined) return writable;
  const { writes } = system;
  return {
    insert: writable.insert && writes.includes('create'),
    update: writable.update && writes.includes('update'),
    delete: writable.delete && writes.includes('delete'),
  };
}

/** `admin` is the class of administrators, so no role of another name comes to share it. */
function nameGroups(groups: readonly (readonly string[])[]): readonly string[] {
  const requested = new Map(
    groups.map((roles) => [groupKey(roles), roles.includes('public') ? 'public' : roles.join('_')]),
  );
  const spell = (key: string): string => fileName(requested.get(key) ?? key);
  const fold = (name: string): string => name.toLowerCase();
  const names = uniqueNames([...requested.keys()], spell, fold, new Set(['admin']));
  return groups.map((roles) => names.get(groupKey(roles)) ?? '');
}

/** No two groups have one, as the roles `a` and `b` would have the name of a role `a_b`. */
function groupKey(roles: readonly string[]): string {
  const [name = '', ...others] = roles.includes('public') ? ['public'] : roles;
  return others.length === 0 && !name.startsWith('[') ? name : JSON.stringify(roles);
}
