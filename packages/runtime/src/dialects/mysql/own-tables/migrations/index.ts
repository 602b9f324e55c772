import type { StepMigration } from '../../../../system/ledger.ts';
import { mysqlAccounts, mysqlSessions } from './accounts.ts';
import { mysqlActivity } from './activity.ts';
import { mysqlModel } from './model.ts';

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

/** Migration 5 on MySQL and MariaDB. */
const mysqlRequests: StepMigration = {
  up: [
    `CREATE TABLE IF NOT EXISTS platform_idempotency_keys (
  caller varchar(64) NOT NULL,
  "key" varchar(255) NOT NULL,
  request_hash varbinary(32) NOT NULL,
  status smallint,
  content_type varchar(255),
  body longblob,
  created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  expires_at datetime(6) NOT NULL,
  PRIMARY KEY (caller, "key"),
  KEY platform_idempotency_keys_expires_at_idx (expires_at)
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_mails (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  template varchar(64) NOT NULL,
  recipient varchar(128) NOT NULL,
  template_values json NOT NULL,
  created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  due_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  attempts int NOT NULL DEFAULT 0,
  last_error text,
  KEY platform_mails_due_at_idx (due_at)
) {table}`,
  ],
  tables: ['platform_mails', 'platform_idempotency_keys'],
};

/** Migration 6 on MySQL and MariaDB; its changes to the table of files are part of migration 1 here. */
const mysqlFiles: StepMigration = {
  up: [
    `CREATE TABLE IF NOT EXISTS platform_loose_files (
  id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY,
  storage varchar(255) NOT NULL,
  filename_disk varchar(255) NOT NULL,
  due_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  attempts int NOT NULL DEFAULT 0,
  KEY platform_loose_files_due_at_idx (due_at),
  KEY platform_loose_files_filename_disk_idx (filename_disk)
) {table}`,
  ],
  tables: ['platform_loose_files'],
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
