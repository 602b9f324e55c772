/** Work that requests do together while they share a transaction. */

import type { Transaction } from '../../database/database.ts';
import { findOrCreate } from '../../language/values/once.ts';
import type { Batch, BatchColumn } from '../../write/decode/batch.ts';

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (made: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes what does an item's work, together with that of others of the same name where the transaction is shared. `run` does
 * that of several: it gives all results in order, or fails for all of them.
 */
export function shareWork<I, O>(
  run: (transaction: Transaction, items: readonly I[]) => Promise<readonly O[]>,
): (transaction: Transaction, name: string, item: I) => Promise<O> {
  const waiting = new WeakMap<Transaction, Map<string, Waiting<I, O>[]>>();

  function send(transaction: Transaction, all: readonly Waiting<I, O>[]): void {
    run(
      transaction,
      all.map(({ item }) => item),
    ).then(
      (made) => {
        for (const [index, result] of made.entries()) all[index]?.resolve(result);
      },
      (error: unknown) => {
        for (const { reject } of all) reject(error);
      },
    );
  }

  function join(transaction: Transaction, name: string, entry: Waiting<I, O>): void {
    const names = findOrCreate(waiting, transaction, () => new Map<string, Waiting<I, O>[]>());
    const others = names.get(name);
    if (others !== undefined) {
      others.push(entry);
      return;
    }
    const all = [entry];
    names.set(name, all);
    transaction.begun?.(() => {
      // V8 would keep the items for longer than the transaction: entries of weak maps end when all memory is collected.
      waiting.delete(transaction);
      send(transaction, all);
    });
  }

  return (transaction, name, item) =>
    new Promise((resolve, reject) => {
      const entry = { item, resolve, reject };
      if (transaction.begun === undefined) send(transaction, [entry]);
      else join(transaction, name, entry);
    });
}

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

/** Splits items into rounds, in their order, so that no round has two of the same key. */
export function inBatches<T>(all: readonly T[], keyOf: (element: T) => string | null): readonly (readonly T[])[] {
  const times = new Map<string | null, number>();
  const batches: T[][] = [];
  for (const element of all) {
    const key = keyOf(element);
    const round = times.get(key) ?? 0;
    times.set(key, round + 1);
    const together = batches[round] ?? [];
    batches[round] = together;
    together.push(element);
  }
  return batches;
}
