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

/** Activity takes items that were archived, and calls of functions. */
const mysqlActivityActions: StepMigration = {
  up: [
    `ALTER TABLE platform_activity
  DROP CONSTRAINT platform_activity_action_check,
  ADD CONSTRAINT platform_activity_action_check
    CHECK (action IN ('create', 'update', 'delete', 'revert', 'comment', 'upload', 'login', 'archive', 'call'))`,
  ],
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
  'activity-actions': mysqlActivityActions,
} as const;
