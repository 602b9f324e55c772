/** Comments on items: the row of activity that records one stands for it. Source: API specification, section 10.3. */
import type { Database } from '../../database/database.ts';
import { ask, firstRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import { PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import type { commentResource } from '../../language/operations/index.ts';
import type { SystemPlace } from '../../system/place.ts';
import { oneKey } from '../../write/decode/keys.ts';
import type { TransactionBody } from '../../write/execute/transaction-body.ts';
import type { Returning } from '../../write/returning.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import type { Writer } from '../../write/writer.ts';
import { done, type Implementations, type OperationContext } from './bind.ts';
import { onceOf, runOnce } from './once.ts';

export interface CommentOptions {
  readonly database: Pick<Database, 'query'>;
  readonly writer: Pick<Writer, 'workOf' | 'once' | 'returning'>;
}

const comments = 'platform_comments';

export function commentOperations(
  { database, writer }: CommentOptions,
  system: SystemPlace,
): Implementations<typeof commentResource> {
  const { table, text, rows } = ownTables(system);
  const texts = {
    row: rows(`SELECT ${text('activity')} FROM ${table(comments)} WHERE id = $1::uuid`),
    comment: rows(`SELECT ${text('id')} FROM ${table(comments)} WHERE activity = $1::integer`),
  };

  /** Writes the comment, and reads the row that records it. */
  async function record(request: WriteRequest, body: JsonValue, returning: Returning | null): Promise<TransactionBody> {
    const { brief: _, ...work } = await writer.workOf({ action: 'create', request, body });
    return {
      ...work,
      async run(transaction) {
        const { keys } = await work.run(transaction);
        const [id] = (await firstRow(transaction, texts.row, [keys?.values[0] ?? null])) ?? [];
        return { returning, keys: typeof id === 'string' ? oneKey([id]) : null };
      },
    };
  }

  /** The comment that a row of activity records. Throws FORBIDDEN for any other row. */
  async function commentOf(id: string): Promise<string> {
    const [row] = /^\d{1,9}$/.test(id) ? await ask(database, texts.comment, [id]) : [];
    if (typeof row?.[0] !== 'string') throw new PlatformError('FORBIDDEN');
    return row[0];
  }

  return {
    async activityCommentCreate({ body }, context) {
      const prepare = async () => record(requestOf(context), body, writer.returning(answerOf(context), 'one'));
      return { value: await runOnce(writer, onceOf(context, body), prepare) };
    },
    async activityCommentUpdate({ id, body }, context) {
      const isReadable = writer.returning(answerOf(context), 'one') !== null;
      // A change names the text: without it is as with none.
      const changed = isObject(body) ? { comment: null, ...body } : body;
      await runOnce(writer, onceOf(context, body), async () =>
        writer.workOf({ action: 'update', request: requestOf(context), item: await commentOf(id), body: changed }),
      );
      return { value: isReadable ? id : null };
    },
    async activityCommentDelete({ id }, context) {
      await runOnce(writer, onceOf(context, null), async () =>
        writer.workOf({ action: 'delete', request: requestOf(context), item: await commentOf(id), body: undefined }),
      );
      return done;
    },
  };
}

/** The row of activity as the answer. Preparing it tells errors of the query before anything is written. */
function answerOf({ caller, sender, query, returning }: OperationContext): WriteRequest {
  return { caller, collection: 'platform_activity', query, sender, ...(returning && { returning }) };
}

/** The write of the comment, which has no answer of its own. */
function requestOf({ caller, sender }: OperationContext): WriteRequest {
  return { caller, collection: comments, query: '', sender, returning: () => null };
}
