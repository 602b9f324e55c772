/** Plans an operation before the first request for it, with values made up for its variables. */
import type { GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { PlatformError } from '../../errors.ts';
import type { SentVariables } from '../compile/coerce-variables.ts';
import type { Variables } from '../compile/input.ts';
import type { PlannedField } from '../documents/operation.ts';
import { sampleVariables } from './sample-variables.ts';

/** Plans of an operation with all its variables, and with the required ones alone, where that differs. */
export interface PlannedSamples {
  readonly whole: readonly PlannedField[];
  readonly least: readonly PlannedField[] | null;
}

/** Plans by the first values that every root field takes; where there are none, by the last. */
export function planSamples(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  coerce: (sent: SentVariables) => Variables,
  plan: (variables: Variables) => readonly PlannedField[],
): PlannedSamples {
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
