/** Spares reads whose arguments were met before everything but looking them up. */
import type { PlanCache } from '../../database/plan-cache.ts';
import type { ReadPlan } from '../../query/plan/plan.ts';
import { type Input, inputValue, type Variables } from '../compile/input.ts';

/** A plan with the values of one request: those in front of keys, and those after them. */
export interface PreparedRead {
  readonly plan: ReadPlan;
  readonly values: readonly string[];
  readonly bounds: readonly string[];
  /** As `Prepared.large`. */
  readonly large?: true;
  /** Set for a page: its items at most. */
  readonly size?: number;
}

/** Prepares a read for the variables of a request. Throws INVALID_QUERY or FORBIDDEN for arguments that cannot be used. */
export type PrepareRead = (variables: Variables) => PreparedRead;

/** Characters of arguments beyond which a read is prepared every time. */
const longestArguments = 2_048;

/**
 * Remembers prepared reads by their arguments; `inputs` are all that decide about the read, and `name` stands for it
 * among all that are kept in `reads`. A read that throws is prepared again.
 */
export function rememberReads(
  reads: PlanCache<PreparedRead>,
  name: string,
  inputs: readonly Input[],
  prepare: PrepareRead,
): PrepareRead {
  const open = inputs.filter(({ fixed }) => !fixed);
  let only: PreparedRead | undefined;

  function prepareOnce(variables: Variables): PreparedRead {
    only ??= prepare(variables);
    return only;
  }

  function prepareKnown(variables: Variables): PreparedRead {
    const text = JSON.stringify(open.map((input) => inputValue(input, variables)));
    if (text.length > longestArguments) return prepare(variables);
    const key = `${name} ${text}`;
    const cached = reads.get(key);
    if (cached !== undefined) return cached;
    const prepared = prepare(variables);
    reads.set(key, prepared);
    return prepared;
  }

  return open.length === 0 ? prepareOnce : prepareKnown;
}
