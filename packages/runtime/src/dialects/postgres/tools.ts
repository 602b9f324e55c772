/** Exports for the command line: addresses, ends, parts of migrations of projects, and a setting that changes plans. */
export { leave } from './driver/client.ts';
export { addressConfig, localForms, pageCost } from './driver/options.ts';
export { createProjectLedgerSql, recordMigrationSql } from './own-tables/model.ts';
