/** Effects of writing comments beyond their fields. Source: API specification, section 10.3. */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import { ownTables } from '../dialects/index.ts';
import { fromRows, type Rows, rowsBeside } from '../dialects/own-tables.ts';
import { PlatformError } from '../errors.ts';
import type { Planner } from '../query/planner.ts';
import type { SystemPlace } from '../system/place.ts';
import type { RequestOrigin, Running, SystemHook } from '../write/execute/running.ts';
import { keyArray } from '../write/hooks/system-hook.ts';
import { areReadable } from './are-readable.ts';

/** Called with new comments, before the transaction ends: their collections, items and texts. */
export type HearComments = (running: Running, comments: readonly Comment[]) => Promise<void>;

/** A comment as it was written. */
export interface Comment {
  readonly collection: string;
  /** Key in path form. */
  readonly item: string;
  readonly text: string;
}

/** Options of the hook. */
export interface CommentHookOptions {
  readonly place: SystemPlace;
  readonly planner: Planner;
  readonly hear: HearComments;
}

function statements(location: SystemPlace) {
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
  const texts = statements(location);

  async function change({ transaction }: Running, text: OwnSql, values: readonly (string | null)[]): Promise<void> {
    const row = await firstRow(transaction, text, values);
    if (row?.[0]) transaction.identify(row[0]);
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
