/** Arguments of a document as values. Those that do not depend on variables are read once. */
import {
  type ArgumentNode,
  type FieldNode,
  type GraphQLArgument,
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputField,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  getNullableType,
  getVariableValues,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type ObjectValueNode,
  type OperationDefinitionNode,
  typeFromAST,
  type ValueNode,
} from 'graphql';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { documentError } from '../documents/document-errors.ts';
import { wideFloat } from '../documents/wide-values.ts';

/** Values of variables, coerced; those without a value are absent. */
export type Variables = Readonly<Record<string, unknown>>;

/** A value of a document: known, or read when the variables are. Undefined where it is absent. */
export type Input =
  | { readonly fixed: true; readonly value: unknown }
  | { readonly fixed: false; readonly read: (variables: Variables) => unknown };

const nothing: Input = { fixed: true, value: undefined };

export function inputValue(input: Input, variables: Variables): unknown {
  return input.fixed ? input.value : input.read(variables);
}

/** The arguments of a field by name, in the order in which the schema declares them. */
export function compileArguments(
  { arguments: argumentNodes = [] }: FieldNode,
  declared: readonly GraphQLArgument[],
): ReadonlyMap<string, Input> {
  const nodes = new Map(argumentNodes.map((node: ArgumentNode) => [node.name.value, node.value]));
  return new Map(declared.map((argument) => [argument.name, compilePlace(argument, nodes.get(argument.name))]));
}

/** An argument or input field: its value, or its default where none is given. */
function compilePlace(declaration: GraphQLArgument | GraphQLInputField, node: ValueNode | undefined): Input {
  const usual = defaultOf(declaration);
  if (node === undefined) return usual;
  const input = compileValue(node, declaration.type);
  if (input.fixed || usual === nothing) return input;
  return {
    fixed: false,
    read(variables) {
      const value = input.read(variables);
      return value === undefined ? inputValue(usual, variables) : value;
    },
  };
}

function defaultOf({ default: usual, type }: GraphQLArgument | GraphQLInputField): Input {
  if (usual === undefined) return nothing;
  return usual.literal === undefined ? { fixed: true, value: usual.value } : compileValue(usual.literal, type);
}

/** A value where the schema has a type; the document is valid, so the two fit (specification of GraphQL, 3.12). */
function compileValue(node: ValueNode, type: GraphQLInputType): Input {
  if (node.kind === Kind.VARIABLE) {
    const name = node.name.value;
    return { fixed: false, read: (variables) => (Object.hasOwn(variables, name) ? variables[name] : undefined) };
  }
  if (node.kind === Kind.NULL) return { fixed: true, value: null };
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const nodes = node.kind === Kind.LIST ? node.values : [node];
    return compileList(nodes.map((element) => compileValue(element, nullable.ofType)));
  }
  if (isInputObjectType(nullable) && node.kind === Kind.OBJECT) return compileObject(node, nullable.getFields());
  if (isInputObjectType(nullable) || isNonNullType(nullable)) return nothing;
  // `parseLiteral` of GraphQL's own scalars makes a double of a number first, and an `ID` may be longer than one.
  if (node.kind === Kind.INT && nullable.coerceInputLiteral !== undefined) {
    return { fixed: true, value: nullable.coerceInputLiteral(node) };
  }
  // It is no JSON then; as it was written the field judges it, as it does over REST.
  const isNumber = node.kind === Kind.FLOAT || node.kind === Kind.INT;
  if (isNumber && nullable === wideFloat && !Number.isFinite(Number(node.value))) {
    return { fixed: true, value: node.value };
  }
  const read = (variables: Variables): unknown => nullable.parseLiteral(node, variables);
  return holdsVariable(node) ? { fixed: false, read } : { fixed: true, value: read({}) };
}

/** An element whose variable has no value is null. */
function compileList(elements: readonly Input[]): Input {
  const read = (variables: Variables): unknown => elements.map((element) => inputValue(element, variables) ?? null);
  return elements.every(({ fixed }) => fixed) ? { fixed: true, value: read({}) } : { fixed: false, read };
}

function compileObject({ fields }: ObjectValueNode, declared: Readonly<Record<string, GraphQLInputField>>): Input {
  const nodes = new Map(fields.map(({ name, value }) => [name.value, value]));
  const inputs = Object.values(declared).flatMap((field) => {
    const input = compilePlace(field, nodes.get(field.name));
    return input === nothing ? [] : [[field.name, input] as const];
  });
  function read(variables: Variables): unknown {
    const object: Record<string, unknown> = {};
    for (const [name, input] of inputs) {
      const value = inputValue(input, variables);
      if (value !== undefined) object[name] = value;
    }
    return object;
  }
  return inputs.every(([, { fixed }]) => fixed) ? { fixed: true, value: read({}) } : { fixed: false, read };
}

function holdsVariable(node: ValueNode): boolean {
  if (node.kind === Kind.VARIABLE) return true;
  if (node.kind === Kind.LIST) return node.values.some(holdsVariable);
  return node.kind === Kind.OBJECT && node.fields.some(({ value }) => holdsVariable(value));
}

/** True if a value is JSON: a value of one of our scalars, or an object or list of them. */
export function isJson(value: unknown): value is JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return true;
  return typeof value === 'object';
}

export type SentVariables = Readonly<Record<string, JsonValue>>;

/** Most faults of one request that are told. */
const maxErrors = 20;

/** Coerces variables; absent ones without a default stay absent. Throws INVALID_QUERY without repeating values. */
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

/** Makes what coerces variables of an operation as `coerceVariables`, without graphql-js for values that match. */
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

/** Gives each number that a double cannot hold the form of its place: digits for our scalars, text for `ID`. */
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
