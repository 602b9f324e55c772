/** Exports for the command line: settings, migrations and SQL, without the modules that serve. */

export type { MigrationConnection } from './database/database.ts';
export { readable } from './database/errors.ts';
export {
  createScript as script,
  generateKey as make,
  type OwnSql,
  requireRow as need,
  returnRow as answer,
  returnRows as give,
  runScript,
  type Script,
} from './database/own-statements.ts';
export { formParameters } from './database/parameter-forms.ts';
export { inTime } from './database/waits.ts';
export { EmbeddedInUseError, lockEmbedded } from './dialects/embedded-lock.ts';
export { embeddedExtensions, ownTables } from './dialects/index.ts';
export { chooseHost } from './dialects/open.ts';
export { fromRows, type ModelTables, type OwnTables, rowsBeside } from './dialects/own-tables.ts';
export { databaseLabel, type UnusableDatabase, unusableDatabase } from './dialects/unusable.ts';
export { hostUrls } from './environment/renewable-url.ts';
export { firstSecret, keepSecret, keptSecret } from './environment/secrets.ts';
export { EnvironmentError, type EnvironmentProblem, isEmail, longestEmail } from './environment/values.ts';
export {
  type CorsEnvironment,
  type DatabaseEnvironment,
  type Environment,
  type EnvironmentReading,
  readEnvironment,
  requestLimits,
  type Variables,
} from './environment.ts';
export { ContractError, refuseContract } from './errors.ts';
export { type PlannedOperation, planOperations } from './graphql/plan/plan-operations.ts';
export {
  type MigrateOptions,
  type MigrationState,
  migrate,
  readMigrations,
  undoMigrations,
} from './migrations/migrate.ts';
export { migrationChecksum, type ProjectMigration } from './model/recompiler.ts';
export { type PasswordPolicy, refusePasswords } from './passwords/password-policy.ts';
export { createPasswords, type Passwords, type PasswordsOptions } from './passwords/passwords.ts';
export { stopAccepting } from './serve/acceptor.ts';
export { onStopSignals, stopSignals } from './serve/close.ts';
export { type StartFailure, startFailure } from './serve/start-failure.ts';
export { type AppliedMigration, type Migration, MigrationError, type MigrationProblem } from './system/ledger.ts';
export type { SystemPlace } from './system/place.ts';
export { platformVersion } from './version.ts';
