/**
 * Schema → Api: the exposed collections, under the names of generated code. Takes a schema whose references hold
 * (`rules/`); takes every decision that printing needs.
 */
import type { Schema } from '@tablewright/introspect/schema';
import type { Api, ApiCollection, CollectionNames } from '../api.ts';
import { createCache, type Watch } from '../cache/remember.ts';
import { createInterning } from '../cache/same.ts';
import { type GrantedRoute, resolveAccess } from './access.ts';
import { cachingOf } from './caching.ts';
import { resolveCollection } from './collection.ts';
import { nameEnums } from './enums.ts';
import { fingerprintOf } from './fingerprint.ts';
import { resolveFunctions } from './functions.ts';
import { nameAccess, nameCollections } from './names.ts';
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
    tables: watch(sources.tables),
    collections: watch(sources.collections),
    byTable: watch(sources.byTable),
    linked: watch(sources.linked),
    enumTypes: watch(sources.enumTypes),
    graphqlEnums: watch(sources.graphqlEnums),
  };
}
