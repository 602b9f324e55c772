/** Exports for compiled servers, the command line and tests. Everything else in this package is internal. */

export type { FirstAdministrator } from './auth/first-administrator.ts';
export type { Caller } from './caller.ts';
export { graphqlDocuments, graphqlFiles, graphqlOperations, modelFiles, openapiFiles } from './class-files.ts';
export type { Database, FullDisk, Outcome, Parameter, RowSink, Statement, Transaction } from './database/database.ts';
export type { RowContext } from './database/row-context.ts';
export { type DatabasePlace, openDatabase } from './dialects/open.ts';
export type { Drift } from './drift.ts';
export { compareFingerprint } from './drift.ts';
export { type ErrorCode, type ErrorExtensions, type ErrorOptions, errorBody, PlatformError } from './errors.ts';
export { extension } from './extensions/hooks.ts';
export type * from './extensions/types.ts';
export { compiledApi } from './http/endpoints.ts';
export type { AnsweredExchange } from './http/exchanges.ts';
export type { Readiness } from './http/health.ts';
export {
  always,
  type Condition,
  never,
  type Operand,
} from './language/conditions/condition.ts';
export type * from './language/conditions/filter-types.ts';
export type * from './language/descriptors/access.ts';
export {
  accessClass,
  and,
  caller,
  compare,
  grant,
  now,
  or,
  related,
} from './language/descriptors/access-builders.ts';
export type * from './language/descriptors/api.ts';
export {
  check,
  collection,
  field,
  foreignKey,
  foreignLink,
  itemRoutes,
  m2a,
  m2m,
  m2o,
  o2m,
  pair,
  unique,
} from './language/descriptors/builders.ts';
export type * from './language/descriptors/collection.ts';
export type { CustomRoute, Extension } from './language/descriptors/extension.ts';
export type { FunctionDescriptor } from './language/descriptors/function.ts';
export type { Dialect, DialectFacts, Family } from './language/dialects.ts';
export type { Operator } from './language/operators/index.ts';
export type { FieldFunction, WireForm, WireKind } from './language/types/definition.ts';
export type { PortableType } from './language/types/index.ts';
export type { JsonValue } from './language/values/parse-text.ts';
export type {
  ModelDigests,
  ModelRows,
  Recompiled,
  RecompileOptions,
  Recompiler,
  RunTexts,
} from './model/recompiler.ts';
export type { MetricValues } from './operate/metrics/measured.ts';
export type { PlannedRead } from './query/planner.ts';
export type { PassedConnections } from './serve/acceptor.ts';
export { type MetricsListener, serveMetrics } from './serve/metrics-listener.ts';
export type { RunningServer, ServeOptions } from './serve/options.ts';
export { serve, serveProcess } from './serve/serve.ts';
export { TemplateError } from './template-files.ts';
