/** Checks of writes to system collections, in the transaction, beyond those of their columns and rules. */
import { asMany, type Keys } from './keys.ts';
import type { Running, Step } from './step.ts';

/** Watches over the steps of one collection, however they came to be: by its own route, or within other payloads. */
export interface SystemHook {
  /**
   * Runs before a step. Throws to refuse the request. The function that it returns runs with the keys of the written
   * items, and may throw as well.
   */
  watch(running: Running, step: Step): Promise<AfterStep | null>;
}

/** Judges and completes what a step has written. */
export type AfterStep = (keys: Keys) => Promise<void>;

/** system hooks by the collection that they watch over. */
export type SystemHooks = ReadonlyMap<string, SystemHook>;

/** The keys of a collection with one key field, as the text of an array. */
export function keyArray(keys: Keys): string {
  return asMany(keys).values[0] ?? '{}';
}

/** True if a step gives a field of one of these names a value. */
export function writes({ batch }: Step, names: readonly string[]): boolean {
  return batch.columns.some(({ field }) => names.includes(field.descriptor.name));
}
