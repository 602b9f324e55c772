import { restoredTable } from '@tablewright/introspect';
import type { Collection, ForeignKey, Schema, Table } from '@tablewright/introspect/schema';
import {
  type AccessClass,
  derivedOnce,
  type GraphqlOperation,
  graphqlCollectionRoots,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection, Operation } from '../api.ts';
import type { MemoCache } from '../cache/memo-cache.ts';
import { resolveApi } from '../passes/resolve-api.ts';
import { roleViewOf } from '../role-view/build-role-view.ts';
import type { RoleCollection, RoleView } from '../role-view/role-view.ts';
import type { RenameIndex } from './renames.ts';
import type { Change, Direction, RuleId, Verdicts } from './rules.ts';

/** One of the two that are compared. */
interface Version {
  readonly schema: Schema;
  readonly api: Api;
  readonly collections: ReadonlyMap<string, ApiCollection>;
  /** Collections of the schema, with columns and tables by their names in the database. */
  readonly resolved: ReadonlyMap<string, Collection>;
  readonly tables: ReadonlyMap<string, Table>;
  /** Foreign keys by the id of the table that they lead to. */
  readonly referring: ReadonlyMap<string, readonly Referring[]>;
  readonly access: ReadonlyMap<string, AccessClass>;
  /** View of an access class; made once for each. */
  readonly view: (access: AccessClass) => RoleView;
}

/** A foreign key, named by its table and columns, and what becomes of its rows with those that they refer to. */
interface Referring extends Pick<ForeignKey, 'name' | 'onDelete' | 'onUpdate'> {}

export interface Side {
  readonly version: Version;
  readonly access: AccessClass;
  readonly collections: ReadonlyMap<string, RoleCollection>;
}

/** One change for one role, before it is put together with those of others. */
export interface Found extends Pick<Change, 'rule' | 'subject' | 'message' | 'operations' | 'rights'> {
  /** In place of what the rule says. */
  readonly verdicts?: Verdicts;
}

/** Direction of a change of permissions, to be spread; administrators have all of them. */
export function permissionChange({ access }: Side, direction: Direction): Pick<Found, 'rights'> {
  return access.admin ? {} : { rights: direction };
}

/** One change of a known place. */
export type Finding = Pick<Found, 'rule' | 'message' | 'verdicts'>;

/** The change where it is one, else none. */
export function when(isChanged: boolean, rule: RuleId, message: string, verdicts?: Verdicts): readonly Finding[] {
  return isChanged ? [{ rule, message, ...(verdicts && { verdicts }) }] : [];
}

/** Finds that an item can be null where its key cannot, or not any more. OpenAPI says it of every item. */
export function itemChanges(kind: 'field' | 'relation', was: Leading, is: Leading): readonly Finding[] {
  if (was.nullable !== is.nullable || was.itemNullable === null || is.itemNullable === null) return [];
  const [isLost, isKept] = [!was.itemNullable && is.itemNullable, was.itemNullable && !is.itemNullable];
  const name = `The item of "${is.name}"`;
  const severity = isLost ? 'breaking' : 'safe';
  const shown: Verdicts = { rest: severity, graphql: severity, client: severity };
  return [
    ...when(isLost, `${kind}-now-nullable`, `${name} can be null.`, shown),
    ...when(isKept, `${kind}-never-null`, `${name} is never null.`, shown),
  ];
}

/** Facts of a field, or of a relation, that leads to an item. */
interface Leading {
  readonly name: string;
  readonly nullable: boolean;
  readonly itemNullable: boolean | null;
}

/** Finds that a part is deprecated, for another reason than before, or not any more. */
export function deprecationChange(
  kind: 'collection' | 'field' | 'relation',
  was: { readonly deprecated: string | null },
  { name, deprecated }: { readonly name: string; readonly deprecated: string | null },
): readonly Finding[] {
  const isChanged = was.deprecated !== deprecated;
  return deprecated === null
    ? when(isChanged, `${kind}-undeprecated`, `"${name}" is no longer deprecated.`)
    : when(isChanged, `${kind}-deprecated`, `"${name}" is deprecated.`);
}

/** Compares fields, or relations, that can be read. Those of one side are new or gone; if they are on both, shown or hidden. */
export function compareMembers<T extends { readonly name: string }>(
  { before, after, was, is, renamed }: CollectionPair,
  kind: 'field' | 'relation',
  [earlier, later]: readonly [readonly T[], readonly T[]],
  find: (side: Side, collection: string, name: string) => unknown,
  compare: (was: T, is: T) => readonly Finding[],
): readonly Found[] {
  const [old, fresh] = [operationsIn(before, was.name, 'read'), operationsIn(after, is.name, 'read')];
  return pairs(earlier, later, renamed).flatMap(({ name, ...members }): readonly Found[] => {
    const subject = `${is.name}.${name}`;
    if (members.was === undefined) {
      const existed = find(before, was.name, name) !== undefined;
      const message = existed ? `"${name}" can be read.` : `"${name}" is new.`;
      const rule = existed ? (`${kind}-shown` as const) : (`${kind}-added` as const);
      return [{ rule, subject, message, operations: fresh, ...permissionChange(after, 'widening') }];
    }
    if (members.is === undefined) {
      const stays = find(after, is.name, renamed.get(name) ?? name) !== undefined;
      const message = stays ? `"${name}" can no longer be read.` : `"${name}" is gone.`;
      const rule = stays ? (`${kind}-hidden` as const) : (`${kind}-removed` as const);
      return [{ rule, subject, message, operations: old, ...permissionChange(after, 'narrowing') }];
    }
    return compare(members.was, members.is).map((found) => ({ subject, operations: old, ...found }));
  });
}

