/** Exports for the command line: parts of migrations of projects, and a setting that changes plans. */
export { pageCost } from './driver/options.ts';
export { createProjectLedgerSql, recordMigrationSql } from './own-tables/model.ts';
