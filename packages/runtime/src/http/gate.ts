/** Keeps requests away from collections that no longer fit the database. */
import type { CompiledApi } from '../contract/index.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { PlatformError } from '../errors.ts';

/**
 * Throws SERVICE_UNAVAILABLE when a statement reads a table of a closed collection, at whatever depth.
 *
 * The text of a statement names its tables exactly as the descriptors do, and nothing of a request is ever in it, so
 * looking for them finds them all; a name inside another one only closes too much.
 */
export type Gate = (statementText: string) => void;

/** Makes the gate of a server. While nothing has drifted it costs one comparison. */
export function createGate(api: CompiledApi, watch: Pick<DriftWatch, 'closed'>): Gate {
  return function passGate(statementText) {
    const closed = watch.closed();
    if (closed.size === 0) return;
    const shut = api.collections.find(({ name, table }) => closed.has(name) && statementText.includes(table));
    if (shut !== undefined) {
      const cause = new Error(`The collection "${shut.name}" no longer fits the database.`);
      throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
    }
  };
}
