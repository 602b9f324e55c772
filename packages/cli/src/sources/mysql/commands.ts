import type { FamilyCommands } from '../commands.ts';
import { mysqlExaminations } from './examine.ts';
import { mysqlConnection, mysqlLimitsSql } from './facts.ts';
import { applyMysqlMigration, waitForChanges } from './migrations.ts';
import { explainMysql, missingInMysql } from './plan.ts';

/** The commands on MySQL and MariaDB. */
export const mysqlCommands: FamilyCommands = {
  examinations: mysqlExaminations,
  connection: mysqlConnection,
  limitsSql: mysqlLimitsSql,
  explain: explainMysql,
  missingIndexes: missingInMysql,
  hearTables: 'MySQL and MariaDB have no event triggers',
  waitForChanges,
  applyMigration: applyMysqlMigration,
};
