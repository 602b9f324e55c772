/** Exports for the command line: addresses, ends, parts of migrations of projects, and a setting that changes plans. */
export { addressConfig, leave, localForms, pageCost } from './driver/options.ts';
export { createProjectLedgerSql, recordMigrationSql } from './own-tables/model.ts';
