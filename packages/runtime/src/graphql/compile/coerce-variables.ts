/** Variables as the types of an operation take them. */
import {
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { documentError } from '../documents/document-errors.ts';

/** Values of variables by name, as JSON. */
export type SentVariables = Readonly<Record<string, JsonValue>>;

/** Most faults of one request that are told. */
const maxErrors = 20;

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
    if (value !== undefined) inputs[name] = exactNumbers(value, typeFromAST(schema, type));
  }
  const options = { maxErrors, hideSuggestions: true };
  const { variableValues, errors } = getVariableValues(schema, definitions, inputs, options);
  if (variableValues !== undefined) return variableValues.coerced;
  throw documentError(errors) ?? new Error('Variables were refused without a reason.');
}

/** A variable as it mostly is: one value of a type that is taken as it was sent. */
interface Plain {
  readonly name: string;
  readonly fits: (value: JsonValue) => boolean;
  /** Set where it may be absent, and has no default then. */
  readonly optional: boolean;
}

/**
 * Makes what coerces the variables of one operation as `coerceVariables` does. Most values match their types already;
 * they are taken without asking graphql-js.
 */
export function createCoercion(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
): (sent: SentVariables) => Readonly<Record<string, unknown>> {
  const definitions = operation.variableDefinitions ?? [];
  const plain = definitions.map(({ variable, type, defaultValue }): Plain => {
    const declared = typeFromAST(schema, type);
    const fits = fitting.get(declared && getNullableType(declared)) ?? fitsNever;
    return { name: variable.name.value, fits, optional: defaultValue === undefined && !isNonNullType(declared) };
  });
  return function coerce(sent) {
    const coerced: Record<string, JsonValue> = {};
    for (const { name, fits, optional } of plain) {
      const value = Object.hasOwn(sent, name) ? sent[name] : undefined;
      if (value === undefined && optional) continue;
      if (value === undefined || !fits(value)) return coerceVariables(schema, operation, sent);
      coerced[name] = value;
    }
    return coerced;
  };
}

const fitsNever: Plain['fits'] = () => false;
const isText: Plain['fits'] = (value) => typeof value === 'string';

/** The scalars whose values stay what they are, with those values. */
const fitting: ReadonlyMap<unknown, Plain['fits']> = new Map<unknown, Plain['fits']>([
  [GraphQLString, isText],
  [GraphQLID, isText],
  [GraphQLBoolean, (value) => typeof value === 'boolean'],
  // An integer of 32 bits does not change when it is converted to one.
  [GraphQLInt, (value) => typeof value === 'number' && (value | 0) === value],
]);

/**
 * Gives each number that a double cannot hold the form that its place takes. Scalars of ours get its digits as they
 * are, `ID` gets them as text. Elsewhere it is the nearest double, which only `Float` takes.
 */
function exactNumbers(value: JsonValue, type: unknown): JsonValue {
  if (typeof value !== 'object' || value === null || !isInputType(type)) return value;
  const named: GraphQLInputType = getNamedType(type);
  if (JSON.isRawJSON(value)) {
    if (named === GraphQLID) return value.rawJSON;
    return isScalarType(named) && !isSpecifiedScalarType(named) ? value : Number(value.rawJSON);
  }
  if (!isObject(value)) return value.map((element) => exactNumbers(element, named));
  if (!isInputObjectType(named)) return value;
  const fields = named.getFields();
  const entries = Object.entries(value).map(([key, member]) => [key, exactNumbers(member, fields[key]?.type)]);
  // graphql-js looks for every declared name, also for one that each object of JavaScript inherits: "constructor".
  return Object.assign(Object.create(null), Object.fromEntries(entries));
}
