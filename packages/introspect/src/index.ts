/** Reads a live database and its configuration into one plain schema. */

export { implies } from './conditions/implication.ts';
export type * from './config/config.ts';
export { readModelTables } from './config/model-rows.ts';
export { digestPermissions } from './config/permissions/digest-permissions.ts';
export type * from './config/permissions/permission-document.ts';
export { type RoleRow, type RuleRow, readPermissionRows } from './config/permissions/permission-rows.ts';
export { type PlainRule, plainRules } from './config/permissions/plain-rules.ts';
export { printPermissions } from './config/permissions/print-permissions.ts';
export type * from './config/yaml/source.ts';
export type * from './diagnostic.ts';
export * from './dialects.ts';
export { didYouMean } from './did-you-mean.ts';
export { compareFacts, type FactDifference } from './difference/compare-facts.ts';
export type { SchemaFacts } from './facts.ts';
export { routinesOf } from './passes/match-functions.ts';
export { defaultSchema } from './passes/match-tables.ts';
export type { ReadOptions, RunStatement } from './read.ts';
export * from './resolve.ts';
export type * from './schema.ts';
export { bothChanges, type CatalogStamps, type ChangedRelations, changedRelations } from './stamps.ts';
export { tableId } from './table-id.ts';
