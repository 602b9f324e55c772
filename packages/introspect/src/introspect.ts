import {
  type DeclaredModel,
  type Dialect,
  defaultDialect,
  type Operand,
  parseOperand,
  type RowSecurity,
} from '@tablewright/runtime/language';
import type { PlatformConfig, RowSecurityConfig } from './config/config.ts';
import type { PermissionDocument } from './config/permissions/permission-document.ts';
import { digestPermissions } from './config/permissions/plain-rules.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { SchemaFacts } from './facts.ts';
import { sortedBy } from './order.ts';
import { declareCollections, declaredNames } from './passes/declarations/declare-collections.ts';
import {
  declareAnyItems,
  declareManyToAny,
  declareRelations,
  declareTranslations,
} from './passes/declarations/declare-relations.ts';
import { routinesOf, serveFunctions, unservedFunctions, withComputed } from './passes/functions.ts';
import { graphqlEnums } from './passes/graphql-enums.ts';
import { nameCollections, nameFields } from './passes/names.ts';
import { appRoles, resolvePermissions } from './passes/permissions/resolve-permissions.ts';
import { resolveCalls } from './passes/permissions/resolve-rules.ts';
import { configureRelations, relationKey } from './passes/relations/configure-relations.ts';
import { deriveManyToMany } from './passes/relations/derive-many-to-many.ts';
import { deriveManyToOne, deriveOneToMany, hideManyToOne } from './passes/relations/derive-many-to-one.ts';
import { declareSearch } from './passes/search.ts';
import {
  markSystem,
  nameSystemInverses,
  placeSystem,
  systemNames,
  withImplied,
  withSystemTables,
} from './passes/system-tables.ts';
import { bindTenants, exemptRoles, readTenants, withTenants } from './passes/tenants.ts';
import { checkSchema } from './rules/index.ts';
import type { Collection, Schema, Table } from './schema.ts';

/**
 * Resolves the facts of a database under a configuration into the schema.
 *
 * Pure: the same input gives the same schema, and so do a loaded schema's own tables and enums. `previous` is the
 * schema compiled before; where several junctions lead to one collection, the relation that had the plain name keeps
 * it. With a diagnostic of severity `error` the schema must not be compiled. The diagnostics of `facts` are not
 * repeated.
 */
export function resolveSchema(
  facts: SchemaFacts,
  projectConfig: PlatformConfig,
  permissions: PermissionDocument,
  options: { readonly previous?: Schema } = {},
): { readonly schema: Schema; readonly diagnostics: readonly Diagnostic[] } {
  const config = placeSystem(projectConfig, facts);
  const { routines = [] } = facts;
  const dialect = facts.dialect ?? defaultDialect;
  const tables = withComputed(
    sortedBy(facts.tables, ({ id }) => id),
    config,
    routines,
  );
  const { model = null } = facts;
  const previous = options.previous ?? null;
  const settled = model === null ? config : declareModel(tables, config, previous, model);
  const derived = deriveCollections(tables, settled, previous, facts.dialect);
  const tenants = readTenants(settled, tables);
  const stored = withTenants(derived.collections, tenants);
  const resolved = resolvePermissions(permissions, stored, tables, dialect);
  const collections = withImplied(stored, appRoles(resolved.roles));
  const roles = exemptRoles(resolved.roles, tenants);
  const functions = serveFunctions(routines, config, collections);
  const { calls, diagnostics: unknownCalls } = resolveCalls(permissions, functions, collections, tables, dialect);
  const enums = graphqlEnums({ collections, tables, functions, enums: facts.enums }, config);
  const schema: Schema = {
    version: 1,
    dialect,
    ...(config.graphql === false && { graphql: false }),
    ...(typeof config.graphql === 'object' && config.graphql.connections === true && { graphqlConnections: true }),
    ...(enums.length > 0 && { graphqlEnums: enums }),
    ...(config.permissionSource === 'tables' && { permissionsDigest: digestPermissions(permissions) }),
    ...(model !== null && { model }),
    ...(config.database?.rowSecurity === false && { seesAllRows: true }),
    ...(config.database?.rowSecurity && { rowSecurity: passedOn(config.database.rowSecurity) }),
    tables,
    enums: sortedBy(
      facts.enums,
      (type) => type.schema,
      (type) => type.name,
    ),
    collections,
    roles,
    permissions: bindTenants(resolved.permissions, roles, collections),
    ...(functions.length > 0 && { functions }),
    ...(calls.length > 0 && { calls }),
  };
  const problems = checkSchema(schema, { config: settled, permissions, relationKeys: derived.relationKeys, routines });
  return {
    schema,
    diagnostics: [
      ...problems,
      ...resolved.diagnostics,
      ...unknownCalls,
      ...unservedFunctions(routines, routinesOf(schema)),
    ],
  };
}

