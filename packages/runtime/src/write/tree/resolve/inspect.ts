/**
 * Stored items below items, and rows of junctions, whose related items a payload changes. Found are those to remove, those
 * that are there, and the last in order.
 */
import { allOf } from '../../../dialects/fragment.ts';
import type { SqlDialect } from '../../../dialects/index.ts';
import type { Condition, ManyToMany } from '../../../language/index.ts';
import { readElements, readPlaces, readRows } from '../../../sql/array-text.ts';
import { readable } from '../../../sql/readable.ts';
import { tableRow } from '../../../sql/row.ts';
import { ruleHolds } from '../../../sql/rules.ts';
import { type CollectionScope, keyFields } from '../../../sql/scope.ts';
import type { WriteScope } from '../../access/scope.ts';
import type { Running } from '../../execute/running.ts';
import { selectLocked } from '../../plan/plan-update.ts';
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

export interface Inspected {
  /** Keys of items that are to go. */
  readonly gone: readonly KeyTexts[];
  readonly removed: number;
  /** The highest position in order, by the items above. */
  readonly last: readonly bigint[];
  /** The position in order of items that are below the same item already, by their positions in `kept`. */
  readonly there: ReadonlyMap<number, string | null>;
}

/** Looks at the children of items, and locks those that are to go: readable ones that have not been moved. */
export async function inspectChildren(running: Running, scope: WriteScope, query: ChildrenQuery): Promise<Inspected> {
  const question = startQuestion(running.dialect);
  const row = await ask(running, question, childrenSql(running.dialect, question, scope, query));
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
    `(SELECT ${counted()} FROM platform_away)`,
    sort === undefined ? 'NULL' : `(${last})`,
    `(SELECT ${arrayOf({ value: 'n', order: 'n' })} FROM platform_there)`,
    `(SELECT ${arrayOf({ value: 's', order: 'n' })} FROM platform_there)`,
    ...goneKeys(dialect, collection),
  ];
  return `WITH platform_gone AS (${gone}), platform_away AS (${away}), platform_there AS (${there}) SELECT ${selected.join(', ')}`;
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

/** Items above, and those below that are to go. */
interface StayingQuery extends Pick<ChildrenQuery, 'collection' | 'columns'> {
  readonly owners: readonly KeyTexts[];
  readonly gone: readonly KeyTexts[];
}

/** Finds items that stay below others and meet a condition, rules apart: the place of the item above, for each. */
export async function findStaying(
  running: Running,
  { open }: WriteScope,
  { collection, columns, owners, gone }: StayingQuery,
  where: Condition,
): Promise<readonly number[]> {
  const { dialect } = running;
  const { collectedArray, join } = dialect.input;
  const question = startQuestion(dialect);
  const { statement } = question;
  const above = inputRows(question, columnInput(collection, columns, owners, 'a'), 'o');
  const going = inputRows(question, keyInput(collection, gone), 'd');
  const row = tableRow(statement, open, collection, 't');
  const isGoing = `EXISTS (SELECT 1 FROM ${going} WHERE ${keyEqual(dialect, collection, 't', 'd')})`;
  const staying = allOf([readable(row), ruleHolds(row, where), `NOT ${isGoing}`]);
  const table = `${statement.table(collection.descriptor.table)} AS t`;
  const from = `${above}${join}${table} ON ${columnsEqual(dialect, collection, columns, 't', 'o', 'a')}`;
  const text = `SELECT ${collectedArray({ value: 'o.n' })} FROM ${from} WHERE ${staying}`;
  const [places = null] = await ask(running, question, text);
  return readPlaces(places);
}

/** One pair of the junction: values of its columns for the owner, and for the target. */
export interface Pair {
  readonly near: KeyTexts;
  readonly far: KeyTexts;
}

/** Items above, and what payloads say of their targets. */
interface TargetsQuery {
  readonly relation: ManyToMany;
  readonly junction: CollectionScope;
  readonly target: CollectionScope;
  readonly owners: readonly { readonly values: KeyTexts; readonly complete: boolean }[];
  readonly pairs: readonly Pair[];
  readonly removed: readonly { readonly near: KeyTexts; readonly key: KeyTexts }[];
  /** Quoted column of the junction's sort field. */
  readonly sort: string | undefined;
}

export interface InspectedTargets {
  /** Places of pairs that there are. */
  readonly there: ReadonlySet<number>;
  /** Keys of junction rows that are to go. */
  readonly gone: readonly KeyTexts[];
  readonly removed: number;
  /** The highest position in order, by the items above. */
  readonly last: readonly bigint[];
}

/** Looks at the junction. Rows that lead to items which the caller cannot read stay. */
export async function inspectTargets(
  running: Running,
  scope: WriteScope,
  requested: TargetsQuery,
): Promise<InspectedTargets> {
  const question = startQuestion(running.dialect);
  const row = await ask(running, question, targetsSql(running.dialect, question, scope, requested));
  const [there, highest, count, ...keys] = row;
  return {
    there: new Set(readPlaces(there)),
    gone: readRows(keys),
    removed: Number(count),
    last: readElements(highest).map((text) => BigInt(text ?? 0)),
  };
}

