import type { Diagnostic } from '../diagnostic.ts';
import type { Schema } from '../schema.ts';
import { enumsAsStrings, singletons, vectors } from './collections.ts';
import { configCache, configSearch, configSoftDelete } from './configuration/config-behaviour.ts';
import {
  configColumns,
  configFieldReferences,
  configFieldTypes,
  configHiddenKeys,
} from './configuration/config-fields.ts';
import { computedReads, configFunctions } from './configuration/config-functions.ts';
import { configManyToAny, configManyToMany, configTranslations } from './configuration/config-many-to-any.ts';
import { configRelations } from './configuration/config-relations.ts';
import { configRowSecurity } from './configuration/config-row-security.ts';
import { configKeys, configSystem, configTables } from './configuration/config-tables.ts';
import { configTenant } from './configuration/config-tenant.ts';
import { collectionNames, fieldNames, relationNames, reservedNames, unaddressableNames } from './names.ts';
import { oncePerBlock } from './permissions/once-per-block.ts';
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
import { ambiguousJunctions, hiddenForeignKeys, missingInverses, repeatedForeignKeys } from './relations.ts';
import type { Rule, RuleSources } from './rule.ts';

/** Every law, in the order of its diagnostics: configuration, names, permissions, choices made. */
const rules: readonly Rule[] = [
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
