import type { Caller } from '../caller.ts';
import { PlatformError } from '../errors.ts';
import { createAnswerWriter } from '../json/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import type { Running } from '../write/step.ts';

/** An item as activity and comments name it: its key in path form. */
export interface NamedItem {
  readonly collection: string;
  readonly item: string;
}

/** Whether somebody can read an item, as the transaction sees it. What cannot be named cannot be read. */
export async function isReadable(
  { transaction, gate }: Pick<Running, 'transaction' | 'gate'>,
  planner: Planner,
  caller: Caller,
  { collection, item }: NamedItem,
): Promise<boolean> {
  const planned = plan(planner, caller, { collection, item });
  if (planned === null) return false;
  gate(planned.plan.statement.text);
  const rows = createAnswerWriter(planned.plan)();
  await transaction.run(planned.plan.statement, planned.parameters, rows);
  return rows.items > 0;
}

function plan(planner: Planner, caller: Caller, { collection, item }: NamedItem): PlannedRead | null {
  try {
    return planner.read(caller, { name: collection }, item, '');
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
}
