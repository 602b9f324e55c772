export type * from './access.ts';
export * from './aggregates.ts';
export * from './api.ts';
export * from './caller-path.ts';
export type * from './collection.ts';
export * from './condition.ts';
export * from './elements.ts';
export { withNumberTexts } from './exact-numbers.ts';
export type * from './extension.ts';
export * from './filter.ts';
export * from './filter-names.ts';
export type * from './filter-types.ts';
export * from './fingerprint.ts';
export * from './graphql.ts';
export * from './graphql-names.ts';
export * from './json.ts';
export * from './limits.ts';
export type * from './model.ts';
export * from './model-rows.ts';
export * from './model-rows-mysql.ts';
export * from './operand.ts';
export type { JsonKind, OperandForm, OperatorDefinition, Truth } from './operators/definition.ts';
export {
  comparisonOf,
  definitions,
  flags,
  isOrdered,
  listed,
  type Operator,
  operators,
  operatorsOf,
} from './operators/index.ts';
export { parseExactly } from './parse-text.ts';
export type * from './payload-types.ts';
export * from './permission-rows.ts';
export * from './plain-condition.ts';
export type * from './shape.ts';
export * from './shown-table.ts';
export * from './specials.ts';
export * from './system.ts';
export { arrayLiteral } from './types/array.ts';
export { isStorableText, mustBeText } from './types/decoding.ts';
export * from './types/definition.ts';
export * from './types/index.ts';
export { unsignedInteger } from './types/integer.ts';
export { depthOf, jsonDepth } from './types/json.ts';
export * from './value-type.ts';
export * from './values.ts';
export * from './wire.ts';
