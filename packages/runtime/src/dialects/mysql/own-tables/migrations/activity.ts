import type { StepMigration } from '../../../../system/ledger.ts';

/** Migration 3 on MySQL and MariaDB. */
export const mysqlActivity: StepMigration = {
  up: [
    `CREATE TABLE IF NOT EXISTS platform_activity (
  id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
  action varchar(45) NOT NULL,
  "user" {uuid},
  "timestamp" timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  ip varchar(50),
  user_agent varchar(255),
  origin varchar(255),
  collection varchar(64) NOT NULL,
  item varchar(255) NOT NULL,
  comment text,
  KEY platform_activity_user_idx ("user"),
  KEY platform_activity_timestamp_idx ("timestamp"),
  KEY platform_activity_item_idx (collection, item),
  CONSTRAINT platform_activity_user_fkey FOREIGN KEY ("user") REFERENCES platform_users (id) ON DELETE SET NULL,
  CONSTRAINT platform_activity_action_check
    CHECK (action IN ('create', 'update', 'delete', 'revert', 'comment', 'upload', 'login'))
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_revisions (
  id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
  activity int NOT NULL,
  collection varchar(64) NOT NULL,
  item varchar(255) NOT NULL,
  data json,
  delta json,
  parent int,
  KEY platform_revisions_activity_idx (activity),
  KEY platform_revisions_item_idx (collection, item),
  KEY platform_revisions_parent_idx (parent),
  CONSTRAINT platform_revisions_activity_fkey FOREIGN KEY (activity) REFERENCES platform_activity (id)
    ON DELETE CASCADE,
  CONSTRAINT platform_revisions_parent_fkey FOREIGN KEY (parent) REFERENCES platform_revisions (id)
    ON DELETE SET NULL
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_comments (
  id {uuid} NOT NULL DEFAULT (UUID()) PRIMARY KEY,
  collection varchar(64) NOT NULL,
  item varchar(255) NOT NULL,
  comment text NOT NULL,
  date_created timestamp(6) NULL DEFAULT CURRENT_TIMESTAMP(6),
  date_updated timestamp(6) NULL DEFAULT NULL,
  user_created {uuid},
  user_updated {uuid},
  activity int,
  KEY platform_comments_item_idx (collection, item),
  KEY platform_comments_user_created_idx (user_created),
  KEY platform_comments_user_updated_idx (user_updated),
  KEY platform_comments_activity_idx (activity),
  CONSTRAINT platform_comments_user_created_fkey FOREIGN KEY (user_created) REFERENCES platform_users (id)
    ON DELETE SET NULL,
  CONSTRAINT platform_comments_user_updated_fkey FOREIGN KEY (user_updated) REFERENCES platform_users (id)
    ON DELETE SET NULL,
  CONSTRAINT platform_comments_activity_fkey FOREIGN KEY (activity) REFERENCES platform_activity (id)
    ON DELETE SET NULL
) {table}`,
  ],
  tables: ['platform_comments', 'platform_revisions', 'platform_activity'],
};
