/** Exports for compiled servers, the command line and tests. Everything else in this package is internal. */

export type { FirstAdministrator } from './auth/first-administrator.ts';
export { type PasswordPolicy, refusePassword } from './auth/password-policy.ts';
export { createPasswords, type Passwords, type PasswordsOptions } from './auth/passwords.ts';
export type { Caller } from './caller.ts';
export { modelFiles, openapiFiles } from './class-files.ts';
export { ContractError, refuseContract } from './contract-error.ts';
export type { Database, Outcome, Parameter, RowSink, Statement, Transaction } from './database/database.ts';
export type { DatabasePlace } from './database/open.ts';
export { openDatabase } from './database/open.ts';
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
export type { Drift } from './drift.ts';
export { compareFingerprint } from './drift.ts';
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
export { type ErrorCode, type ErrorExtensions, type ErrorOptions, errorBody, PlatformError } from './errors.ts';
export {
  type ExplainedRead,
  explainRead,
  planRead,
  type ReadableApi,
  type RefusedRead,
} from './explain/explain-read.ts';
export { type ExplainedWrite, explainWrite, type RefusedWrite, type RuleOfWrite } from './explain/explain-write.ts';
export type { SentStatement } from './explain/rehearsal.ts';
export type { WriteLimits, WriteToExplain } from './explain/try-write.ts';
export { extension } from './extensions/define.ts';
export type * from './extensions/types.ts';
export { modelTablesQuestion } from './generations/model-sql.ts';
export type * from './generations/recompile.ts';
export { type PlannedOperation, planOperations } from './graphql/plan-operations.ts';
export { graphqlDocuments, graphqlFiles, graphqlOperations } from './graphql-files.ts';
export type { AnsweredExchange } from './http/exchanges.ts';
export {
  compiledApi,
  createItems,
  deleteItem,
  deleteItems,
  listItems,
  readItem,
  readSingleton,
  searchItems,
  updateItem,
  updateItems,
  updateSingleton,
} from './http/routes.ts';
export type * from './language/access.ts';
export type * from './language/api.ts';
export type * from './language/collection.ts';
export {
  always,
  type Condition,
  never,
  type Operand,
} from './language/condition.ts';
export type { CustomRoute, Extension } from './language/extension.ts';
export type * from './language/filter-types.ts';
export type * from './language/fingerprint.ts';
export type { JsonValue } from './language/json.ts';
export type { Operator } from './language/operators/index.ts';
export type * from './language/payload-types.ts';
export type { FieldFunction } from './language/types/definition.ts';
export type { PortableType } from './language/types/index.ts';
export type * from './language/wire.ts';
export { migrationChecksum, type ProjectMigration } from './model/migration-text.ts';
export type { PlannedRead } from './query/planner.ts';
export { serveProcess } from './serve/serve-process.ts';
export { type StartFailure, startFailure } from './serve/start-failure.ts';
export { type RunningServer, type ServeOptions, serve } from './serve.ts';
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
export { TemplateError } from './template-files.ts';
export { isEmail, longestEmail } from './users/email.ts';
export { platformVersion } from './version.ts';
export { canPreset } from './write/scope.ts';
