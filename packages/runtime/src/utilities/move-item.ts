import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import type { CompiledApi } from '../language/index.ts';
import { createPlanner } from '../query/planner.ts';
import { buildOpenScope } from '../sql/scope.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import { explainViolation } from '../write/execute/violation.ts';
import type { Writer } from '../write/writer.ts';
import { type Move, planMove, sortFieldOf } from './sort-items.ts';
import { updatableNames } from './updatable-names.ts';

/** Options of moving items. */
export interface MoverOptions {
  readonly api: CompiledApi;
  readonly database: Pick<Database, 'transaction'>;
  readonly writer: Pick<Writer, 'workOf'>;
}

/** Caller of a move, and its collection. */
export interface MoveRequest {
  readonly caller: Caller;
  readonly collection: string;
  readonly sender: RequestOrigin;
}

/**
 * Makes the move function: every new position is an update of the caller, under the caller's rules, in one transaction.
 * Rejects with FORBIDDEN for items that the caller may not write, and with INVALID_PAYLOAD if there is no sort field.
 */
export function createMover({ api, database, writer }: MoverOptions) {
  const { dialect } = api;
  const open = buildOpenScope(api);
  // Limits of lists are for requests.
  const planner = createPlanner(api);
  const sortable = updatableNames(api);

  return async function moveItem({ caller, collection: name, sender }: MoveRequest, move: Move): Promise<void> {
    const collection = open.collections.get(name);
    const updatable = sortable.get(caller.accessClass)?.get(name);
    if (collection === undefined || collection.descriptor.system === true || updatable === undefined) throw forbidden();
    if (collection.descriptor.key.length === 0) throw forbidden();
    const field = sortFieldOf(collection);
    if (!updatable.has(field)) throw forbidden();
    const work = await database.transaction(async (transaction) => {
      const items = await planMove({ transaction, planner, caller, dialect, collection, field }, move);
      const request = { caller, collection: name, query: '', sender, returning: () => null };
      const work = await writer.workOf({ action: 'update', request, body: items });
      try {
        await work.run(transaction);
      } catch (error) {
        throw explainViolation(error, work.affected());
      }
      return { value: work };
    });
    work.committed();
  };
}

function forbidden(): PlatformError {
  return new PlatformError('FORBIDDEN');
}
