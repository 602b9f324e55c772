/**
 * Far sides of many-to-many relations, read once for all rows of a page.
 *
 * Looking targets up parent by parent costs about as much per link as any other way while links are few. Beyond some
 * thousands of them per page it costs less to collect their keys. Each target is then read once, in the order of the
 * keys, and given back to its parents. Where most of a small table is linked, reading it as a whole costs less still.
 */
import { allOf, type OrderedTerm, orderBy, selectList, sqlTrue, where } from '../dialects/fragment.ts';
import type { Condition, ManyToMany } from '../language/index.ts';
import { equality } from '../language/operators/equality.ts';
import { membership } from '../language/operators/membership.ts';
import { between, order } from '../language/operators/order.ts';
import { presence } from '../language/operators/presence.ts';
import { fieldOfColumn } from './cell.ts';
import { printCondition } from './condition.ts';
import { canLookUp } from './lookups.ts';
import { readable } from './readable.ts';
import { type Junction, joinJunction, type Reach } from './related.ts';
import { type Row, selectColumns } from './row.ts';
import type { RelationScope } from './scope.ts';

/** A page of rows that a statement reads first, under a name, and what it then reads for all of them. */
export interface PageOfRows {
  readonly name: string;
  readonly row: Row;
  /** Way to the targets of links: the keys of all links, or their whole table. */
  readonly targets: 'keys' | 'whole';
  /** Tables of the targets, as SQL names them. */
  readonly tables: string[];
  /** Named queries after the page, in the order in which they need each other. */
  readonly queries: string[];
  /** Joins that bring their results to the rows of the page. */
  readonly joins: string[];
}

/** All targets of a page, each beside the key of the row that leads to it. */
export interface PageReach extends Reach {
  readonly parent: string;
  /** The same key on a row of the page. */
  readonly start: string;
  /** Predicate of the links of the page; where their keys are collected first there are no others. */
  readonly ofPage: string;
  /** Narrows the targets to the first ones of each row, and few more. Undefined where their keys are collected first. */
  readonly narrow?: (order: Order, count: number) => Narrowed | undefined;
}

/** Order by a column of the targets. */
interface Order extends Pick<OrderedTerm, 'direction'> {
  readonly column: string;
}

/** A named query to join, and the predicate that replaces `ofPage` then. */
export type Narrowed = ReturnType<typeof nameLasts>;

/** Follows an m2m from all rows of a page at once; undefined where only looking up row by row is sure to be cheap. */
export function reachFromPage(
  page: PageOfRows,
  relation: RelationScope,
  condition: Condition | undefined,
): PageReach | undefined {
  const { row } = page;
  const { descriptor } = relation;
  if (descriptor.kind !== 'm2m' || !canLookUp(row, descriptor) || !isPlainlyLinked(row, descriptor)) return undefined;
  const links = joinLinks(row, descriptor, relation, condition);
  if (links === undefined) return undefined;
  const { near, junction } = links;
  if (page.targets === 'whole' && !isCheap(junction, condition)) return undefined;
  page.tables.push(junction.table);
  const reached = { links: [], junction: undefined, start: row.column(near.from) };
  if (page.targets === 'keys') return { ...reached, ...joinByKeys(page, links) };
  const narrow: PageReach['narrow'] = (order, count) => {
    const sample = joinLinks(row, descriptor, relation, condition);
    return sample && nameLasts(page, links, sample, order, count);
  };
  return { ...reached, ...joinWhole(page, links), narrow };
}

/** An m2m with both its tables under names of their own, and the predicates that its targets have to meet. */
interface Links {
  readonly descriptor: ManyToMany;
  readonly near: ManyToMany['near'][number];
  readonly junction: Junction;
  readonly found: readonly string[];
}

function joinLinks(
  row: Row,
  descriptor: ManyToMany,
  relation: RelationScope,
  condition: Condition | undefined,
): Links | undefined {
  const [near] = descriptor.near;
  const junction = joinJunction(row, descriptor, relation);
  if (near === undefined || junction === undefined) return undefined;
  const { target } = junction;
  const found = [readable(target), ...(condition ? [printCondition(target, condition)] : [])];
  return { descriptor, near, junction, found };
}

/** True if one column leads to the links, keys have one order, and nothing but the targets orders the lists. */
function isPlainlyLinked(row: Row, { target, near, far, sort }: ManyToMany): boolean {
  const { dialect } = row.statement;
  const targets = row.scope.collections.get(target)?.descriptor.fields ?? [];
  const starts = near.map(({ from }) => fieldOfColumn(row.collection.descriptor.fields, from)?.native);
  const keys = far.map(({ to }) => fieldOfColumn(targets, to)?.native);
  return sort === undefined && near.length === 1 && [...starts, ...keys].every(dialect.sortsAlike);
}

type Joined = Pick<PageReach, 'from' | 'target' | 'own' | 'parent' | 'ofPage'>;

/** True if it takes little to ask all rows for a condition and the rules: both compare values of the row. */
function isCheap({ target, visible }: Junction, condition: Condition | undefined): boolean {
  const { rows, copies } = target.collection;
  const conditions = [...rows, ...(condition ? [condition] : [])];
  return allOf(visible) === sqlTrue && copies === undefined && conditions.every(comparesOnly);
}

const cheap: readonly string[] = [equality, order, between, membership, presence].flatMap(Object.keys);