/** Prepares one of the two for comparisons. Parts that are equal in both are one object by their common cache. */
export function versionOf(read: Schema, memoCache: MemoCache): Version {
  const schema = memoCache.recallSchema({ ...read, tables: read.tables.map(restoredTable) });
  const api = memoCache.recall(resolveApi(schema));
  const tables = new Map(schema.tables.map((table) => [table.id, table]));
  return {
    schema,
    api,
    collections: new Map(api.collections.map((collection) => [collection.descriptor.name, collection])),
    resolved: new Map(schema.collections.map((collection) => [collection.name, collection])),
    tables: new Map(
      schema.collections.flatMap(({ name, table }) => {
        const found = tables.get(table);
        return found === undefined ? [] : [[name, found] as const];
      }),
    ),
    referring: Map.groupBy(
      schema.tables.flatMap(({ id, foreignKeys }) =>
        foreignKeys.map(({ target, columns, onDelete, onUpdate }) => ({
          ...{ target, onDelete, onUpdate },
          name: `${id} (${columns.join(', ')})`,
        })),
      ),
      ({ target }) => target,
    ),
    access: new Map(api.access.flatMap(({ access }) => access.roles.map((role) => [role, access] as const))),
    view: derivedOnce((access) => roleViewOf(api, access)),
  };
}

export function sideOf(version: Version, role: string): Side | undefined {
  const access = version.access.get(role);
  if (access === undefined) return undefined;
  const { collections } = version.view(access);
  return { version, access, collections: new Map(collections.map((collection) => [collection.name, collection])) };
}

export function operationsIn({ version, collections }: Side, name: string, concern: Concern): readonly string[] {
  const view = collections.get(name);
  return view === undefined ? [] : operationsOf(view, version.collections.get(name), concern, version.api.graphql);
}

export type Concern = 'read' | 'create' | 'update' | 'delete' | 'all';

const kinds: Readonly<Record<Exclude<Concern, 'all'>, ReadonlySet<Operation['kind']>>> = {
  read: new Set(['list', 'search', 'read', 'readSingleton']),
  create: new Set(['create']),
  update: new Set(['update', 'updateMany', 'updateSingleton']),
  delete: new Set(['delete', 'deleteMany']),
};

const roots: Readonly<Record<GraphqlOperation, Exclude<Concern, 'all'>>> = {
  list: 'read',
  singleton: 'read',
  byKey: 'read',
  connection: 'read',
  aggregate: 'read',
  createOne: 'create',
  createMany: 'create',
  updateOne: 'update',
  updateMany: 'update',
  updateBatch: 'update',
  updateSingleton: 'update',
  deleteOne: 'delete',
  deleteMany: 'delete',
};

/** True if a role has an operation of that kind at all. */
export function offers({ readable, writes }: RoleCollection, concern: Exclude<Concern, 'all'>): boolean {
  if (concern === 'read') return readable;
  return concern === 'delete' ? writes?.delete === true : writes?.[concern] != null;
}

/** `GET /items/articles`, `query articles`, in the order of the API; those that the role has. */
function operationsOf(
  view: RoleCollection,
  api: ApiCollection | undefined,
  concern: Concern,
  graphql: boolean,
): readonly string[] {
  if (api === undefined) return [];
  const requested = (concern === 'all' ? (['read', 'create', 'update', 'delete'] as const) : [concern]).filter(
    (action) => offers(view, action),
  );
  const rest = api.operations.filter(({ kind }) => requested.some((action) => kinds[action].has(kind)));
  const fields = graphql && api.operations.length > 0 ? graphqlCollectionRoots(api.descriptor) : [];
  return [
    ...rest.map(({ method, path }) => `${method} ${path}`),
    ...fields
      .filter(({ operation }) => requested.includes(roots[operation]))
      .map(({ kind, name }) => `${kind} ${name}`),
  ];
}

/** One name with what stands under it before and after; at least one is there. */
interface Pair<T> {
  /** The name after the change, or the one that is gone. */
  readonly name: string;
  readonly was: T | undefined;
  readonly is: T | undefined;
}

/** Pairs by name, those of the second list in its order first. `renamed` leads from names of the first to the second. */
export function pairs<T extends { readonly name: string }>(
  before: readonly T[],
  after: readonly T[],
  renamed: ReadonlyMap<string, string> = new Map(),
): readonly Pair<T>[] {
  const old = new Map(before.map((item) => [renamed.get(item.name) ?? item.name, item]));
  const fresh = new Set(after.map(({ name }) => name));
  return [
    ...after.map((is) => ({ name: is.name, was: old.get(is.name), is })),
    ...[...old].flatMap(([name, was]) => (fresh.has(name) ? [] : [{ name: was.name, was, is: undefined }])),
  ];
}

/** `"a", "b"` */
export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

/** A collection that a role sees on both sides. */
export interface CollectionPair {
  readonly before: Side;
  readonly after: Side;
  readonly was: RoleCollection;
  readonly is: RoleCollection;
  /** Names of fields and relations before to those after. */
  readonly renamed: ReadonlyMap<string, string>;
  readonly renames: RenameIndex;
}
