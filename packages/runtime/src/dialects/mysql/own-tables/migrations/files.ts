import type { StepMigration } from '../../../../system/migration.ts';

/** Migration 6 on MySQL and MariaDB; its changes to the table of files are part of migration 1 here. */
export const mysqlFiles: StepMigration = {
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
