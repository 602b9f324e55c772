/** Comments on items: the row of activity that records one stands for it. Source: API specification, section 10.3. */
import type { Database, Transaction } from '../../database/database.ts';
import { ask, firstRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import { PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import type { commentResource } from '../../language/operations/index.ts';
import type { Planner } from '../../query/planner.ts';
import type { SystemPlace } from '../../system/place.ts';
import { retryOnConflict } from '../../write/execute/transaction-body.ts';
import { explainViolation } from '../../write/execute/violation.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import type { Writer } from '../../write/writer.ts';
import { done, type Implementations, type OperationContext } from './bind.ts';

export interface CommentOptions {
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'workOf' | 'committed' | 'updateOne' | 'deleteOne'>;
}

const comments = 'platform_comments';

export function commentOperations(
  { database, planner, writer }: CommentOptions,
  system: SystemPlace,
): Implementations<typeof commentResource> {
  const { table, text, rows } = ownTables(system);
  const texts = {
    row: rows(`SELECT ${text('activity')} FROM ${table(comments)} WHERE id = $1::uuid`),
    comment: rows(`SELECT ${text('id')} FROM ${table(comments)} WHERE activity = $1::integer`),
  };

  /** Writes the comment and gives the key of the row that records it. */
  async function record(request: WriteRequest, body: JsonValue): Promise<string> {
    const work = await writer.workOf({ action: 'create', request, body });
    try {
      const write = async (transaction: Transaction) => {
        const { keys } = await work.run(transaction);
        return { value: [transaction, await firstRow(transaction, texts.row, [keys?.values[0] ?? null])] as const };
      };
      const [committed, row] = await retryOnConflict(work, () => database.transaction(write));
      const following = writer.committed(committed);
      work.committed();
      await following;
      return row?.[0] ?? '';
    } catch (error) {
      throw explainViolation(error, work.affected());
    }
  }

  /** The comment that a row of activity records. Throws FORBIDDEN for any other row. */
  async function commentOf(id: string): Promise<string> {
    const [row] = /^\d{1,9}$/.test(id) ? await ask(database, texts.comment, [id]) : [];
    if (typeof row?.[0] !== 'string') throw new PlatformError('FORBIDDEN');
    return row[0];
  }

  return {
    async activityCommentCreate({ body }, context) {
      const readable = canRead(planner, context);
      const id = await record(requestOf(context), body);
      return { value: readable ? id : null };
    },
    async activityCommentUpdate({ id, body }, context) {
      const readable = canRead(planner, context);
      await writer.updateOne(requestOf(context), await commentOf(id), body);
      return { value: readable ? id : null };
    },
    async activityCommentDelete({ id }, context) {
      await writer.deleteOne(requestOf(context), await commentOf(id));
      return done;
    },
  };
}

/** True if the caller can read such rows at all. Throws errors of the query before anything is written. */
function canRead(planner: Planner, { caller, query }: OperationContext): boolean {
  try {
    planner.read(caller, { name: 'platform_activity' }, '0', query);
    return true;
  } catch (error) {
    if (query === '' && error instanceof PlatformError && error.code === 'FORBIDDEN') return false;
    throw error;
  }
}

function requestOf({ caller, sender }: OperationContext): WriteRequest {
  return { caller, collection: comments, query: '', sender, returning: () => null };
}
