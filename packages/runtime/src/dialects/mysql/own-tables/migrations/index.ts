import type { StepMigration } from '../../../../system/migration.ts';
import { mysqlAccounts } from './accounts.ts';
import { mysqlActivity } from './activity.ts';
import { mysqlFiles } from './files.ts';
import { mysqlModel } from './model.ts';
import { mysqlRequests } from './requests.ts';
import { mysqlSessions } from './sessions.ts';

/** The name of a project that names none is that of the product. Rows keep the name that they hold. */
const mysqlProductName: StepMigration = {
  up: ["ALTER TABLE platform_settings ALTER COLUMN project_name SET DEFAULT 'Tablewright'"],
  tables: [],
};

/** Migrations of the platform's own tables on MySQL and MariaDB, by their names. */
export const mysqlMigrations = {
  accounts: mysqlAccounts,
  sessions: mysqlSessions,
  activity: mysqlActivity,
  model: mysqlModel,
  requests: mysqlRequests,
  files: mysqlFiles,
  'product-name': mysqlProductName,
} as const;
