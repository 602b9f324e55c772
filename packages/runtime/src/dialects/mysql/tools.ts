/** Exports for the command line: parts of connections and of migrations of projects. */

export { beginChanges, isDoneAlready } from './ddl/under-way.ts';
export { cut, mysqlEncryption } from './driver/options.ts';
export { parsePlan } from './driver/run.ts';
export { sessionSql } from './driver/session.ts';
export { recordMigration } from './own-tables/log-changes.ts';
export { mysqlProjectTables } from './own-tables/model.ts';
