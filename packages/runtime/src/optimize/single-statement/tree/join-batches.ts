/** Items of several requests that one statement writes. */
import type { Batch, BatchColumn } from '../../../write/decode/batch.ts';

/** Batches of the same columns as one, in their order. */
export function joinBatches(batches: readonly Batch[]): Batch {
  const [first] = batches;
  if (first !== undefined && batches.length === 1) return first;
  return {
    count: batches.reduce((sum, { count }) => sum + count, 0),
    columns: (first?.columns ?? []).map((column, index): BatchColumn => {
      const values = batches.flatMap((batch) => batch.columns[index]?.values ?? []);
      const present = column.present && batches.flatMap((batch) => batch.columns[index]?.present ?? []);
      return { ...column, values, present };
    }),
  };
}