function comparesOnly(condition: Condition): boolean {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.every(comparesOnly);
  return condition.kind === 'compare' && condition.path === undefined && cheap.includes(condition.operator);
}

/** Targets of all links by a plain join, for which the server may read their whole table. */
function joinWhole(page: PageOfRows, { descriptor, near, junction, found }: Links): Joined {
  const { alias, far, target, table, targetAlias } = junction;
  const from = (): string => `${descriptor.junctionTable} ${alias}, ${table} ${targetAlias}`;
  const ofPage = isOfPage(page, near, alias);
  return { from, target, own: [...far, ...found], parent: `${alias}.${near.to}`, ofPage };
}

/** Links of each row that tell where its first targets end: so many for each of these, and at least so many. */
const sampled = { each: 8, least: 32 };

/**
 * Names the last of the first targets that some links of each row lead to. None of its first targets comes later, so few of
 * a thousand are left to be sorted, which took a third of such a list. Rows with fewer targets, or nulls there, keep all.
 */
function nameLasts(
  { name: page, row, queries }: PageOfRows,
  { near, junction }: Links,
  { descriptor, junction: sample, found }: Links,
  { column, direction }: Order,
  count: number,
) {
  const { alias, target, table, targetAlias } = sample;
  const keys = selectList(descriptor.far.map(({ from }) => `${alias}.${from}`));
  const some = `SELECT ${keys} FROM ${descriptor.junctionTable} ${alias} WHERE ${alias}.${near.to} = ${page}.${near.from} LIMIT ${Math.max(sampled.least, sampled.each * count)}`;
  const order = orderBy([{ expression: target.column(column), direction }]);
  const last = `SELECT ${target.column(column)} FROM (${some}) ${alias}, ${table} ${targetAlias}${where(allOf([...sample.far, ...found]))}${order} LIMIT 1 OFFSET ${count - 1}`;
  const name = row.statement.alias();
  queries.push(`${name} AS MATERIALIZED (SELECT ${page}.${near.from} AS k, (${last}) AS l FROM ${page})`);
  const isFirst = `(${junction.target.column(column)} ${direction === '' ? '<=' : '>='} ${name}.l) IS NOT FALSE`;
  return { name, ofPage: `${junction.alias}.${near.to} = ${name}.k AND ${isFirst}` };
}

function joinByKeys(page: PageOfRows, links: Links): Joined {
  const name = nameLinks(page, links);
  return { ...joinTargets(name, links), parent: `${name}.k`, ofPage: sqlTrue };
}

function isOfPage({ name }: PageOfRows, near: ManyToMany['near'][number], alias: string): string {
  return `${alias}.${near.to} = ANY (ARRAY(SELECT ${name}.${near.from} FROM ${name}))`;
}

/** Names the links of all rows of the page: `k` leads to the row, `f0` and so on to the target. */
function nameLinks(
  page: PageOfRows,
  { descriptor: { junctionTable, far }, near, junction: { alias, visible } }: Links,
): string {
  const name = page.row.statement.alias();
  const columns = [`${alias}.${near.to} AS k`, ...far.map(({ from }, index) => `${alias}.${from} AS f${index}`)];
  const rows = `${junctionTable} ${alias}${where(allOf([isOfPage(page, near, alias), ...visible]))}`;
  page.queries.push(`${name} AS MATERIALIZED (SELECT ${selectList(columns)} FROM ${rows})`);
  return name;
}

/**
 * Targets by the keys of all links. One key column is sought with all keys at once, and the targets found are joined in full.
 * The server expects ten targets of any array, and might loop over all of them for each link. A full join rules
 * that out. The server chooses the join of several columns, because no array holds them.
 */
function joinTargets(
  links: string,
  { descriptor: { far }, junction, found }: Links,
): Pick<Reach, 'from' | 'target' | 'own'> {
  const { target, table, targetAlias } = junction;
  const on = far.map(({ to }, index) => `${targetAlias}.${to} = ${links}.f${index}`);
  const [key] = far;
  if (key === undefined || far.length > 1) {
    return { from: () => `${links}, ${table} ${targetAlias}`, target, own: [...on, ...found] };
  }
  const sought = `${targetAlias}.${key.to} = ANY (ARRAY(SELECT ${links}.f0 FROM ${links}))`;
  const targets = fenceTargets(junction, far, [sought, ...found]);
  const from = (): string => `${links} FULL JOIN ${targets.from()} ON ${on.join(' AND ')}`;
  // The server would see through IS NOT NULL, and join by a loop after all.
  const isThere = `CASE WHEN ${targetAlias}.${key.to} IS NULL THEN FALSE ELSE TRUE END`;
  return { from, target: targets.target, own: [isThere] };
}

/** Targets that meet predicates, with their keys and the columns asked for, read before anything is joined to them. */
function fenceTargets(
  { target, table, targetAlias }: Junction,
  far: ManyToMany['far'],
  predicates: readonly string[],
): Pick<Reach, 'from' | 'target'> {
  const columns = new Set(far.map(({ to }) => to));
  const from = (): string => {
    const selected = selectList(selectColumns(target, columns));
    const { fence } = target.statement.dialect;
    return `(SELECT ${selected} FROM ${table} ${targetAlias}${where(allOf(predicates))}${fence}) ${targetAlias}`;
  };
  const column = (quoted: string): string => {
    columns.add(quoted);
    return `${targetAlias}.${quoted}`;
  };
  return { from, target: { ...target, column } };
}
