/** Keeps requests away from tables that no longer fit the compiled API. */
import type { DriftGuard } from '../database/drift-guard.ts';
import type { DriftWatch } from '../drift-watch.ts';
import { PlatformError } from '../errors.ts';

/** Makes the gate of a server, which statements pass by the tables that they know of. While nothing has drifted it costs one comparison. */
export function createDriftGuard(watch: Pick<DriftWatch, 'closed'>): DriftGuard {
  return function passGate({ tables }) {
    const closed = watch.closed();
    if (closed.size === 0) return;
    const table = tables?.find((table) => closed.has(table));
    if (table === undefined) return;
    const cause = new Error(`The table ${table} no longer fits what was compiled.`);
    throw new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause });
  };
}
