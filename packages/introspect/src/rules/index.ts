import { findOrCreate } from '@tablewright/runtime/language';
import type { RuleSource } from '../config/permissions/permission-document.ts';
import type { Diagnostic } from '../diagnostic.ts';
import type { Schema } from '../schema.ts';
import {
  ambiguousJunctions,
  enumsAsStrings,
  hiddenForeignKeys,
  missingInverses,
  repeatedForeignKeys,
  singletons,
  vectors,
} from './collections.ts';
import {
  configColumns,
  configFieldReferences,
  configFieldSettings,
  configFieldTypes,
  configHiddenKeys,
} from './configuration/config-fields.ts';
import { computedReads, configFunctions } from './configuration/config-functions.ts';
import {
  configManyToAny,
  configManyToMany,
  configRelations,
  configTranslations,
} from './configuration/config-relations.ts';
import { configRowSecurity, configTenant } from './configuration/config-rows.ts';
import {
  configCache,
  configKeys,
  configSearch,
  configSoftDelete,
  configSystem,
  configTables,
} from './configuration/config-tables.ts';
import {
  collectionNames,
  fieldNames,
  impossibleNames,
  inheritedNames,
  relationNames,
  reservedNames,
  unaddressableNames,
} from './names.ts';
import { hiddenPaths, privateCollections, systemRules } from './permissions/reach.ts';
import { incompleteCreates, refusedPresets } from './permissions/refused-writes.ts';
import {
  administratorRules,
  emptyRules,
  ignoredFields,
  impossibleRules,
  repeatedRules,
  rolesWithoutRules,
  unmatchedConditions,
} from './permissions/useless-rules.ts';
import type { Rule, RuleSources } from './rule.ts';

/** A schema is judged by many laws, one after the other. */
const judged = new WeakMap<Schema, Judged | null>();

/** Every law, in the order of its diagnostics: configuration, names, permissions, choices made. */
const rules: readonly Rule[] = [
  configTables,
  configColumns,
  configFieldReferences,
  configFieldTypes,
  configFieldSettings,
  configKeys,
  configHiddenKeys,
  configSoftDelete,
  configCache,
  configRelations,
  configManyToAny,
  configTranslations,
  configManyToMany,
  configSystem,
  configTenant,
  configFunctions,
  configRowSecurity,
  configSearch,
  collectionNames,
  fieldNames,
  relationNames,
  reservedNames,
  impossibleNames,
  unaddressableNames,
  inheritedNames,
  enumsAsStrings,
  singletons,
  administratorRules,
  oncePerBlock(emptyRules),
  oncePerBlock(impossibleRules),
  oncePerBlock(systemRules),
  oncePerBlock(incompleteCreates),
  oncePerBlock(unmatchedConditions),
  oncePerBlock(refusedPresets),
  oncePerBlock(ignoredFields),
  oncePerBlock(repeatedRules),
  rolesWithoutRules,
  oncePerBlock(hiddenPaths),
  privateCollections,
  computedReads,
  hiddenForeignKeys,
  repeatedForeignKeys,
  missingInverses,
  vectors,
  ambiguousJunctions,
];

/** Asks every rule; all complaints are collected. */
export function checkSchema(schema: Schema, sources: RuleSources): readonly Diagnostic[] {
  return rules.flatMap((rule) => rule(schema, sources));
}

/**
 * A law about the rules of each role by itself. Roles whose rules repeat those of another one are checked with it. They
 * are checked by themselves only where there is a problem, so that each problem has its own place.
 */
function oncePerBlock(law: Rule): Rule {
  return (schema, sources) => {
    const fewer = withoutRepeats(schema, sources);
    return fewer !== null && law(fewer.schema, fewer.sources).length === 0 ? [] : law(schema, sources);
  };
}

interface Judged {
  readonly schema: Schema;
  readonly sources: RuleSources;
}

/** Without the rules of roles for which those of another one stand. Null when that is none. */
function withoutRepeats(schema: Schema, sources: RuleSources): Judged | null {
  return findOrCreate(judged, schema, () => {
    const { permissions } = sources;
    const repeated = repeatedRoles(schema, permissions.rules);
    if (repeated.size === 0) return null;
    const rules = permissions.rules.filter(({ role }) => !repeated.has(role.name));
    const rest = schema.permissions.filter(({ role }) => !repeated.has(role));
    return {
      schema: { ...schema, permissions: rest },
      sources: { ...sources, permissions: { ...permissions, rules } },
    };
  });
}

/** The meaning of rules depends on the role's other rules, and on whether its callers have a role at all. */
function repeatedRoles({ roles }: Schema, rules: readonly RuleSource[]): ReadonlySet<string> {
  const kinds = new Map(roles.map(({ name, admin, app }) => [name, `${admin} ${app}`]));
  const isAlike = (name: string, other: string): boolean => kinds.has(name) && kinds.get(name) === kinds.get(other);
  return new Set(
    rules.flatMap(({ role, like }) => (like !== undefined && isAlike(role.name, like.role.name) ? [role.name] : [])),
  );
}
