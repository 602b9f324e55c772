/**
 * Schema → Api: what is exposed, under the names it takes in generated code. Takes a schema whose references hold
 * (`rules/`); decides everything that printing needs.
 */
import type { Schema } from '@platform/introspect/schema';
import type { Api } from '../api.ts';
import { type GrantedRoute, resolveAccess } from './access.ts';
import { resolveCollection } from './collection.ts';
import { takeFingerprint } from './fingerprint.ts';
import { nameAccess, nameCollections } from './names.ts';
import { indexSchema } from './schema-index.ts';

/** Resolves the whole surface of a schema. Who may call which routes of the project keeps access classes apart. */
export function resolveApi(schema: Schema, routes: readonly GrantedRoute[] = []): Api {
  const index = indexSchema(schema);
  const names = nameCollections(schema.collections.map(({ name }) => name));
  const collections = schema.collections.map((collection) => resolveCollection(collection, index, names));
  const access = nameAccess(resolveAccess(schema, index, routes), names);
  const fingerprint = takeFingerprint(schema, index);
  return {
    dialect: schema.dialect,
    graphql: schema.graphql !== false,
    ...(schema.permissionsDigest !== undefined && { permissionsDigest: schema.permissionsDigest }),
    ...(schema.model !== undefined && { model: schema.model }),
    collections,
    access,
    customRoutes: [],
    fingerprint,
  };
}
