/** Writes that wait for a server that takes them. */
import { PlatformError } from '../../errors.ts';
import { currentRecord } from '../../operate/request-record.ts';
import type { Database } from '../database.ts';
import { ConnectionError, isNotPrimary, isRetryable, toDatabaseError, UnknownOutcomeError } from '../errors.ts';
import type { HostGroup } from './host-group.ts';
import type { Positions } from './positions.ts';

/** Transactions lost with their server that run again while a write may wait. */
const maxLosses = 4;

/**
 * A database whose transactions wait up to `waitMs` for a server that takes writes. They run again where theirs was lost, if
 * nothing of them stayed.
 */
export function guardWrites(
  database: Database,
  group: Pick<HostGroup, 'writable' | 'losses' | 'isSettled'>,
  { waitMs, positions }: { readonly waitMs: number; readonly positions: Pick<Positions, 'latest'> | null },
): Database {
  async function guarded<T>(write: () => Promise<T>): Promise<T> {
    const record = currentRecord();
    const deadline = performance.now() + waitMs;
    for (let tries = 0; ; tries++) {
      await settled(group, deadline);
      const { losses } = group;
      try {
        const value = await write();
        if (positions !== null && record !== undefined) record.written = positions.latest;
        return value;
      } catch (error) {
        const isOver = tries === maxLosses || performance.now() >= deadline;
        const isDoubted = losses !== group.losses || !group.isSettled;
        if (isOver || !isDoubted || !leftNothing(error)) throw error;
      }
    }
  }

  return {
    ...database,
    transaction: (work) => guarded(() => database.transaction(work)),
    briefTransaction: (work, rows) => guarded(() => database.briefTransaction(work, rows)),
  };
}

async function settled(group: Pick<HostGroup, 'writable'>, deadline: number): Promise<void> {
  try {
    await group.writable(deadline);
  } catch (error) {
    throw toDatabaseError(error);
  }
}

/** True if a transaction failed with its server before it was committed. */
function leftNothing(error: unknown): boolean {
  const cause = error instanceof PlatformError ? error.cause : error;
  if (cause instanceof UnknownOutcomeError) return false;
  return cause instanceof ConnectionError || isNotPrimary(cause) || isRetryable(cause);
}

/**
 * A database that refuses all writes, even if it would accept them: transactions answer SERVICE_UNAVAILABLE
 * (DATABASE_READ_ONLY).
 */
export function withoutWrites(database: Database): Database {
  const refuse = (): Promise<never> =>
    Promise.reject(
      new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: new Error('DATABASE_READ_ONLY is set.') }),
    );
  return { ...database, transaction: refuse, briefTransaction: refuse, schemaSession: refuse };
}
