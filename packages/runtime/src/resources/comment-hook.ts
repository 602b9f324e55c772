/** Effects of writing comments beyond their fields. Source: API specification, section 10.3. */
import type { Caller } from '../caller.ts';
import type { Transaction } from '../database/database.ts';
import { allRows, firstRow, identifiedRow, type OwnSql } from '../database/own-statements.ts';
import { allOf } from '../dialects/fragment.ts';
import { ownTables } from '../dialects/index.ts';
import { accountColumns, fromParts, fromRows, type Rows, rowsBeside } from '../dialects/own-tables.ts';
import { clientOf } from '../environment/networks.ts';
import { PlatformError } from '../errors.ts';
import { accessNames } from '../language/descriptors/access-names.ts';
import { arrayLiteral, type CompiledApi } from '../language/index.ts';
import { orderOf } from '../language/types/decoding.ts';
import { findOrCreate } from '../language/values/once.ts';
import { createAnswerWriter } from '../query/answer.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import { createRowContexts } from '../row-security/contexts.ts';
import type { SystemPlace } from '../system/place.ts';
import { type Account, accountWidth, callerOf, readAccount } from '../users/account.ts';
import { keyArray, type RequestOrigin, type Running, type SystemHook } from '../write/execute/running.ts';

/** Called with new comments, before the transaction ends: their collections, items and texts. */
type HearComments = (running: Running, comments: readonly Comment[]) => Promise<void>;

interface Comment {
  readonly collection: string;
  /** Key in path form. */
  readonly item: string;
  readonly text: string;
}

interface CommentHookOptions {
  readonly place: SystemPlace;
  readonly planner: Planner;
  readonly hear: HearComments;
}

function commentStatements(location: SystemPlace) {
  const { table, text, array, among, ...sql } = ownTables(location);
  const named = among('platform_comments', 'c');
  const activity = (rows: Rows, on: string): Rows => rowsBeside(`${table('platform_activity')} AS a`, 'a', rows, on);
  const texts = ['c.collection', 'c.item', 'c.comment'].map(text);
  return {
    read: sql.rows(`SELECT ${texts.join(', ')}${fromRows(named)}`),
    record: sql.statements.recordComments,
    change: sql.both(
      sql.update(activity(named, 'a.id = c.activity'), { comment: 'c.comment' }),
      sql.update(named, { date_updated: sql.now, user_updated: '$2::uuid' }),
    ),
    rows: sql.rows(`SELECT ${array('c.activity')}${fromRows(named)}`),
    forget: sql.write(sql.remove(among('platform_activity', 'a', 'id', '$1', 'integer'))),
  };
}

/** Makes the hook of comments: their author must be able to read the item, and activity records them. */
export function createCommentHook({ place: location, planner, hear }: CommentHookOptions): SystemHook {
  const texts = commentStatements(location);

  async function change({ transaction }: Running, text: OwnSql, values: readonly (string | null)[]): Promise<void> {
    await identifiedRow(transaction, text, values);
  }

  async function record(running: Running, ids: string): Promise<void> {
    const rows = await allRows(running.transaction, texts.read, [ids]);
    const made = rows.map(([collection, item, text]) => ({
      collection: collection ?? '',
      item: item ?? '',
      text: text ?? '',
    }));
    for (const [collection, some] of Map.groupBy(made, (comment) => comment.collection)) {
      const items = [...new Set(some.map(({ item }) => item))];
      if (!(await areReadable(running, planner, running.caller, { collection, items })))
        throw new PlatformError('FORBIDDEN');
    }
    await change(running, texts.record, [ids, ...originOf(running.caller.user, running.sender)]);
    await hear(running, made);
  }

  return {
    async watch(running, { action, keys }) {
      if (action === 'create') return (made) => record(running, keyArray(made));
      if (keys === null) return null;
      const ids = keyArray(keys);
      if (action === 'update') return () => change(running, texts.change, [ids, running.caller.user]);
      const row = await firstRow(running.transaction, texts.rows, [ids]);
      const gone = row?.[0];
      return typeof gone === 'string' ? () => change(running, texts.forget, [gone]) : null;
    },
  };
}

function originOf(user: string | null, { ip, userAgent, origin }: RequestOrigin): readonly (string | null)[] {
  return [user, ip, userAgent, origin];
}

