/** Exports for the command line: settings, migrations and SQL, without the modules that serve. */
export { type PasswordPolicy, refusePassword } from './auth/password-policy.ts';
export { createPasswords, type Passwords, type PasswordsOptions } from './auth/passwords.ts';
export { ContractError, refuseContract } from './contract-error.ts';
export { readable } from './database/readable.ts';
export { answer, give, make, need, type OwnSql, runScript, type Script, script } from './database/script.ts';
export { recordMigration } from './dialects/mysql/ddl/traces.ts';
export { beginChanges, isDoneAlready } from './dialects/mysql/ddl/under-way.ts';
export { isMysqlUrl } from './dialects/mysql/driver/options.ts';
export { sessionSql } from './dialects/mysql/driver/session.ts';
export { formParameters } from './dialects/mysql/rows/parameters.ts';
export { EmbeddedInUseError, lockEmbedded } from './dialects/postgres/embedded-lock.ts';
export { type LiveObject, readFingerprint } from './dialects/postgres/live-objects.ts';
export { databaseLabel, type UnusableDatabase, unusableDatabase } from './dialects/unusable.ts';
export { isEmail, longestEmail } from './environment/email.ts';
export { EnvironmentError } from './environment/error.ts';
export { keptSecret } from './environment/kept-secret.ts';
export {
  type CorsEnvironment,
  type DatabaseEnvironment,
  type Environment,
  type EnvironmentProblem,
  type EnvironmentReading,
  readEnvironment,
  requestLimits,
  type Variables,
} from './environment.ts';
export { modelTablesQuestion } from './generations/model-sql.ts';
export { type PlannedOperation, planOperations } from './graphql/plan-operations.ts';
export { migrationChecksum, type ProjectMigration } from './model/migration-text.ts';
export { type StartFailure, startFailure } from './serve/start-failure.ts';
export { MigrationError, type MigrationProblem } from './system/errors.ts';
export type { AppliedMigration, MigrationConnection } from './system/ledger.ts';
export {
  type MigrateOptions,
  type MigrationState,
  migrate,
  readMigrations,
  undoMigrations,
} from './system/migrate.ts';
export type { Migration } from './system/migration.ts';
export {
  byFamily,
  type MysqlTables,
  mysqlTurn,
  type SystemPlace,
  transactionLock,
} from './system/place.ts';
export { platformVersion } from './version.ts';
