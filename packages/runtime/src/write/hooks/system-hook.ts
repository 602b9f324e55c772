/** Checks of writes to system collections, in the transaction, beyond those of their columns and rules. */

import { asMany, type Keys } from '../decode/keys.ts';
import type { Step } from '../execute/running.ts';

/** The keys of a collection with one key field, as the text of an array. */
export function keyArray(keys: Keys): string {
  return asMany(keys).values[0] ?? '{}';
}

/** True if a step gives a field of one of these names a value. */
export function writes({ batch }: Step, names: readonly string[]): boolean {
  return batch.columns.some(({ field }) => names.includes(field.descriptor.name));
}
