/** What writing comments means beyond their fields. Source: API specification, section 10.3. */
import { PlatformError } from '../errors.ts';
import type { Planner } from '../query/planner.ts';
import type { Sender } from '../write/job.ts';
import { allRows, firstRow } from '../write/own-rows.ts';
import { transactionNumber } from '../write/statement.ts';
import type { Running } from '../write/step.ts';
import { keyArray, type Warden } from '../write/warden.ts';
import { areReadable } from './are-readable.ts';

/** Told of comments that are new, before the transaction ends: their collections, items and texts. */
export type HearComments = (running: Running, comments: readonly Comment[]) => Promise<void>;

/** A comment as it was written. */
export interface Comment {
  readonly collection: string;
  /** Key in path form. */
  readonly item: string;
  readonly text: string;
}

/** What the warden works with; `schema` is quoted. */
export interface CommentWardenOptions {
  readonly schema: string;
  readonly planner: Planner;
  readonly hear: HearComments;
}

/** Makes the warden of comments: who writes one must be able to read its item, and activity tells of it. */
export function createCommentWarden({ schema, planner, hear }: CommentWardenOptions): Warden {
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

  async function run({ transaction }: Running, text: string, values: readonly (string | null)[]): Promise<void> {
    const row = await firstRow(transaction, text, values);
    if (row?.[0]) transaction.identify(row[0]);
  }

  async function record(running: Running, ids: string): Promise<void> {
    const rows = await allRows(running.transaction, readSql, [ids]);
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
    await run(running, recordSql, [ids, ...originOf(running.caller.user, running.sender)]);
    await hear(running, made);
  }

  return {
    async watch(running, { action, keys }) {
      if (action === 'create') return (made) => record(running, keyArray(made));
      if (keys === null) return null;
      const ids = keyArray(keys);
      if (action === 'update') return () => run(running, changeSql, [ids, running.caller.user]);
      const row = await firstRow(running.transaction, rowsSql, [ids]);
      const gone = row?.[0];
      return typeof gone === 'string' ? () => run(running, forgetSql, [gone]) : null;
    },
  };
}

function originOf(user: string | null, { ip, userAgent, origin }: Sender): readonly (string | null)[] {
  return [user, ip, userAgent, origin];
}
