/** Reads a live database and its configuration into one plain schema. */
export type * from './config/config.ts';
export { parsePermissions } from './config/parse-permissions.ts';
export type * from './config/permission-document.ts';
export { readConfig } from './config/read-config.ts';
export type * from './config/source.ts';
export type * from './diagnostic.ts';
export { didYouMean } from './did-you-mean.ts';
export { compareFacts, type FactDifference } from './difference/compare-facts.ts';
export type { SchemaFacts } from './facts.ts';
export { resolveSchema } from './introspect.ts';
export type * from './postgres/catalog.ts';
export { buildTables } from './postgres/tables.ts';
export { printDiagnostics } from './print-diagnostics.ts';
export { type ReadOptions, type RunStatement, readCatalog } from './read.ts';
export type * from './schema.ts';
export { parseSchema, printSchema } from './schema-file.ts';
export { tableId } from './table-id.ts';
