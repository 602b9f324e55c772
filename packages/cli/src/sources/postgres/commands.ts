import type { FamilyCommands } from '../commands.ts';
import { hearTables } from './events.ts';
import { postgresExaminations } from './examine.ts';
import { postgresConnection, postgresLimitsSql } from './facts.ts';
import { applyPostgresMigration } from './migrations.ts';
import { explainPostgres, missingInPostgres } from './plan.ts';

/** The commands on PostgreSQL. */
export const postgresCommands: FamilyCommands = {
  examinations: postgresExaminations,
  connection: postgresConnection,
  limitsSql: postgresLimitsSql,
  explain: explainPostgres,
  missingIndexes: missingInPostgres,
  hearTables,
  // Changes are transactions, so none is half done.
  async waitForChanges() {},
  applyMigration: applyPostgresMigration,
};
