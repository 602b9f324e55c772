/** From the facts of a database to a project's schema: half of the modules of this package, and no database. */

export { parsePermissions } from './config/permissions/parse-permissions.ts';
export { comparePermissions, type PermissionDifference } from './config/permissions/plain-rules.ts';
export { readConfig } from './config/read-config.ts';
export { printDiagnostics, visible } from './diagnostic.ts';
export { resolveSchema } from './introspect.ts';
export { routinesOf } from './passes/functions.ts';
export { parseSchema, printSchema, printSchemaChunks } from './schema-file.ts';
