/** The compiler: a schema in, the files of a typed API server out. */

export { visible } from '@tablewright/introspect';
export type {
  Api,
  ApiAccess,
  ApiCollection,
  ApiField,
  ApiRelation,
  CollectionNames,
  Example,
  Examples,
  Operation,
  OperationExamples,
} from './api.ts';
export {
  type CompiledModel,
  type CompileModelOptions,
  compileModel,
  type ModelData,
  modelData,
  type ReadRoutes,
  readCustomRoutes,
} from './compile/compile-model.ts';
export * from './compiling.ts';
export type { ExtensionsOfBoth } from './diff/compare/compare-extensions.ts';
export type { ListedOperation, OperationsOfBoth } from './diff/compare/compare-graphql.ts';
export { type Diff, type DiffOptions, diffSchemas, ruleIds } from './diff/diff-schemas.ts';
export {
  changeName,
  countChanges,
  type DiffFormat,
  type DiffLabels,
  diffFormats,
  printDiff,
} from './diff/print-diff.ts';
export { findRenames, type Rename } from './diff/renames.ts';
export type { Change, Direction } from './diff/rules.ts';
export {
  type ApiSurface as Surface,
  type Rule,
  type RuleId,
  rules,
  type Severity,
  type Verdicts,
} from './diff/rules.ts';
export { type TemplateName, templateNames } from './emit/templates.ts';
export type { ExtensionSource, ModuleSource } from './extensions/files.ts';
export { type ListedExtensions, listedFile, type ReadHook, readHooks } from './extensions/listed.ts';
export { type Matrix, type MatrixCollection, type MatrixRight, type MatrixRow, matrixOf } from './matrix/matrix.ts';
export { type MatrixFormat, matrixFormats, printMatrix } from './matrix/print-matrix.ts';
export { resolveApi } from './passes/resolve-api.ts';
export { conditionText, operandText } from './print/condition.ts';
