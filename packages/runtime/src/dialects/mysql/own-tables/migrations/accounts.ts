import type { StepMigration } from '../../../../system/ledger.ts';

/** Migration 1 on MySQL and MariaDB. Its tables refer to each other in a circle, so they are made with keys unchecked. */
export const mysqlAccounts: StepMigration = {
  up: [
    // Transactions take turns by locking one of these rows, as on PostgreSQL by advisory locks.
    `CREATE TABLE IF NOT EXISTS platform_locks (
  name varchar(64) NOT NULL PRIMARY KEY
) {table}`,
    `INSERT IGNORE INTO platform_locks (name) VALUES
  ('platform.first-administrator'), ('platform.last-administrator'), ('platform.folder-moves'), ('platform.model')`,
    `CREATE TABLE IF NOT EXISTS platform_folders (
  id {uuid} NOT NULL DEFAULT (UUID()) PRIMARY KEY,
  name varchar(255) NOT NULL,
  parent {uuid},
  KEY platform_folders_parent_idx (parent),
  CONSTRAINT platform_folders_parent_fkey FOREIGN KEY (parent) REFERENCES platform_folders (id)
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_files (
  id {uuid} NOT NULL DEFAULT (UUID()) PRIMARY KEY,
  storage varchar(255) NOT NULL DEFAULT 'local',
  filename_disk varchar(255),
  filename_download varchar(255) NOT NULL,
  title varchar(255),
  type varchar(255),
  charset varchar(50),
  folder {uuid},
  uploaded_by {uuid},
  modified_by {uuid},
  uploaded_on timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  modified_on timestamp(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  filesize bigint,
  width int,
  height int,
  duration int,
  metadata json,
  embed varchar(200),
  description text,
  location text,
  tags text,
  KEY platform_files_folder_idx (folder),
  KEY platform_files_uploaded_by_idx (uploaded_by),
  KEY platform_files_modified_by_idx (modified_by),
  KEY platform_files_filename_disk_idx (filename_disk),
  CONSTRAINT platform_files_folder_fkey FOREIGN KEY (folder) REFERENCES platform_folders (id),
  CONSTRAINT platform_files_uploaded_by_fkey FOREIGN KEY (uploaded_by) REFERENCES platform_users (id)
    ON DELETE SET NULL,
  CONSTRAINT platform_files_modified_by_fkey FOREIGN KEY (modified_by) REFERENCES platform_users (id)
    ON DELETE SET NULL
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_roles (
  id {uuid} NOT NULL DEFAULT (UUID()) PRIMARY KEY,
  name varchar(100) NOT NULL,
  icon varchar(30) NOT NULL DEFAULT 'supervised_user_circle',
  description text,
  ip_access text,
  enforce_tfa tinyint(1) NOT NULL DEFAULT 0,
  admin_access tinyint(1) NOT NULL DEFAULT 0,
  app_access tinyint(1) NOT NULL DEFAULT 1
) {table}`,
    // Addresses are compared by email_key. The servers cannot normalize to NFKC. Code that writes an address outside
    // ASCII also writes its comparison form, and the address that this form belongs to.
    `CREATE TABLE IF NOT EXISTS platform_users (
  id {uuid} NOT NULL DEFAULT (UUID()) PRIMARY KEY,
  first_name varchar(50),
  last_name varchar(50),
  email varchar(128),
  password varchar(255),
  location varchar(255),
  title varchar(50),
  description text,
  tags text,
  avatar {uuid},
  language varchar(255),
  theme varchar(20) DEFAULT 'auto',
  tfa_secret varchar(255),
  status varchar(16) NOT NULL DEFAULT 'active',
  role {uuid},
  token varchar(255),
  last_access timestamp(6) NULL DEFAULT NULL,
  last_page varchar(255),
  provider varchar(128) NOT NULL DEFAULT 'default',
  external_identifier varchar(255),
  auth_data json,
  email_notifications tinyint(1) DEFAULT 1,
  security_version int NOT NULL DEFAULT 0,
  email_normal_of varchar(128),
  email_normal varchar(512),
  email_key varchar(512) GENERATED ALWAYS AS (
    CASE WHEN email_normal_of = email THEN email_normal ELSE LOWER(email) END
  ) STORED,
  UNIQUE KEY platform_users_token_key (token),
  UNIQUE KEY platform_users_provider_external_identifier_key (provider, external_identifier),
  UNIQUE KEY platform_users_email_key (email_key),
  KEY platform_users_role_idx (role),
  KEY platform_users_avatar_idx (avatar),
  CONSTRAINT platform_users_avatar_fkey FOREIGN KEY (avatar) REFERENCES platform_files (id) ON DELETE SET NULL,
  CONSTRAINT platform_users_role_fkey FOREIGN KEY (role) REFERENCES platform_roles (id),
  CONSTRAINT platform_users_theme_check CHECK (theme IN ('auto', 'light', 'dark')),
  CONSTRAINT platform_users_status_check CHECK (status IN ('draft', 'invited', 'active', 'suspended', 'archived'))
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_permissions (
  id int NOT NULL AUTO_INCREMENT PRIMARY KEY,
  role {uuid},
  collection varchar(64) NOT NULL,
  action varchar(10) NOT NULL,
  permissions json,
  validation json,
  presets json,
  fields text,
  KEY platform_permissions_role_idx (role),
  CONSTRAINT platform_permissions_role_fkey FOREIGN KEY (role) REFERENCES platform_roles (id) ON DELETE CASCADE,
  CONSTRAINT platform_permissions_action_check CHECK (action IN ('create', 'read', 'update', 'delete'))
) {table}`,
  ],
  tables: [
    'platform_permissions',
    'platform_users',
    'platform_roles',
    'platform_files',
    'platform_folders',
    'platform_locks',
  ],
};

