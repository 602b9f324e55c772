import type { StepMigration } from '../../../../system/migration.ts';

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
