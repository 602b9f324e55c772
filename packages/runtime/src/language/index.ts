export * from './conditions/caller-path.ts';
export * from './conditions/condition.ts';
export * from './conditions/filter.ts';
export * from './conditions/filter-names.ts';
export { noCondition } from './conditions/filter-syntax.ts';
export type * from './conditions/filter-types.ts';
export * from './conditions/operand.ts';
export type * from './descriptors/access.ts';
export * from './descriptors/access-builders.ts';
export * from './descriptors/aggregates.ts';
export * from './descriptors/api.ts';
export * from './descriptors/builders.ts';
export * from './descriptors/class-documents.ts';
export type * from './descriptors/collection.ts';
export type * from './descriptors/extension.ts';
export type * from './descriptors/function.ts';
export * from './descriptors/graphql.ts';
export * from './descriptors/graphql-names.ts';
export * from './descriptors/limits.ts';
export * from './dialects.ts';
export * from './names.ts';
export type { JsonKind, OperandForm, OperatorDefinition, Truth } from './operators/definition.ts';
export {
  comparisonOf,
  definitions,
  flags,
  isOrdered,
  listed,
  type Operator,
  operandForm,
  operators,
  operatorsOf,
} from './operators/index.ts';
export * from './system/app-access.ts';
export * from './system/system.ts';
export { arrayLiteral } from './types/array.ts';
export { isStorableText, mustBeText } from './types/decoding.ts';
export * from './types/definition.ts';
export * from './types/index.ts';
export { narrowIntegers, unsignedNatives } from './types/integer.ts';
export { depthOf, jsonDepth } from './types/json.ts';
export * from './values/once.ts';
export { type JsonValue, parseExactly, withNumberTexts } from './values/parse-text.ts';
export * from './values/value-type.ts';
export * from './values/values.ts';