interface MentionsOptions {
  readonly api: CompiledApi;
  readonly place: SystemPlace;
  readonly planner: Planner;
  /** Called with a transaction that has queued mail. */
  readonly mailed: (transaction: Transaction) => void;
  readonly mayMail: MayMail;
}

/** Counts a mail of an author to a user in a transaction; false where that is one too many. Clients are authors without a user. */
export type MayMail = (transaction: Transaction, author: string, user: string) => Promise<boolean>;

const reference = /@([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![0-9a-z-])/gi;

/** Mentions of one request beyond these are passed over: comments are no mailing list. */
const maxMentions = 50;

function mentionStatements(location: SystemPlace) {
  const sql = ownTables(location);
  const { from, where } = fromParts(sql.among('platform_users', 'u'));
  return {
    users:
      sql.rows(`SELECT ${accountColumns(sql)} FROM ${from} LEFT JOIN ${sql.table('platform_roles')} AS r ON r.id = u.role
WHERE ${allOf([where, "u.status = 'active'", 'u.email_notifications', 'u.email IS NOT NULL'])} ORDER BY u.id`),
    mail: sql.write(`INSERT INTO ${sql.table('platform_mails')} (template, recipient, template_values)
SELECT 'mention', m.v, ${sql.object({ collection: '$2', item: '$3', comment: '$4' })} FROM ${sql.list('$1', 'text', 'm')}`),
  };
}

/** Makes the function that queues the mails, in the transaction that writes the comments. */
export function createMentions({ api, place: location, planner, mailed, mayMail }: MentionsOptions): HearComments {
  const names = accessNames(api);
  const rowContext = createRowContexts(api);
  const texts = mentionStatements(location);

  return async function hear(running, comments) {
    const { transaction, caller, sender } = running;
    const author = caller.user ?? clientOf(sender);
    const readers: { readonly comment: Comment; readonly account: Account }[] = [];
    let left = maxMentions;
    for (const comment of comments) {
      const mentioned = mentionsIn(comment).slice(0, left);
      left -= mentioned.length;
      if (mentioned.length === 0) continue;
      for (const row of await allRows(transaction, texts.users, [arrayLiteral(mentioned)])) {
        const account = readAccount(row.slice(0, accountWidth));
        const readable = await areReadable(running, planner, callerOf(names, rowContext, account), {
          collection: comment.collection,
          items: [comment.item],
        });
        if (readable) readers.push({ comment, account });
      }
    }
    const recipients = new Map<Comment, string[]>();
    // Requests that count the same users do not wait for each other when all take them in one order.
    for (const { comment, account } of readers.sort((a, b) => orderOf(a.account.id, b.account.id))) {
      if (await mayMail(transaction, author, account.id))
        findOrCreate(recipients, comment, () => []).push(account.email ?? '');
    }
    for (const [{ collection, item, text }, addresses] of recipients) {
      await identifiedRow(transaction, texts.mail, [arrayLiteral(addresses), collection, item, text]);
      mailed(transaction);
    }
  };
}

function mentionsIn({ text }: Comment): readonly string[] {
  return [...new Set([...text.matchAll(reference)].map(([, id = '']) => id.toLowerCase()))];
}

/** Items as activity and comments name them: their keys in path form. */
interface NamedItems {
  readonly collection: string;
  /** Different texts, one at least. */
  readonly items: readonly string[];
}

/** True if a caller can read all of these items: by one statement. The planner must have no limit for lists. */
async function areReadable(
  { transaction, driftGuard }: Pick<Running, 'transaction' | 'driftGuard'>,
  planner: Planner,
  caller: Caller,
  named: NamedItems,
): Promise<boolean> {
  const planned = plan(planner, caller, named);
  if (planned === null) return false;
  driftGuard(planned.plan.statement);
  const rows = createAnswerWriter(planned.plan)();
  await transaction.run(planned.statement, planned.parameters, rows);
  return rows.items === planned.rows;
}

function plan(planner: Planner, caller: Caller, { collection, items }: NamedItems): PlannedRead | null {
  try {
    return planner.search(caller, { name: collection }, { keys: [...items], query: { limit: -1 } });
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
}
