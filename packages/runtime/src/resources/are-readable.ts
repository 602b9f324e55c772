import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { createAnswerWriter } from '../query/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import type { Running } from '../write/execute/running.ts';

/** Items as activity and comments name them: their keys in path form. */
export interface NamedItems {
  readonly collection: string;
  /** Different texts, one at least. */
  readonly items: readonly string[];
}

/**
 * True if a caller can read all of these items, as the transaction sees them: by one statement. Without a valid key an
 * item cannot be read. The planner must have no limit of its own for the items of a list.
 */
export async function areReadable(
  { transaction, driftGuard }: Pick<Running, 'transaction' | 'driftGuard'>,
  planner: Planner,
  caller: Caller,
  named: NamedItems,
): Promise<boolean> {
  const planned = plan(planner, caller, named);
  if (planned === null) return false;
  driftGuard(planned.plan.statement);
  const rows = createAnswerWriter(planned.plan)();
  await transaction.run(planned.statement, planned.parameters, rows);
  return rows.items === planned.rows;
}

function plan(planner: Planner, caller: Caller, { collection, items }: NamedItems): PlannedRead | null {
  try {
    return planner.search(caller, { name: collection }, { keys: [...items], query: { limit: -1 } });
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
}
