/** The compiler: a schema in, the files of a typed API server out. */
export type { Api, ApiAccess, ApiCollection, ApiField, ApiRelation, CollectionNames, Operation } from './api.ts';
export {
  type CompiledModel,
  type CompileModelOptions,
  compileModel,
  type ReadRoutes,
  readCustomRoutes,
} from './compile/compile-model.ts';
export { type ModelData, modelData } from './compile/model-data.ts';
export * from './compiling.ts';
export type { Change, Direction } from './diff/change.ts';
export type { ListedOperation, OperationsOfBoth } from './diff/compare/compare-documents.ts';
export type { ExtensionsOfBoth } from './diff/compare/compare-extensions.ts';
export { type Diff, type DiffOptions, diffSchemas, ruleIds } from './diff/diff-schemas.ts';
export { type DiffFormat, diffFormats, printDiff } from './diff/print/print-diff.ts';
export { changeName, countChanges, type DiffLabels, visible } from './diff/print/print-markdown.ts';
export { findRenames, type Rename } from './diff/renames.ts';
export { type Rule, type RuleId, rules } from './diff/rules.ts';
export type { ApiSurface as Surface, Severity, Verdicts } from './diff/severity.ts';
export type { DocumentSource } from './documents/check-documents.ts';
export { type TemplateName, templateNames } from './emit/templates.ts';
export type { Example, Examples, OperationExamples } from './examples.ts';
export type { ExtensionSource, ModuleSource } from './extensions/files.ts';
export { type ListedExtensions, listedFile, type ReadHook, readHooks } from './extensions/listed.ts';
export { type Matrix, type MatrixCollection, type MatrixRight, type MatrixRow, matrixOf } from './matrix/matrix.ts';
export { type MatrixFormat, matrixFormats, printMatrix } from './matrix/print-matrix.ts';
export { resolveApi } from './passes/resolve-api.ts';
export { conditionText, operandText } from './print/condition.ts';
