/**
 * Stored items below items whose children a payload changes: those to remove, those that are there, and the last in
 * order.
 */

import type { SqlDialect } from '../../../dialects/index.ts';
import { readElements, readPlaces, readRows } from '../../../sql/array-text.ts';
import { type CollectionScope, keyFields } from '../../../sql/scope.ts';
import type { WriteScope } from '../../access/scope.ts';
import type { Running } from '../../execute/running.ts';
import { selectLocked } from '../../plan/locked-rows.ts';
import type { KeyTexts } from '../parse/group.ts';
import {
  ask,
  columnInput,
  columnsEqual,
  columnText,
  goneKeys,
  inputRows,
  keyEqual,
  keyInput,
  type Question,
  startQuestion,
  visibleRow,
} from './stored.ts';

/** Items above, and what payloads say of those below. */
interface ChildrenQuery {
  readonly collection: CollectionScope;
  /** Quoted columns that hold the key of the item above. */
  readonly columns: readonly string[];
  readonly owners: readonly { readonly values: KeyTexts; readonly complete: boolean }[];
  /** Keys of items that stay, or come. */
  readonly kept: readonly { readonly key: KeyTexts; readonly owner: KeyTexts }[];
  readonly removed: readonly { readonly key: KeyTexts; readonly owner: KeyTexts }[];
  /** Quoted column of the sort field. */
  readonly sort: string | undefined;
}

/** Result of `inspectChildren`. */
export interface Inspected {
  /** Keys of items that are to go. */
  readonly gone: readonly KeyTexts[];
  /** How many of `removed` there are. */
  readonly removed: number;
  /** The highest position in order, by the items above. */
  readonly last: readonly bigint[];
  /** The position in order of items that are below the same item already, by their positions in `kept`. */
  readonly there: ReadonlyMap<number, string | null>;
}

/**
 * Looks at the children of items, and locks those that are to go. A child that has been moved elsewhere by the time of
 * the lock is not among them. Items that the caller cannot read stay.
 */
export async function inspectChildren(
  running: Running,
  scope: WriteScope,
  requested: ChildrenQuery,
): Promise<Inspected> {
  const question = startQuestion(running.dialect);
  const row = await ask(running, question, childrenSql(running.dialect, question, scope, requested));
  const [count, highest, places, orders, ...keys] = row;
  const sorted = readElements(orders);
  return {
    gone: readRows(keys),
    removed: Number(count),
    last: readElements(highest).map((text) => BigInt(text ?? 0)),
    there: new Map(readPlaces(places).map((position, index) => [position, sorted[index] ?? null])),
  };
}

function childrenSql(dialect: SqlDialect, question: Question, scope: WriteScope, requested: ChildrenQuery): string {
  const { collection, columns, owners, kept, removed, sort } = requested;
  const { count: counted, collectedArray: arrayOf, join } = dialect.input;
  const order = sort === undefined ? 'NULL' : `c.${sort}`;
  const values = owners.map((owner) => owner.values);
  const flags = { name: 'c', native: 'pg_catalog.bool', values: owners.map(({ complete }) => String(complete)) };
  const above = inputRows(question, [...columnInput(collection, columns, values, 'f'), flags], 'o');
  const below = columnsEqual(dialect, collection, columns, 'c', 'o', 'f');
  const listed = (items: ChildrenQuery['kept'], alias: string): string => listedRows(question, requested, items, alias);
  const table = question.statement.table(collection.descriptor.table);
  const seen = visibleRow(question, scope, collection.descriptor.name, 'c');
  const stays = `EXISTS (SELECT 1 FROM ${listed(kept, 'i')} WHERE ${keyEqual(dialect, collection, 'c', 'i')})`;
  const keys = keyFields(collection.descriptor).map(({ column }) => columnText(collection, column, 'c'));
  const gone = selectLocked(dialect, {
    descriptor: collection.descriptor,
    selected: keys.map((key, part) => `${key} AS k${part}`).join(', '),
    from: `${above}${join}${table} AS c ON ${below}`,
    rows: `o.c AND ${seen} AND NOT ${stays}`,
    alias: 'c',
    keys,
    lock: 'UPDATE',
  });
  const away = selectLocked(dialect, {
    descriptor: collection.descriptor,
    selected: '1',
    from: `${listed(removed, 'i')}${join}${table} AS c ON ${keyEqual(dialect, collection, 'c', 'i')} AND ${columnsEqual(dialect, collection, columns, 'c', 'i', 'f')}`,
    rows: seen,
    alias: 'c',
    keys,
    lock: 'UPDATE',
  });
  const last = `SELECT ${arrayOf({ value: 'm', order: 'n' })} FROM (SELECT o.n, ${dialect.aggregate('max', order, null)} AS m FROM ${above} LEFT JOIN ${table} AS c ON ${below} GROUP BY o.n) l`;
  const there = `SELECT i.n, ${order} AS s FROM ${listed(kept, 'i')}${join}${table} AS c ON ${keyEqual(dialect, collection, 'c', 'i')} AND ${columnsEqual(dialect, collection, columns, 'c', 'i', 'f')}`;
  const selected = [
    `(SELECT ${counted()} FROM away)`,
    sort === undefined ? 'NULL' : `(${last})`,
    `(SELECT ${arrayOf({ value: 'n', order: 'n' })} FROM there)`,
    `(SELECT ${arrayOf({ value: 's', order: 'n' })} FROM there)`,
    ...goneKeys(dialect, collection),
  ];
  return `WITH gone AS (${gone}), away AS (${away}), there AS (${there}) SELECT ${selected.join(', ')}`;
}

/** Items below, with their keys and those of the items above. */
function listedRows(
  question: Question,
  { collection, columns }: ChildrenQuery,
  items: ChildrenQuery['kept'],
  alias: string,
): string {
  const keys = items.map(({ key }) => key);
  const owners = items.map(({ owner }) => owner);
  return inputRows(question, [...keyInput(collection, keys), ...columnInput(collection, columns, owners, 'f')], alias);
}
