import type { Diagnostic } from '../diagnostic.ts';
import type { Schema } from '../schema.ts';
import { administratorRules } from './administrator-rules.ts';
import { collectionNames } from './collection-names.ts';
import { configColumns } from './config-columns.ts';
import { configFieldReferences } from './config-field-references.ts';
import { configFieldTypes } from './config-field-types.ts';
import { configHiddenKeys } from './config-hidden-keys.ts';
import { configKeys } from './config-keys.ts';
import { configManyToAny } from './config-many-to-any.ts';
import { configManyToMany } from './config-many-to-many.ts';
import { configRelations } from './config-relations.ts';
import { configSystem } from './config-system.ts';
import { configTables } from './config-tables.ts';
import { configTranslations } from './config-translations.ts';
import { emptyRules } from './empty-rules.ts';
import { fieldNames } from './field-names.ts';
import { hiddenForeignKeys } from './hidden-foreign-keys.ts';
import { hiddenPaths } from './hidden-paths.ts';
import { ignoredFields } from './ignored-fields.ts';
import { impossibleRules } from './impossible-rules.ts';
import { incompleteCreates } from './incomplete-creates.ts';
import { missingInverses } from './missing-inverses.ts';
import { oncePerBlock } from './once-per-block.ts';
import { privateCollections } from './private-collections.ts';
import { refusedPresets } from './refused-presets.ts';
import { relationNames } from './relation-names.ts';
import { repeatedForeignKeys } from './repeated-foreign-keys.ts';
import { repeatedRules } from './repeated-rules.ts';
import { reservedNames } from './reserved-names.ts';
import { rolesWithoutRules } from './roles-without-rules.ts';
import { rowSecurity } from './row-security.ts';
import type { Rule, RuleSources } from './rule.ts';
import { severalJunctions } from './several-junctions.ts';
import { singletons } from './singletons.ts';
import { systemRules } from './system-rules.ts';
import { unaddressableNames } from './unaddressable-names.ts';
import { unmatchedConditions } from './unmatched-conditions.ts';

/** Every law, in the order of its diagnostics: configuration, names, permissions, choices made. */
export const rules: readonly Rule[] = [
  configTables,
  configColumns,
  configFieldReferences,
  configFieldTypes,
  configKeys,
  configHiddenKeys,
  configRelations,
  configManyToAny,
  configTranslations,
  configManyToMany,
  configSystem,
  collectionNames,
  fieldNames,
  relationNames,
  reservedNames,
  unaddressableNames,
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
  rowSecurity,
  hiddenForeignKeys,
  repeatedForeignKeys,
  missingInverses,
  severalJunctions,
];

/** Asks every rule; all complaints are collected. */
export function checkSchema(schema: Schema, sources: RuleSources): readonly Diagnostic[] {
  return rules.flatMap((rule) => rule(schema, sources));
}
