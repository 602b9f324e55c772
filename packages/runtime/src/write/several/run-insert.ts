/** Running an INSERT that is a statement of its own: what it made, by the keys of the items. */
import type { Caller } from '../../caller.ts';
import { arrayLiteral } from '../../contract/index.ts';
import type { Transaction } from '../../database/database.ts';
import { PlatformError } from '../../errors.ts';
import type { Batch } from '../batch.ts';
import type { WriteValues } from '../inputs.ts';
import { drawRandom } from '../random.ts';
import { rowsOf, type WriteAnswer } from '../run.ts';
import type { MadeKeys, WritePlan } from '../statement.ts';

/** Runs it: one statement, unless the server only tells a single key that it generated. */
export async function runInsert(
  transaction: Transaction,
  plan: WritePlan,
  made: MadeKeys,
  values: WriteValues,
  caller: Caller,
): Promise<WriteAnswer> {
  if (made.kind === 'generated') return runEach(transaction, plan, made, values, caller);
  const random = drawRandom(plan.sources, values.batch.count);
  const rows = await rowsOf(transaction, plan, { ...values, random }, caller);
  if (made.kind === 'returned') {
    const parts = Array.from({ length: plan.keys }, (_, part) => rows.map((row) => row[part] ?? null));
    return answerOf(rows.length, parts);
  }
  const keys = made.parts.map(({ column = -1, random: drawn = -1 }) => {
    const given = values.batch.columns[column]?.values;
    return Array.from({ length: values.batch.count }, (_, item) => given?.[item] ?? random[drawn]?.[item] ?? null);
  });
  return answerOf(Number(rows[0]?.[1] ?? 0), keys);
}

/** What an item brings along is not generated. */
async function runEach(
  transaction: Transaction,
  plan: WritePlan,
  { column, constant }: Extract<MadeKeys, { kind: 'generated' }>,
  values: WriteValues,
  caller: Caller,
): Promise<WriteAnswer> {
  const keys: string[] = [];
  for (let item = 0; item < values.batch.count; item++) {
    const batch = itemOf(values.batch, item);
    const random = drawRandom(plan.sources, 1);
    const [row] = await rowsOf(transaction, plan, { ...values, batch, random }, caller);
    const given = column === undefined ? null : (batch.columns[column]?.values[0] ?? null);
    const key = given ?? constant ?? row?.[2] ?? '0';
    if (given === null && constant === null && key === '0')
      throw new PlatformError('UNPROCESSABLE_ENTITY', 'The item needs its key.');
    keys.push(key);
  }
  return answerOf(keys.length, [keys]);
}

function itemOf({ columns }: Batch, item: number): Batch {
  return {
    count: 1,
    columns: columns.map((column) => ({
      ...column,
      values: column.values.slice(item, item + 1),
      present: column.present?.slice(item, item + 1) ?? null,
    })),
  };
}

function answerOf(count: number, keys: readonly (readonly (string | null)[])[]): WriteAnswer {
  return { count, wrote: true, keys: keys.map(arrayLiteral), matched: new Map(), verdicts: [] };
}
