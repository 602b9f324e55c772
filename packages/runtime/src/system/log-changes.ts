/** Activity and revisions of any number of changes as one statement, to run in the transaction that makes them. */
import { isDeepStrictEqual } from 'node:util';
import type { CollectionDescriptor, JsonValue } from '../language/index.ts';
import { isSecret } from '../language/types/index.ts';

export interface ChangeOrigin {
  /** Key of the user; null for an anonymous caller. */
  readonly user: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
  /** The header of that name. */
  readonly origin: string | null;
}

/** An item by API names, in the forms of the API. */
type LoggedItem = Readonly<Record<string, JsonValue>>;

interface Revision {
  /** The whole item after it. */
  readonly data: LoggedItem;
  /** The fields that it changed, as they are after it. */
  readonly delta: LoggedItem;
}

export interface LoggedChange {
  readonly action: 'create' | 'update' | 'delete' | 'archive' | 'revert' | 'upload' | 'call';
  readonly collection: string;
  /** Key in path form. */
  readonly item: string;
  /** Null for a deleted item, and if the collection's accountability asks for activity alone. */
  readonly revision: Revision | null;
  /** Position in the list of the change that this one was nested in; null for the item of the request. */
  readonly parent: number | null;
}

/** Returns the recorded part of a change: everything but secret fields. `before` is null for a created item. */
export function revisionOf(
  { fields }: Pick<CollectionDescriptor, 'fields'>,
  before: LoggedItem | null,
  after: LoggedItem,
): Revision {
  const secret = new Set(fields.filter(({ type }) => isSecret(type)).map(({ name }) => name));
  const shown = Object.entries(after).filter(([name]) => !secret.has(name));
  const changed = shown.filter(([name, value]) => before === null || !isDeepStrictEqual(before[name], value));
  return { data: Object.fromEntries(shown), delta: Object.fromEntries(changed) };
}

/**
 * Prints the statement that logs the changes, in their order. Its text depends on the schema alone (quoted, as
 * `systemSchemaOf` returns it); it returns no rows.
 *
 * Texts that are longer than their columns are cut: a log must never make a change fail.
 */
export function logChanges(schema: string, origin: ChangeOrigin, changes: readonly LoggedChange[]) {
  const rows = changes.map(({ action, collection, item, revision, parent }) => ({
    action,
    collection,
    item,
    data: revision?.data ?? null,
    delta: revision?.delta ?? null,
    parent: parent === null ? null : parent + 1,
  }));
  const { user, ip, userAgent, origin: page } = origin;
  return { text: logSql(schema), parameters: [JSON.stringify(rows), user, ip, userAgent, page] };
}

/** Numbers are given out first, because rows that an INSERT returns are in no promised order. */
function logSql(schema: string): string {
  const next = (table: string): string =>
    `pg_catalog.nextval('${schema.replaceAll("'", "''")}.${table}_id_seq'::pg_catalog.regclass)::integer`;
  return `WITH change AS MATERIALIZED (
  SELECT c.*, ${next('platform_activity')} AS activity,
    CASE WHEN c.data IS NOT NULL THEN ${next('platform_revisions')} END AS revision
  FROM ROWS FROM (pg_catalog.json_to_recordset($1::json)
    AS (action text, collection text, item text, data json, delta json, parent integer)) WITH ORDINALITY
    AS c(action, collection, item, data, delta, parent, place)
), logged AS (
  INSERT INTO ${schema}.platform_activity (id, action, "user", ip, user_agent, origin, collection, item)
  SELECT activity, action, $2::uuid, pg_catalog."left"($3::text, 50), pg_catalog."left"($4::text, 255),
    pg_catalog."left"($5::text, 255), pg_catalog."left"(collection, 64), pg_catalog."left"(item, 255)
  FROM change
)
INSERT INTO ${schema}.platform_revisions (id, activity, collection, item, data, delta, parent)
SELECT c.revision, c.activity, pg_catalog."left"(c.collection, 64), pg_catalog."left"(c.item, 255), c.data, c.delta,
  p.revision
FROM change AS c
LEFT JOIN change AS p ON p.place = c.parent
WHERE c.revision IS NOT NULL`;
}
