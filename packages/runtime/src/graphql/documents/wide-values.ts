/** Values that GraphQL has no types for: floats that are no numbers, arrays of several dimensions. */

import {
  type ASTVisitor,
  type GraphQLEnumType,
  GraphQLFloat,
  type GraphQLInputType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  getNullableType,
  isListType,
  isNonNullType,
  Kind,
  type ValidationContext,
  type ValueNode,
  VariablesInAllowedPositionRule,
} from 'graphql';
import { infinite } from '../../language/types/decoding.ts';
import { derivedOnce } from '../../language/values/once.ts';

/** `Float` that takes the texts of values for which JSON has no numbers. */
export const wideFloat = new GraphQLScalarType<number | string>({
  name: GraphQLFloat.name,
  description: GraphQLFloat.description,
  coerceOutputValue: (value) => GraphQLFloat.coerceOutputValue(value),
  coerceInputValue: (value) =>
    typeof value === 'string' && infinite.includes(value) ? value : GraphQLFloat.coerceInputValue(value),
  coerceInputLiteral: (node) =>
    node.kind === Kind.STRING && infinite.includes(node.value) ? node.value : GraphQLFloat.coerceInputLiteral?.(node),
});

/** A type without members. */
export type Leaf = GraphQLScalarType | GraphQLEnumType;

const plainOf = new WeakMap<object, Leaf>();

/** Makes the type of an array's elements: of the plain type, or lists of these, as arrays of several dimensions have them. */
export const wideElement = derivedOnce((plain: Leaf): GraphQLScalarType => {
  const coerce = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(coerce);
    return value === null ? null : plain.coerceInputValue(value);
  };
  const read = (node: ValueNode, variables: Readonly<Record<string, unknown>> | null | undefined): unknown => {
    if (node.kind === Kind.LIST) return node.values.map((element) => read(element, variables));
    if (node.kind === Kind.VARIABLE) return variables?.[node.name.value] ?? null;
    return node.kind === Kind.NULL ? null : plain.parseLiteral(node, variables);
  };
  const wide = new GraphQLScalarType({
    name: plain.name,
    parseValue: coerce,
    parseLiteral: (node, variables) => read(node, variables),
  });
  plainOf.set(wide, plain);
  return wide;
});

/** The rule of GraphQL about variables, for which the elements of an array have their plain type. */
export function variablesInAllowedPosition(context: ValidationContext): ASTVisitor {
  const plain: Pick<ValidationContext, 'getSchema' | 'reportError' | 'getRecursiveVariableUsages'> = {
    getSchema: () => context.getSchema(),
    reportError: (error) => context.reportError(error),
    getRecursiveVariableUsages: (operation) =>
      context
        .getRecursiveVariableUsages(operation)
        .map((usage) => ({ ...usage, type: usage.type && plainType(usage.type) })),
  };
  return VariablesInAllowedPositionRule(Object.assign(Object.create(context), plain));
}

function plainType(type: GraphQLInputType): GraphQLInputType {
  const nullable = getNullableType(type);
  const plain = plainOf.get(isListType(nullable) ? nullable.ofType : nullable);
  if (plain === undefined) return type;
  const named = isListType(nullable) ? new GraphQLList(plain) : plain;
  return isNonNullType(type) ? new GraphQLNonNull(named) : named;
}
