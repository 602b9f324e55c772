/** Effects of writing comments beyond their fields. Source: API specification, section 10.3. */

import { allRows, firstRow } from '../database/own-statements/own-rows.ts';
import { createScript, each, type OwnSql, returnRows, run } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { transactionNumber } from '../dialects/fragment.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
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

interface Statements {
  readonly read: OwnSql;
  readonly record: OwnSql;
  readonly change: OwnSql;
  readonly rows: OwnSql;
  readonly forget: OwnSql;
}

function postgresStatements(schema: string): Statements {
  const comments = `${schema}.platform_comments`;
  const activity = `${schema}.platform_activity`;
  const number = `pg_catalog.nextval('${schema.replaceAll("'", "''")}.platform_activity_id_seq'::pg_catalog.regclass)`;
  const readSql = `SELECT collection::text, item::text, comment FROM ${comments} WHERE id = ANY ($1::uuid[])`;
  const recordSql = `WITH made AS MATERIALIZED (
  SELECT id, collection, item, comment, ${number}::integer AS activity FROM ${comments} WHERE id = ANY ($1::uuid[])
), logged AS (
  INSERT INTO ${activity} (id, action, "user", ip, user_agent, origin, collection, item, comment)
  SELECT activity, 'comment', $2::uuid, pg_catalog."left"($3::text, 50), pg_catalog."left"($4::text, 255),
    pg_catalog."left"($5::text, 255), collection, item, comment FROM made
)
UPDATE ${comments} AS c SET user_created = $2::uuid, activity = made.activity FROM made WHERE c.id = made.id
RETURNING ${transactionNumber}`;
  const changeSql = `WITH told AS (
  UPDATE ${activity} AS a SET comment = c.comment FROM ${comments} AS c
  WHERE c.id = ANY ($1::uuid[]) AND a.id = c.activity
)
UPDATE ${comments} SET date_updated = pg_catalog.now(), user_updated = $2::uuid WHERE id = ANY ($1::uuid[])
RETURNING ${transactionNumber}`;
  const rowsSql = `SELECT pg_catalog.array_agg(activity)::text FROM ${comments} WHERE id = ANY ($1::uuid[])`;
  const forgetSql = `DELETE FROM ${activity} WHERE id = ANY ($1::integer[]) RETURNING ${transactionNumber}`;
  return { read: readSql, record: recordSql, change: changeSql, rows: rowsSql, forget: forgetSql };
}

function mysqlStatements({ table, list }: MysqlTables): Statements {
  const comments = table('platform_comments');
  const activity = table('platform_activity');
  const named = `${comments} AS c JOIN ${list('$1[]', 'k')} ON c.id = k.v`;
  return {
    read: createScript(returnRows(`SELECT c.collection, c.item, c.comment FROM ${named}`)),
    // One by one: for several rows at once the server does not tell which got which number.
    record: createScript(
      each(
        1,
        run(
          `INSERT INTO ${activity} (action, "user", ip, user_agent, origin, collection, item, comment)
SELECT 'comment', $2, LEFT($3, 50), LEFT($4, 255), LEFT($5, 255), collection, item, comment
FROM ${comments} WHERE id = $each`,
          ['ran', 'found', 'number'],
        ),
        `UPDATE ${comments} SET user_created = $2, activity = $number WHERE id = $each`,
      ),
    ),
    change: createScript(
      `UPDATE ${activity} AS a JOIN ${comments} AS c ON a.id = c.activity JOIN ${list('$1[]', 'k')} ON c.id = k.v
SET a.comment = c.comment`,
      `UPDATE ${named} SET c.date_updated = NOW(6), c.user_updated = $2`,
    ),
    rows: createScript(returnRows(`SELECT CONCAT('{', GROUP_CONCAT(c.activity), '}') FROM ${named}`)),
    forget: createScript(`DELETE a FROM ${activity} AS a JOIN ${list('$1[]', 'k')} ON a.id = k.v`),
  };
}

/** Makes the hook of comments: their author must be able to read the item, and activity records them. */
export function createCommentHook({ place: location, planner, hear }: CommentHookOptions): SystemHook {
  const texts = byFamily(location, { postgres: postgresStatements, mysql: mysqlStatements });

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
