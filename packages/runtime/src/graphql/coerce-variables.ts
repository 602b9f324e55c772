/** Variables as the types of an operation take them. */
import {
  GraphQLID,
  type GraphQLInputType,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isScalarType,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { isObject } from '../contract/filter-syntax.ts';
import type { JsonValue } from '../contract/index.ts';
import { documentError } from './document-errors.ts';

/** Values of variables by name, as JSON. */
export type SentVariables = Readonly<Record<string, JsonValue>>;

/** Most faults of one request that are told. */
const mostErrors = 20;

/**
 * Coerces variables; those that were not given and have no default are absent. Throws INVALID_QUERY for values that do
 * not fit, without repeating them.
 */
export function coerceVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  sent: SentVariables,
): Readonly<Record<string, unknown>> {
  const definitions = operation.variableDefinitions ?? [];
  if (definitions.length === 0) return {};
  const inputs: Record<string, JsonValue> = {};
  for (const { variable, type } of definitions) {
    const name = variable.name.value;
    const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
    if (value !== undefined) inputs[name] = settleNumbers(value, typeFromAST(schema, type));
  }
  const options = { maxErrors: mostErrors, hideSuggestions: true };
  const { variableValues, errors } = getVariableValues(schema, definitions, inputs, options);
  if (variableValues !== undefined) return variableValues.coerced;
  throw documentError(errors) ?? new Error('Variables were refused without a reason.');
}

/**
 * Gives each number that a double cannot hold the form that its place takes: its digits as they are for scalars of ours, as
 * text for `ID`, and the nearest double elsewhere, which `Float` takes and nothing else does.
 */
function settleNumbers(value: JsonValue, type: unknown): JsonValue {
  if (typeof value !== 'object' || value === null || !isInputType(type)) return value;
  const named: GraphQLInputType = getNamedType(type);
  if (JSON.isRawJSON(value)) {
    if (named === GraphQLID) return value.rawJSON;
    return isScalarType(named) && !isSpecifiedScalarType(named) ? value : Number(value.rawJSON);
  }
  if (!isObject(value)) return value.map((one) => settleNumbers(one, named));
  if (!isInputObjectType(named)) return value;
  const fields = named.getFields();
  const entries = Object.entries(value).map(([key, one]) => [key, settleNumbers(one, fields[key]?.type)]);
  // graphql-js looks for every declared name, also for one that each object of JavaScript inherits: "constructor".
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}
