/** Activity and revisions of changes of one user that no payload makes, in the transaction that makes them. */
import type { Transaction } from '../database/database.ts';
import { serverSide } from '../database/row-context.ts';
import type { DriftGuard } from '../drift-watch.ts';
import { oneKey } from '../write/decode/keys.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { HistoryKeeper } from '../write/history/history.ts';

/** A change to a user: made by another user, the user itself, or an unknown caller; and its origin. */
export interface Changing {
  readonly user: string;
  /** Key of the one who does it; null: `ADMIN_TOKEN`. */
  readonly by: string | null;
  readonly sender: RequestOrigin;
}

/** Runs a change and records its effect, unless it returns undefined: then nothing has changed. */
export type KeepUserHistory = <T>(
  transaction: Transaction,
  changing: Changing,
  change: () => Promise<T | undefined>,
) => Promise<T | undefined>;

/** Makes it. Throws SERVICE_UNAVAILABLE, by `gate`, where users no longer fit the database. */
export function createUserHistory(
  keeper: Pick<HistoryKeeper, 'begin'> | null,
  driftGuard: DriftGuard,
): KeepUserHistory {
  return async function keepUserHistory(transaction, { user, by, sender }, change) {
    const history = keeper?.begin(transaction, driftGuard, { user: by, ...sender }, serverSide);
    const keys = oneKey([user]);
    const watch = history?.watch('update', 'platform_users', keys);
    const changed = await change();
    if (changed === undefined) return undefined;
    watch?.follow();
    await watch?.resolve(keys, 1);
    await history?.finish();
    return changed;
  };
}
