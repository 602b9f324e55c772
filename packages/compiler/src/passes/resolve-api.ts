/** Schema → Api: exposed collections under names of generated code, all decisions of printing. References hold. */
import { isFollowedUnnamed, isFollowing, type Schema, type Table } from '@tablewright/introspect/schema';
import { type CachedTables, quoteTable } from '@tablewright/runtime/language';
import type { Api, ApiCollection, CollectionNames } from '../api.ts';
import { createCache, type Watch } from '../cache/memo-cache.ts';
import { createInterning } from '../cache/same.ts';
import { type GrantedRoute, resolveAccess } from './access.ts';
import { resolveCollection } from './collection.ts';
import { fingerprintOf } from './fingerprint.ts';
import { resolveFunctions } from './functions.ts';
import { nameAccess, nameCollections, nameEnums } from './names.ts';
import { indexOf, type SchemaSources, sourcesOf } from './schema-index.ts';

/** Resolves the whole API of a schema. Access classes that may call different routes of the project are kept apart. */
export function resolveApi(schema: Schema, routes: readonly GrantedRoute[] = []): Api {
  const enums = nameEnums(schema);
  const sources = sourcesOf(schema, enums);
  const index = indexOf(sources);
  const named = nameCollections(schema.collections.map(({ name }) => name));
  const names = new Map(
    schema.collections.flatMap((collection) => {
      const collectionNames = named.get(collection.name);
      return collectionNames === undefined ? [] : [[collection.name, oneOf(collection, collectionNames)] as const];
    }),
  );
  const collections = schema.collections.map((collection) =>
    collectionOf(collection, [...Object.values(sources), names], (watch) =>
      resolveCollection(collection, indexOf(watchSources(sources, watch)), watch(names)),
    ),
  );
  const access = nameAccess(resolveAccess(schema, index, routes), names);
  const fingerprint = fingerprintOf(schema, index);
  const functions = resolveFunctions(schema, index);
  const caching = cachingOf(schema);
  return {
    dialect: schema.dialect,
    graphql: schema.graphql !== false,
    ...(schema.permissionsDigest !== undefined && { permissionsDigest: schema.permissionsDigest }),
    ...(schema.graphqlConnections && { connections: schema.graphqlConnections }),
    ...(schema.graphqlEnums && { graphqlEnums: schema.graphqlEnums }),
    ...(enums.length > 0 && { enums }),
    ...(schema.rowSecurity !== undefined && { rowSecurity: schema.rowSecurity }),
    ...(caching && { caching }),
    ...(schema.model !== undefined && { model: schema.model }),
    collections,
    access,
    ...(functions.length > 0 && { functions }),
    customRoutes: [],
    fingerprint,
  };
}

const collectionOf = createCache<ApiCollection>();
const oneOf = createInterning<CollectionNames>();

function watchSources(sources: SchemaSources, watch: Watch): SchemaSources {
  return {
    dialect: watch(sources.dialect),
    rowSecurity: watch(sources.rowSecurity),
    seesAllRows: watch(sources.seesAllRows),
    tables: watch(sources.tables),
    collections: watch(sources.collections),
    byTable: watch(sources.byTable),
    linked: watch(sources.linked),
    enumTypes: watch(sources.enumTypes),
    graphqlEnums: watch(sources.graphqlEnums),
  };
}

/** Facts about every table; undefined where no collection lets caches keep answers. */
function cachingOf({ dialect, collections, tables }: Schema): CachedTables | undefined {
  if (collections.every(({ cache }) => cache === undefined)) return undefined;
  const nameOf = (table: Table): string => quoteTable(dialect, table);
  const all = followersOf(tables, ['onDelete', 'onUpdate']);
  const follow = (followers: Followers) =>
    Object.fromEntries(
      tables.flatMap((table) => {
        const others = reach(table, followers);
        const fires = [table, ...others].some((changed) => changed.fires === true);
        const reached = [...[...others].map(nameOf).sort(), ...(fires ? [anyTable] : [])];
        return reached.length === 0 ? [] : [[nameOf(table), reached] as const];
      }),
    );
  const byId = new Map(tables.map((table) => [table.id, table]));
  const following = tables.filter(
    ({ follows, foreignKeys }) =>
      follows === true ||
      foreignKeys.some((key) => {
        const target = byId.get(key.target);
        return target !== undefined && isFollowedUnnamed(key, target);
      }),
  );
  const derived = new Set([
    ...tables.filter(isDerived),
    ...following,
    ...following.flatMap((table) => [...reach(table, all)]),
  ]);
  return {
    derived: [...derived].map(nameOf).sort(),
    unbounded: [
      ...tables.filter(isUnbounded).map(nameOf).sort(),
      ...(tables.some(({ fires }) => fires) ? [anyTable] : []),
    ],
    cascades: follow(all),
    keyCascades: follow(followersOf(tables, ['onUpdate'])),
  };
}

/** Stands for all tables, as in the changes of a statement. */
const anyTable = '*';

/** True if rows change with those of tables that no statement names. */
function isDerived({ kind, columns, inherited, inherits, rowSecurity }: Table): boolean {
  const isOwn = (kind === 'table' || kind === 'partitioned') && columns.every(({ computed }) => computed === undefined);
  return !isOwn || inherited === true || inherits.length > 0 || rowSecurity.enabled;
}

/** True if a write may change any table: by triggers and rules, or through a view. */
function isUnbounded({ kind, amended }: Table): boolean {
  return amended !== undefined || (kind !== 'table' && kind !== 'partitioned');
}

/** Tables by those that they refer to. */
type Followers = ReadonlyMap<string, readonly Table[]>;

/** Those with foreign keys of which the database follows some of these events, and with such that are not listed. */
function followersOf(tables: readonly Table[], events: readonly ('onDelete' | 'onUpdate')[]): Followers {
  const followers = new Map<string, Table[]>();
  for (const table of tables) {
    const keys = table.foreignKeys.filter((key) => events.some((event) => isFollowing(key[event])));
    const unlisted = table.follows === true ? [] : (table.follows ?? []);
    for (const target of [...keys.map((key) => key.target), ...unlisted])
      followers.set(target, [...(followers.get(target) ?? []), table]);
  }
  return followers;
}

function reach(start: Table, followers: Followers): ReadonlySet<Table> {
  const reached = new Set<Table>();
  const open = [start];
  for (let table = open.pop(); table !== undefined; table = open.pop()) {
    for (const follower of followers.get(table.id) ?? []) {
      if (reached.has(follower)) continue;
      reached.add(follower);
      open.push(follower);
    }
  }
  return reached;
}
