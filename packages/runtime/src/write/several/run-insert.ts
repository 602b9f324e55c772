/** Runs an INSERT that is a statement of its own, and finds out the keys of the items that it made. */
import type { Caller } from '../../caller.ts';
import type { Transaction } from '../../database/database.ts';
import { PlatformError } from '../../errors.ts';
import { arrayLiteral } from '../../language/index.ts';
import type { Batch } from '../decode/batch.ts';
import { rowsOf, type WriteAnswer } from '../execute/write-answer.ts';
import type { WriteValues } from '../plan/inputs.ts';
import { draw } from '../plan/random.ts';
import type { KeyPart, MadeKeys, WriteStatement } from '../plan/statement.ts';

/** Runs it: one statement, unless the server only tells a single key that it generated. */
export async function runInsert(
  transaction: Transaction,
  plan: WriteStatement,
  made: MadeKeys,
  values: WriteValues,
  caller: Caller,
): Promise<WriteAnswer> {
  const presets = await askAhead(transaction, plan, values, caller);
  if (made.kind === 'computed' && made.parts.some((part) => isGenerated(part, values.batch)))
    return runEach(transaction, plan, made.parts, { ...values, presets }, caller);
  const drawn = draw(plan.sources, values.batch.count, presets);
  const rows = await rowsOf(transaction, plan, { ...values, drawn }, caller);
  if (made.kind === 'returned') {
    const parts = Array.from({ length: plan.keys }, (_, part) => rows.map((row) => row[part] ?? null));
    return answerOf(rows.length, parts);
  }
  const keys = made.parts.map((part) =>
    Array.from({ length: values.batch.count }, (_, item) => knownPart(part, item, values.batch, drawn)),
  );
  return answerOf(Number(rows[0]?.[1] ?? 0), keys);
}

type Drawn = readonly (readonly (string | null)[])[];

/** Reads the values that rules set, by their positions among the generated values. */
async function askAhead(
  transaction: Transaction,
  { ahead }: WriteStatement,
  values: WriteValues,
  caller: Caller,
): Promise<ReadonlyMap<number, string | null>> {
  if (ahead === undefined) return new Map();
  const [row] = await rowsOf(transaction, ahead.plan, values, caller);
  return new Map(ahead.fields.map((field, index) => [field, row?.[index] ?? null]));
}

/** True if some item leaves a part of its key to the server. */
function isGenerated({ column, drawn, constant }: KeyPart, { columns }: Batch): boolean {
  if (drawn !== undefined || constant !== undefined) return false;
  return column === undefined || columns[column]?.values.includes(null) !== false;
}

function knownPart({ column = -1, drawn = -1, constant }: KeyPart, item: number, { columns }: Batch, all: Drawn) {
  return columns[column]?.values[item] ?? all[drawn]?.[item] ?? constant ?? null;
}

async function runEach(
  transaction: Transaction,
  plan: WriteStatement,
  parts: readonly KeyPart[],
  { presets, ...values }: WriteValues & { readonly presets: ReadonlyMap<number, string | null> },
  caller: Caller,
): Promise<WriteAnswer> {
  const keys = parts.map((): string[] => []);
  for (let item = 0; item < values.batch.count; item++) {
    const batch = itemOf(values.batch, item);
    const drawn = draw(plan.sources, 1, presets);
    const [row] = await rowsOf(transaction, plan, { ...values, batch, drawn }, caller);
    for (const [index, part] of parts.entries()) {
      const key = knownPart(part, 0, batch, drawn) ?? row?.[2] ?? '0';
      if (key === '0' && isGenerated(part, batch))
        throw new PlatformError('UNPROCESSABLE_ENTITY', 'The item needs its key.');
      keys[index]?.push(key);
    }
  }
  return answerOf(values.batch.count, keys);
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
