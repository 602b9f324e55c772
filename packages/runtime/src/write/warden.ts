/** What collections of the platform ask of their writes, in the transaction, beyond what their columns and rules say. */
import type { TextRow } from '../database/protocol/texts.ts';
import { readRow } from '../database/protocol/texts.ts';
import { asMany, type Keys } from './keys.ts';
import { nameStatement } from './statement.ts';
import type { Running, Step } from './step.ts';

/** Watches over the steps of one collection, however they came to be: by its own route, or within other payloads. */
export interface Warden {
  /**
   * Runs before a step does. Throws what refuses the request; what it gives back runs with the keys of what was written,
   * and may throw as well.
   */
  watch(running: Running, step: Step): Promise<AfterStep | null>;
}

/** Judges and completes what a step has written. */
export type AfterStep = (keys: Keys) => Promise<void>;

/** Wardens by the collection that they watch over. */
export type Wardens = ReadonlyMap<string, Warden>;

/** The keys of a collection with one key field, as the text of an array. */
export function keyArray(keys: Keys): string {
  return asMany(keys).values[0] ?? '{}';
}

/**
 * Runs a statement about the tables of the platform in the transaction. All its columns are cast to text; one that writes
 * brings the number of the transaction along as the first of them.
 */
export async function runOwn(
  { transaction }: Pick<Running, 'transaction'>,
  text: string,
  parameters: readonly (string | null)[],
): Promise<readonly TextRow[]> {
  const rows: TextRow[] = [];
  await transaction.run(nameStatement(text), parameters, {
    row: (buffer, offset, length) => {
      rows.push(readRow(buffer, offset, offset + length));
    },
  });
  return rows;
}

/** Whether a step gives a field of one of these names a value. */
export function writes({ batch }: Step, names: readonly string[]): boolean {
  return batch.columns.some(({ field }) => names.includes(field.descriptor.name));
}
