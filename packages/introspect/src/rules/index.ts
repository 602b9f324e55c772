import type { Diagnostic } from '../diagnostic.ts';
import type { Schema } from '../schema.ts';
import { configCache } from './configuration/config-cache.ts';
import { configColumns } from './configuration/config-columns.ts';
import { configFieldReferences } from './configuration/config-field-references.ts';
import { configFieldTypes } from './configuration/config-field-types.ts';
import { configFunctions } from './configuration/config-functions.ts';
import { configHiddenKeys } from './configuration/config-hidden-keys.ts';
import { configKeys } from './configuration/config-keys.ts';
import { configManyToAny } from './configuration/config-many-to-any.ts';
import { configManyToMany } from './configuration/config-many-to-many.ts';
import { configRelations } from './configuration/config-relations.ts';
import { configRowSecurity } from './configuration/config-row-security.ts';
import { configSearch } from './configuration/config-search.ts';
import { configSoftDelete } from './configuration/config-soft-delete.ts';
import { configSystem } from './configuration/config-system.ts';
import { configTables } from './configuration/config-tables.ts';
import { configTenant } from './configuration/config-tenant.ts';
import { configTranslations } from './configuration/config-translations.ts';
import { enumsAsStrings } from './enums-as-strings.ts';
import { collectionNames } from './names/collection-names.ts';
import { fieldNames } from './names/field-names.ts';
import { relationNames } from './names/relation-names.ts';
import { reservedNames } from './names/reserved-names.ts';
import { unaddressableNames } from './names/unaddressable-names.ts';
import { administratorRules } from './permissions/administrator-rules.ts';
import { computedReads } from './permissions/computed-reads.ts';
import { emptyRules } from './permissions/empty-rules.ts';
import { hiddenPaths } from './permissions/hidden-paths.ts';
import { ignoredFields } from './permissions/ignored-fields.ts';
import { impossibleRules } from './permissions/impossible-rules.ts';
import { incompleteCreates } from './permissions/incomplete-creates.ts';
import { oncePerBlock } from './permissions/once-per-block.ts';
import { privateCollections } from './permissions/private-collections.ts';
import { refusedPresets } from './permissions/refused-presets.ts';
import { repeatedRules } from './permissions/repeated-rules.ts';
import { rolesWithoutRules } from './permissions/roles-without-rules.ts';
import { systemRules } from './permissions/system-rules.ts';
import { unmatchedConditions } from './permissions/unmatched-conditions.ts';
import { hiddenForeignKeys } from './relations/hidden-foreign-keys.ts';
import { missingInverses } from './relations/missing-inverses.ts';
import { repeatedForeignKeys } from './relations/repeated-foreign-keys.ts';
import { ambiguousJunctions } from './relations/several-junctions.ts';
import type { Rule, RuleSources } from './rule.ts';
import { singletons } from './singletons.ts';
import { vectors } from './vectors.ts';

/** Every law, in the order of its diagnostics: configuration, names, permissions, choices made. */
export const rules: readonly Rule[] = [
  configTables,
  configColumns,
  configFieldReferences,
  configFieldTypes,
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
  unaddressableNames,
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