/** Migration 2 on MySQL and MariaDB. Instants that are no fields of the API reach further than 2038, in UTC. */
export const mysqlSessions: StepMigration = {
  up: [
    `CREATE TABLE IF NOT EXISTS platform_sessions (
  id {uuid} NOT NULL DEFAULT (UUID()) PRIMARY KEY,
  "user" {uuid} NOT NULL,
  security_version int NOT NULL,
  ip varchar(50),
  user_agent varchar(255),
  created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  expires_at datetime(6) NOT NULL,
  KEY platform_sessions_user_idx ("user"),
  KEY platform_sessions_expires_at_idx (expires_at),
  CONSTRAINT platform_sessions_user_fkey FOREIGN KEY ("user") REFERENCES platform_users (id) ON DELETE CASCADE
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_refresh_tokens (
  hash varbinary(32) NOT NULL PRIMARY KEY,
  session {uuid} NOT NULL,
  created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  expires_at datetime(6) NOT NULL,
  rotated_at datetime(6),
  KEY platform_refresh_tokens_session_idx (session),
  CONSTRAINT platform_refresh_tokens_session_fkey FOREIGN KEY (session) REFERENCES platform_sessions (id)
    ON DELETE CASCADE
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_tfa (
  "user" {uuid} NOT NULL PRIMARY KEY,
  pending_hash varbinary(32),
  pending_until datetime(6),
  last_step bigint,
  CONSTRAINT platform_tfa_user_fkey FOREIGN KEY ("user") REFERENCES platform_users (id) ON DELETE CASCADE,
  CONSTRAINT platform_tfa_check CHECK ((pending_hash IS NULL) = (pending_until IS NULL))
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_recovery_codes (
  "user" {uuid} NOT NULL,
  hash varbinary(32) NOT NULL,
  used_at datetime(6),
  PRIMARY KEY ("user", hash),
  CONSTRAINT platform_recovery_codes_user_fkey FOREIGN KEY ("user") REFERENCES platform_users (id) ON DELETE CASCADE
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_single_use_tokens (
  hash varbinary(32) NOT NULL PRIMARY KEY,
  purpose varchar(32) NOT NULL,
  "user" {uuid},
  created_at datetime(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  expires_at datetime(6) NOT NULL,
  used_at datetime(6),
  KEY platform_single_use_tokens_user_idx ("user"),
  KEY platform_single_use_tokens_expires_at_idx (expires_at),
  CONSTRAINT platform_single_use_tokens_user_fkey FOREIGN KEY ("user") REFERENCES platform_users (id)
    ON DELETE CASCADE,
  CONSTRAINT platform_single_use_tokens_purpose_check
    CHECK (purpose IN ('invite', 'password_reset', 'oauth_state'))
) {table}`,
    `CREATE TABLE IF NOT EXISTS platform_auth_attempts (
  purpose varchar(32) NOT NULL,
  subject varbinary(32) NOT NULL,
  attempts int NOT NULL,
  expires_at datetime(6) NOT NULL,
  PRIMARY KEY (purpose, subject),
  KEY platform_auth_attempts_expires_at_idx (expires_at)
) {table}`,
  ],
  tables: [
    'platform_auth_attempts',
    'platform_single_use_tokens',
    'platform_recovery_codes',
    'platform_tfa',
    'platform_refresh_tokens',
    'platform_sessions',
  ],
};
