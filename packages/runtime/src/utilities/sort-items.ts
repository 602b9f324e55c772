/** Moving an item to the place of another one. Source: API specification, section 13, `/utils/sort`. */
import type { FieldDescriptor, JsonValue } from '../contract/index.ts';
import type { Transaction } from '../database/database.ts';
import { PlatformError } from '../errors.ts';
import { sentKeys } from '../extensions/keys.ts';
import { parseKeySegment } from '../query/keys.ts';
import { keyFields } from '../query/plan-order.ts';
import type { CollectionScope } from '../query/scope.ts';
import { allRows } from '../write/own-rows.ts';

/** What is moved where: keys in path form. */
export interface Move {
  readonly item: string;
  readonly to: string;
}

/** Serialises moves in one collection: each of two would shift the rows that it found. */
const lockSql =
  'SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 0))::pg_catalog.text';

/** The sort field of a collection. Throws INVALID_PAYLOAD where it has none. */
export function sortFieldOf({ descriptor }: CollectionScope): FieldDescriptor {
  const field = descriptor.fields.find(({ name }) => name === descriptor.sort);
  if (field === undefined || !field.writable) {
    throw new PlatformError('INVALID_PAYLOAD', 'The collection has no sort field.');
  }
  return field;
}

/**
 * The changes that move an item, as items with their keys and new positions: the two that the request names, the rows
 * between them, and those that had no position, which come last in the order of their keys. Throws FORBIDDEN for keys that
 * do not exist.
 */
export async function planMove(
  transaction: Transaction,
  collection: CollectionScope,
  { item, to }: Move,
): Promise<readonly Readonly<Record<string, JsonValue>>[]> {
  const { descriptor } = collection;
  const keys = keyFields(descriptor);
  await allRows(transaction, lockSql, [`platform.sort ${descriptor.name}`]);
  const rows = await allRows(transaction, moveSql(collection, sortFieldOf(collection)), [
    ...parseKeySegment(collection, item),
    ...parseKeySegment(collection, to),
  ]);
  if (rows.length === 0) throw new PlatformError('FORBIDDEN');
  return rows.map((row) => {
    const values = row.slice(0, keys.length).map((value) => value ?? '');
    const [key = null] = sentKeys(descriptor, { count: 1, many: false, values });
    const position = Number(row[keys.length]);
    const named = keys.length === 1 ? [[keys[0]?.name ?? '', key]] : Object.entries(partsOf(key));
    return { ...Object.fromEntries(named), [descriptor.sort ?? '']: position };
  });
}

function partsOf(key: JsonValue): Readonly<Record<string, JsonValue>> {
  return typeof key === 'object' && key !== null && !Array.isArray(key) ? Object.fromEntries(Object.entries(key)) : {};
}

/** Rows of the key's parts and the position, of everything that changes and of the two items in any case. */
function moveSql({ descriptor }: CollectionScope, { column }: FieldDescriptor): string {
  const keys = keyFields(descriptor);
  const names = keys.map((_, place) => `k${place}`);
  const columns = keys.map((key, place) => `t.${key.column} AS k${place}`).join(', ');
  const is = (first: number): string =>
    keys.map((key, place) => `k${place} = $${first + place}::${key.native}`).join(' AND ');
  return `WITH placed AS (
  SELECT ${columns}, t.${column} AS was, COALESCE(t.${column}, (SELECT COALESCE(pg_catalog.max(m.${column}), 0) FROM ${descriptor.table} AS m)
    + pg_catalog.row_number() OVER (PARTITION BY t.${column} IS NULL ORDER BY ${keys.map((key) => `t.${key.column}`).join(', ')})) AS place
  FROM ${descriptor.table} AS t
), ends AS (
  SELECT (SELECT place FROM placed WHERE ${is(1)}) AS start, (SELECT place FROM placed WHERE ${is(1 + keys.length)}) AS target
), moved AS (
  SELECT p.*, (${is(1)}) OR (${is(1 + keys.length)}) AS named, CASE
    WHEN ${is(1)} THEN e.target
    WHEN e.start < e.target AND p.place > e.start AND p.place <= e.target THEN p.place - 1
    WHEN e.start > e.target AND p.place < e.start AND p.place >= e.target THEN p.place + 1
    ELSE p.place END AS becomes
  FROM placed AS p, ends AS e WHERE e.start IS NOT NULL AND e.target IS NOT NULL
)
SELECT ${names.map((name) => `${name}::pg_catalog.text`).join(', ')}, becomes::pg_catalog.text FROM moved
WHERE named OR was IS DISTINCT FROM becomes ORDER BY becomes`;
}
