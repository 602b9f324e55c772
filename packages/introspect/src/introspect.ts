import { defaultDialect, type Operand, parseOperand, type RowSecurity } from '@tablewright/runtime/language';
import type { PlatformConfig, RowSecurityConfig } from './config/config.ts';
import type { PermissionDocument } from './config/permissions/permission-document.ts';
import { digestPermissions } from './config/permissions/plain-rules.ts';
import type { Diagnostic } from './diagnostic.ts';
import type { SchemaFacts } from './facts.ts';
import { sortedBy } from './order.ts';
import { withComputed } from './passes/computed-fields.ts';
import { graphqlEnums } from './passes/graphql-enums.ts';
import { declareModel, deriveCollections } from './passes/index.ts';
import { routinesOf, serveFunctions, unservedFunctions } from './passes/match-functions.ts';
import { resolveCalls } from './passes/permissions/resolve-calls.ts';
import { resolvePermissions } from './passes/permissions/resolve-permissions.ts';
import { placeSystem } from './passes/system-tables.ts';
import { bindTenants, exemptRoles, readTenants, withTenants } from './passes/tenants.ts';
import { checkSchema } from './rules/index.ts';
import type { Schema } from './schema.ts';

/**
 * Resolves the facts of a database under a configuration into the schema.
 *
 * Pure: the same input gives the same schema, and a loaded schema's own tables and enums give it again. `previous` is
 * the schema compiled before, if any; where several junctions lead to the same collection, the relation that had the
 * plain name keeps it. With a diagnostic of severity `error` the schema must not be compiled. The diagnostics of `facts`
 * are not repeated.
 */
export function resolveSchema(
  facts: SchemaFacts,
  projectConfig: PlatformConfig,
  permissions: PermissionDocument,
  options: { readonly previous?: Schema } = {},
): { readonly schema: Schema; readonly diagnostics: readonly Diagnostic[] } {
  const config = placeSystem(projectConfig, facts);
  const { routines = [] } = facts;
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
  const collections = withTenants(derived.collections, tenants);
  const resolved = resolvePermissions(permissions, collections, tables);
  const roles = exemptRoles(resolved.roles, tenants);
  const functions = serveFunctions(routines, config, collections);
  const { calls, diagnostics: unknownCalls } = resolveCalls(permissions, functions, collections, tables);
  const enums = graphqlEnums({ collections, tables, functions, enums: facts.enums }, config);
  const schema: Schema = {
    version: 1,
    dialect: facts.dialect ?? defaultDialect,
    ...(config.graphql === false && { graphql: false }),
    ...(typeof config.graphql === 'object' && config.graphql.connections === true && { graphqlConnections: true }),
    ...(enums.length > 0 && { graphqlEnums: enums }),
    ...(config.permissionSource === 'tables' && { permissionsDigest: digestPermissions(permissions) }),
    ...(model !== null && { model }),
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

/** How callers are passed on, as the configuration says. A claim that cannot be read is null; a rule reports it. */
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
