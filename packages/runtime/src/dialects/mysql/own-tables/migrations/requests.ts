import type { StepMigration } from '../../../../system/migration.ts';

/** Migration 5 on MySQL and MariaDB. */
export const mysqlRequests: StepMigration = {
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