function targetsSql(dialect: SqlDialect, question: Question, scope: WriteScope, requested: TargetsQuery): string {
  const { relation, junction, target, owners, pairs, removed, sort } = requested;
  const near = relation.near.map(({ to }) => to);
  const far = relation.far.map(({ from }) => from);
  const { count: counted, collectedArray: arrayOf, join } = dialect.input;
  const { statement } = question;
  const nearInput = (rows: readonly KeyTexts[]) => columnInput(junction, near, rows, 'a');
  const flags = { name: 'c', native: 'pg_catalog.bool', values: owners.map(({ complete }) => String(complete)) };
  const above = inputRows(question, [...nearInput(owners.map(({ values }) => values)), flags], 'o');
  const farValues = pairs.map((pair) => pair.far);
  const pairInput = [...nearInput(pairs.map((pair) => pair.near)), ...columnInput(junction, far, farValues, 'b')];
  const listed = inputRows(question, pairInput, 'i');
  const unwanted = (): string => {
    const keys = removed.map(({ key }) => key);
    return inputRows(question, [...nearInput(removed.map((pair) => pair.near)), ...keyInput(target, keys)], 'd');
  };
  const rows = `${statement.table(relation.junctionTable)} AS j`;
  const joined = targetJoin(requested);
  const seen = allOf([
    visibleRow(question, scope, relation.target, 't'),
    visibleRow(question, scope, relation.junction, 'j'),
  ]);
  const same = `${columnsEqual(dialect, junction, near, 'j', 'i', 'a')} AND ${columnsEqual(dialect, junction, far, 'j', 'i', 'b')}`;
  const keys = keyFields(junction.descriptor).map(({ column }) => columnText(junction, column, 'j'));
  const isListed = `EXISTS (SELECT 1 FROM ${listed} WHERE ${same})`;
  const isUnwanted =
    removed.length === 0
      ? 'FALSE'
      : `EXISTS (SELECT 1 FROM ${unwanted()} WHERE ${columnsEqual(dialect, junction, near, 'j', 'd', 'a')} AND ${keyEqual(dialect, target, 't', 'd')})`;
  const gone = selectLocked(dialect, {
    descriptor: junction.descriptor,
    selected: [...keys.map((key, part) => `${key} AS k${part}`), `${isUnwanted} AS u`].join(', '),
    from: `${above}${join}${rows} ON ${columnsEqual(dialect, junction, near, 'j', 'o', 'a')}${join}${statement.table(target.descriptor.table)} AS t ON ${joined}`,
    rows: `${seen} AND NOT ${isListed} AND (o.c OR ${isUnwanted})`,
    alias: 'j',
    keys,
    lock: 'UPDATE',
  });
  const order = sort === undefined ? 'NULL' : dialect.aggregate('max', `j.${sort}`, null);
  const last = `SELECT ${arrayOf({ value: 'm', order: 'n' })} FROM (SELECT o.n, ${order} AS m FROM ${above} LEFT JOIN ${rows} ON ${columnsEqual(dialect, junction, near, 'j', 'o', 'a')} GROUP BY o.n) l`;
  const selected = [
    `(SELECT ${arrayOf({ value: 'i.n' })} FROM ${listed}${join}${rows} ON ${same})`,
    sort === undefined ? 'NULL' : `(${last})`,
    `(SELECT ${counted('u')} FROM platform_gone)`,
    ...goneKeys(dialect, junction),
  ];
  return `WITH platform_gone AS (${gone}) SELECT ${selected.join(', ')}`;
}

/** SQL condition that a row of the junction, `j`, leads to a target, `t`. */
function targetJoin({ relation, junction, target }: Pick<TargetsQuery, 'relation' | 'junction' | 'target'>): string {
  const equal = relation.far.map(
    ({ from, to }) => `${columnText(target, to, 't')} = ${columnText(junction, from, 'j')}`,
  );
  return equal.join(' AND ');
}

/** Links as they will be: of owners without those that are to go, and new pairs. */
interface LinksQuery extends Pick<TargetsQuery, 'relation' | 'junction' | 'target' | 'pairs'> {
  readonly owners: readonly KeyTexts[];
  readonly gone: readonly KeyTexts[];
}

/** Finds links whose targets meet a condition, rules apart: the places of their owners, and of new pairs. */
export async function findMeeting(
  running: Running,
  { open }: WriteScope,
  query: LinksQuery,
  where: Condition,
): Promise<{ readonly owners: readonly number[]; readonly pairs: readonly number[] }> {
  const { relation, junction, target, owners, pairs, gone } = query;
  const { dialect } = running;
  const { collectedArray, join } = dialect.input;
  const question = startQuestion(dialect);
  const { statement } = question;
  const near = relation.near.map(({ to }) => to);
  const far = relation.far.map(({ to }) => to);
  const above = inputRows(question, columnInput(junction, near, owners, 'a'), 'o');
  const going = inputRows(question, keyInput(junction, gone), 'd');
  const listed = inputRows(
    question,
    columnInput(
      target,
      far,
      pairs.map((pair) => pair.far),
      'b',
    ),
    'i',
  );
  const row = tableRow(statement, open, target, 't');
  const meets = allOf([readable(row), ruleHolds(row, where)]);
  const stays = allOf([
    readable(tableRow(statement, open, junction, 'j')),
    `NOT EXISTS (SELECT 1 FROM ${going} WHERE ${keyEqual(dialect, junction, 'j', 'd')})`,
  ]);
  const table = `${statement.table(target.descriptor.table)} AS t`;
  const stored = `${above}${join}${statement.table(relation.junctionTable)} AS j ON ${columnsEqual(dialect, junction, near, 'j', 'o', 'a')}${join}${table} ON ${targetJoin(query)}`;
  const added = `${listed}${join}${table} ON ${columnsEqual(dialect, target, far, 't', 'i', 'b')}`;
  const found = [
    `(SELECT ${collectedArray({ value: 'o.n' })} FROM ${stored} WHERE ${stays} AND ${meets})`,
    `(SELECT ${collectedArray({ value: 'i.n' })} FROM ${added} WHERE ${meets})`,
  ];
  const [staying, coming] = await ask(running, question, `SELECT ${found.join(', ')}`);
  return { owners: readPlaces(staying), pairs: readPlaces(coming) };
}
