/** Exports for the command line: parts of migrations of projects. */
export { createProjectLedgerSql, recordMigrationSql } from './own-tables/model.ts';
