/** Exports for the command line: settings, migrations and SQL, without the modules that serve. */

export { ContractError, refuseContract } from './contract-error.ts';
export type { MigrationConnection } from './database/migration-connection.ts';
export {
  createScript as script,
  generateKey as make,
  type OwnSql,
  requireRow as need,
  returnRow as answer,
  returnRows as give,
  runScript,
  type Script,
} from './database/own-statements/script.ts';
export { readable } from './database/readable.ts';
export { byFamily } from './dialects/by-family.ts';
export { recordMigration } from './dialects/mysql/ddl/traces.ts';
export { beginChanges, isDoneAlready } from './dialects/mysql/ddl/under-way.ts';
export { isMysqlUrl, mysqlEncryption } from './dialects/mysql/driver/options.ts';
export { sessionSql } from './dialects/mysql/driver/session.ts';
export { type MysqlTables, mysqlTurn } from './dialects/mysql/own-tables/tables.ts';
export { formParameters } from './dialects/mysql/rows/parameters.ts';
export { EmbeddedInUseError, lockEmbedded } from './dialects/postgres/embedded-lock.ts';
export { type LiveObject, readFingerprint } from './dialects/postgres/live-objects.ts';
export { transactionLock } from './dialects/postgres/own-tables/transaction-lock.ts';
export { databaseLabel, type UnusableDatabase, unusableDatabase } from './dialects/unusable.ts';
export { isEmail, longestEmail } from './environment/email.ts';
export { EnvironmentError, type EnvironmentProblem } from './environment/error.ts';
export { keepSecret, keptSecret } from './environment/kept-secret.ts';
export {
  type CorsEnvironment,
  type DatabaseEnvironment,
  type Environment,
  type EnvironmentReading,
  readEnvironment,
  requestLimits,
  type Variables,
} from './environment.ts';
export { modelTablesQuestion } from './generations/model-sql.ts';
export { type PlannedOperation, planOperations } from './graphql/plan/plan-operations.ts';
export {
  type MigrateOptions,
  type MigrationState,
  migrate,
  readMigrations,
  undoMigrations,
} from './migrations/migrate.ts';
export { migrationChecksum, type ProjectMigration } from './model/migration-text.ts';
export { type PasswordPolicy, refusePassword } from './passwords/password-policy.ts';
export { createPasswords, type Passwords, type PasswordsOptions } from './passwords/passwords.ts';
export { type StartFailure, startFailure } from './serve/start-failure.ts';
export { MigrationError, type MigrationProblem } from './system/errors.ts';
export type { AppliedMigration } from './system/ledger.ts';
export type { Migration } from './system/migration.ts';
export type { SystemPlace } from './system/place.ts';
export { platformVersion } from './version.ts';
