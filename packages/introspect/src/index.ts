/** Reads a live database and its configuration into one plain schema. */

export { implies } from './conditions/contradiction.ts';
export type * from './config/config.ts';
export { purgeName, type RoleRow, type RuleRow, readModelTables, readPermissionRows } from './config/own-rows.ts';
export type * from './config/permissions/permission-document.ts';
export { digestPermissions, type PlainRule, plainRules, printPermissions } from './config/permissions/plain-rules.ts';
export type {
  PlacedName,
  Repetition,
  SourceEntry,
  SourceList,
  SourceMap,
  SourceNode,
  SourceScalar,
} from './config/yaml/source.ts';
export type { Diagnostic } from './diagnostic.ts';
export * from './dialects.ts';
export { didYouMean } from './did-you-mean.ts';
export { compareFacts, type FactDifference, restoredTable } from './difference/compare-facts.ts';
export {
  bothChanges,
  type CatalogStamps,
  type ChangedRelations,
  changedRelations,
  type ReadOptions,
  type RunStatement,
  type SchemaFacts,
} from './facts.ts';
export { routinesOf } from './passes/functions.ts';
export { defaultSchema } from './passes/lookup.ts';
export * from './resolve.ts';
export type * from './schema.ts';
export { tableId } from './table-names.ts';