/** Settings that pass callers on, as the configuration says. A claim that cannot be read is null; a rule reports it. */
function passedOn({ claims, roles, extraClaims = {} }: RowSecurityConfig): RowSecurity {
  const named = sortedBy(Object.entries(extraClaims), ([name]) => name);
  return {
    claims,
    ...(roles && { roles: Object.fromEntries(sortedBy(Object.entries(roles), ([name]) => name)) }),
    ...(named.length > 0 && { extraClaims: Object.fromEntries(named.map(([name, value]) => [name, claimOf(value)])) }),
  };
}

function claimOf(value: string | number | boolean): Operand {
  const parsed = parseOperand(value);
  return parsed.ok ? parsed.operand : { kind: 'literal', value: null };
}

/**
 * Derives the collections from the tables and the configuration: names, fields, keys, relations of every kind.
 *
 * Names are claimed in an order that prefers the database and the user's will: fields, many-to-one, names that the
 * configuration declares, one-to-many, many-to-many.
 */
function deriveCollections(
  tables: readonly Table[],
  config: PlatformConfig,
  previous: Schema | null,
  dialect: Dialect = defaultDialect,
) {
  const { keyed, joined } = deriveStages(tables, config, previous);
  const configured = configureRelations(joined, config);
  const collections = declareSearch(declareTranslations(configured, config), tables, config, dialect);
  return {
    collections,
    /** `articles.comments`: the keys under which the configuration may speak of relations. Sorted. */
    relationKeys: keysOf(keyed, joined, collections),
  };
}

/** The configuration with what the platform's tables say about the model, each part before what follows from it. */
function declareModel(
  tables: readonly Table[],
  config: PlatformConfig,
  previous: Schema | null,
  model: DeclaredModel,
): PlatformConfig {
  const settings = withSystemTables(config, tables);
  const named = markSystem(nameFields(nameCollections(tables, settings)), tables, settings);
  const declared = declareCollections(config, model, tables, named);
  const linked = declareAnyItems(declared, model, deriveManyToOne(named, tables));
  return declareRelations(linked, model, deriveStages(tables, linked, previous).joined);
}

/** Collections with every relation under its derived name, and as they are before any but many-to-ones are derived. */
function deriveStages(tables: readonly Table[], config: PlatformConfig, previous: Schema | null) {
  const settings = withSystemTables(config, tables);
  const named = markSystem(nameFields(nameCollections(tables, settings)), tables, settings);
  const keyed = deriveManyToOne(named, tables);
  const shown = hideManyToOne(keyed, config);
  const declared = systemNames(declaredNames(shown, config), shown);
  const linked = declareManyToAny(shown, config);
  const inverted = nameSystemInverses(deriveOneToMany(linked, tables, declared));
  return { keyed, joined: deriveManyToMany(inverted, tables, config, declared, previous) };
}

function keysOf(...stages: readonly (readonly Collection[])[]): readonly string[] {
  const keys = stages.flat().flatMap((collection) => collection.relations.map((item) => relationKey(collection, item)));
  return [...new Set(keys)].sort();
}
