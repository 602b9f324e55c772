/** The compiler: a schema in, the files of a typed API server out. */
export type { Api, ApiAccess, ApiCollection, ApiField, ApiRelation, CollectionNames, Operation } from './api.ts';
export { type CompiledModel, type CompileModelOptions, compileModel } from './compile-model.ts';
export * from './compiling.ts';
export type { Change, Direction, Severity, Surface, Verdicts } from './diff/change.ts';
export type { ListedOperation, OperationsOfBoth } from './diff/compare-documents.ts';
export type { ExtensionsOfBoth } from './diff/compare-extensions.ts';
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
export { type Rule, type RuleId, rules } from './diff/rules.ts';
export type { DocumentSource } from './documents/check-documents.ts';
export { type TemplateName, templateNames } from './emit/templates.ts';
export { type ReadRoutes, readCustomRoutes } from './extensions/custom-routes.ts';
export { type ListedExtensions, listedFile } from './extensions/listed.ts';
export type { ExtensionSource, ModuleSource } from './extensions/source.ts';
export { type Matrix, type MatrixCollection, type MatrixRight, type MatrixRow, matrixOf } from './matrix/matrix.ts';
export { type MatrixFormat, matrixFormats, printMatrix } from './matrix/print-matrix.ts';
export { type ModelData, modelData } from './model-data.ts';
export type { Example, Examples, OperationExamples } from './openapi/examples/example.ts';
export { resolveApi } from './passes/resolve-api.ts';
export { conditionText, operandText } from './print/condition.ts';
