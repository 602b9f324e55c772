/**
 * Values that the scalars of the compiled schemas take: the form of a value only, and without losing a digit. The field
 * checks that a date is one of the calendar, or that a number fits its column, as it does over REST.
 */
import { type ConstValueNode, GraphQLError, type GraphQLSchema, isScalarType, Kind, type ValueNode } from 'graphql';
import type { JsonValue } from '../../language/index.ts';

/** Values of variables by name, coerced. */
type Variables = Readonly<Record<string, unknown>> | null | undefined;

/** Takes a value to the one handed on. Throws for a value of another form; the error never repeats it. */
type Coerce = (value: JsonValue) => JsonValue;

const integerText = /^-?\d{1,400}$/;
const numberText = /^-?\d{1,400}(?:\.\d{0,400})?(?:[eE][+-]?\d{1,3})?$/;

const coercions: Readonly<Record<string, Coerce>> = {
  GraphQLBigInt: (value) => (typeof value === 'number' || JSON.isRawJSON(value) ? integerOf(value) : textOf(value)),
  Decimal: (value) => (typeof value === 'number' || JSON.isRawJSON(value) ? digitsOf(value) : textOf(value)),
  GraphQLStringOrFloat: (value) =>
    typeof value === 'number' ? value : JSON.isRawJSON(value) ? digitsOf(value) : textOf(value),
  Date: textOf,
  Hash: textOf,
  JSON: (value) => value,
  Void: () => refuse('takes no value'),
};

/** Gives the scalars of a schema made of text their meaning, and returns the schema. */
export function withScalars(schema: GraphQLSchema): GraphQLSchema {
  for (const [name, coerce] of Object.entries(coercions)) {
    const type = schema.getType(name);
    if (!isScalarType(type)) continue;
    type.parseValue = (value) => coerce(jsonOf(value));
    type.coerceInputValue = type.parseValue;
    type.parseLiteral = (node, variables) => coerce(jsonOfLiteral(node, variables));
  }
  return schema;
}

function textOf(value: JsonValue): string {
  return typeof value === 'string' ? value : refuse('must be a string');
}

function integerOf(value: JsonValue): string {
  const text = digitsOf(value);
  return integerText.test(text) ? text : refuse('must be an integer or the text of one');
}

function digitsOf(value: JsonValue): string {
  const text = JSON.isRawJSON(value) ? value.rawJSON : String(value);
  return numberText.test(text) ? text : refuse('must be a number or the text of one');
}

function refuse(what: string): never {
  throw new GraphQLError(`A value of this type ${what}.`);
}

/** Takes a value that came from the JSON of a request body, or from the defaults of a document; there are no others. */
function jsonOf(value: unknown): JsonValue {
  if (isJson(value)) return value;
  return refuse('must be JSON');
}

function isJson(value: unknown): value is JsonValue {
  return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol' && typeof value !== 'bigint';
}

/** The value that a literal writes. Numbers that a double cannot hold stay as they are written. */
function jsonOfLiteral(node: ValueNode | ConstValueNode, variables: Variables): JsonValue {
  switch (node.kind) {
    case Kind.NULL:
      return null;
    case Kind.INT:
    case Kind.FLOAT:
      return numberOf(node.value);
    case Kind.STRING:
    case Kind.ENUM:
    case Kind.BOOLEAN:
      return node.value;
    case Kind.LIST:
      return node.values.map((element) => jsonOfLiteral(element, variables));
    case Kind.OBJECT:
      return objectOf(node.fields, variables);
    case Kind.VARIABLE:
      return jsonOf(variables?.[node.name.value] ?? null);
  }
}

function numberOf(text: string): JsonValue {
  const value = Number(text);
  return String(value) === text && (Number.isSafeInteger(value) || !Number.isInteger(value))
    ? value
    : JSON.rawJSON(text);
}

function objectOf(
  fields: readonly { readonly name: { readonly value: string }; readonly value: ValueNode }[],
  variables: Variables,
): JsonValue {
  const entries = fields.map(({ name, value }) => {
    if (name.value === '__proto__') throw new GraphQLError('A value uses a name that is not allowed.');
    return [name.value, jsonOfLiteral(value, variables)] as const;
  });
  return Object.fromEntries(entries);
}
