/** Plans an operation before the first request for it, with values made up for its variables. */
import {
  type GraphQLInputType,
  type GraphQLSchema,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInputType,
  isListType,
  isRequiredInputField,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
} from 'graphql';
import { PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import type { SentVariables, Variables } from '../compile/input.ts';
import type { PlannedField } from '../documents/operation.ts';

/** Plans by the first values that every root field takes; where there are none, by the last. */
export function planSamples(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  coerce: (sent: SentVariables) => Variables,
  plan: (variables: Variables) => readonly PlannedField[],
) {
  const { whole, least } = sampleVariables(schema, operation);
  const planned = planFirst(whole, coerce, plan);
  const shorter = least.length === 0 ? null : planFirst(least, coerce, plan);
  return { whole: planned, least: JSON.stringify(shorter) === JSON.stringify(planned) ? null : shorter };
}

function planFirst(
  samples: readonly SentVariables[],
  coerce: (sent: SentVariables) => Variables,
  plan: (variables: Variables) => readonly PlannedField[],
): readonly PlannedField[] {
  let planned: readonly PlannedField[] = [];
  for (const sample of samples) {
    try {
      planned = plan(coerce(sample));
      if (planned.every(({ kind }) => kind !== 'failure')) return planned;
    } catch (error) {
      // Values that cannot be made up are left to real requests.
      if (!(error instanceof PlatformError)) throw error;
    }
  }
  return planned;
}

const uuid = '00000000-0000-4000-8000-000000000000';

/** Possible values of a scalar: a number, a word, or one of the texts that dates, times and identifiers are. */
const texts = ['1', '2000-01-01', '2000-01-01T00:00:00Z', '00:00:00', uuid] as const;
const fixed: Readonly<Record<string, JsonValue>> = {
  Int: 1,
  Float: 1,
  Boolean: true,
  GraphQLBigInt: '1',
  Decimal: '1',
};

/** Nesting beyond which input objects stay empty: they hold each other. */
const deepest = 3;

/** Sets of variables, the likeliest first; the last has only those that must be there. Lists have one element. */
function sampleVariables(schema: GraphQLSchema, operation: OperationDefinitionNode) {
  const definitions = operation.variableDefinitions ?? [];
  const sampled = (required: boolean): readonly SentVariables[] =>
    texts.map((text) =>
      Object.fromEntries(
        definitions.flatMap(({ variable, type: node, defaultValue }) => {
          if (required && (node.kind !== Kind.NON_NULL_TYPE || defaultValue !== undefined)) return [];
          const type = typeFromAST(schema, node);
          return isInputType(type) ? [[variable.name.value, sample(type, text, 0)] as const] : [];
        }),
      ),
    );
  const optional = definitions.some(({ type, defaultValue }) => type.kind !== Kind.NON_NULL_TYPE || defaultValue);
  return { whole: definitions.length === 0 ? [{}] : sampled(false), least: optional ? sampled(true) : [] };
}

function sample(type: GraphQLInputType, text: string, depth: number): JsonValue {
  const nullable = getNullableType(type);
  if (isListType(nullable)) return [sample(nullable.ofType, text, depth)];
  if (isEnumType(nullable)) return nullable.getValues()[0]?.name ?? null;
  if (!isInputObjectType(nullable)) return fixed[nullable.name] ?? text;
  const fields = Object.values(nullable.getFields()).filter((field) => isRequiredInputField(field) && depth < deepest);
  return Object.fromEntries(fields.map(({ name, type: inner }) => [name, sample(inner, text, depth + 1)]));
}
