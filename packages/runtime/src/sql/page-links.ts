/**
 * Far sides of many-to-many relations, read once for all rows of a page.
 *
 * Looking targets up parent by parent costs about as much per link as any other way while links are few. Beyond some thousands
 * of them per page it costs less to collect their keys, to read each target once, in the order of the keys, and to give the
 * targets back to their parents. A small table of targets may be read as a whole for that, which costs less still: there
 * the server chooses, and a wrong choice costs little.
 */

import { allOf, selectList, where } from '../dialects/fragment.ts';
import type { Condition, ManyToMany } from '../language/index.ts';
import { fieldOfColumn } from './cell.ts';
import { printCondition } from './condition.ts';
import { canLookUp } from './lookups.ts';
import { readable } from './readable.ts';
import { type Junction, joinJunction, type Reach } from './related.ts';
import type { Row } from './row.ts';
import type { RelationScope } from './scope.ts';

/** A page of rows that a statement reads first, under a name, and what it then reads for all of them. */
export interface PageOfRows {
  readonly name: string;
  readonly row: Row;
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
}

/** Follows an m2m from all rows of a page at once; undefined where only looking up row by row is sure to be cheap. */
export function reachFromPage(
  page: PageOfRows,
  relation: RelationScope,
  condition: Condition | undefined,
): PageReach | undefined {
  const { row } = page;
  const { descriptor } = relation;
  if (descriptor.kind !== 'm2m' || !canLookUp(row, descriptor) || !isPlainlyLinked(row, descriptor)) return undefined;
  const [near] = descriptor.near;
  const junction = joinJunction(row, descriptor);
  if (near === undefined || junction === undefined) return undefined;
  const found = [readable(junction.target), ...(condition ? [printCondition(junction.target, condition)] : [])];
  const joined = joinEitherWay(page, descriptor, near, junction, found);
  return { ...joined, links: [], own: [], junction: undefined, start: row.column(near.from) };
}

/** True if one column leads to the links, keys have one order, and nothing but the targets orders the lists. */
function isPlainlyLinked(row: Row, { target, near, far, sort }: ManyToMany): boolean {
  const { dialect } = row.statement;
  const targets = row.scope.collections.get(target)?.descriptor.fields ?? [];
  const starts = near.map(({ from }) => fieldOfColumn(row.collection.descriptor.fields, from)?.native);
  const keys = far.map(({ to }) => fieldOfColumn(targets, to)?.native);
  return sort === undefined && near.length === 1 && [...starts, ...keys].every(dialect.sortsAlike);
}

/** Bytes of a table that reads as fast as some thousands of rows by their keys. */
const smallBytes = 16_777_216;

/** Targets of all links by their keys, or, where their table is small, by any plan of the server. */
function joinEitherWay(
  page: PageOfRows,
  descriptor: ManyToMany,
  near: ManyToMany['near'][number],
  junction: Junction,
  found: readonly string[],
): Pick<PageReach, 'from' | 'target' | 'parent'> {
  const { alias, visible, far, target, table, targetAlias } = junction;
  const links = nameLinks(page, descriptor, near, junction);
  const small = nameSmall(page, table);
  const parent = freeName(target);
  const columns = new Set<string>();
  const from = (): string => {
    const keyed = joinTargets(links, descriptor, junction, found);
    const selected = selectList([`${links}.k AS ${parent}`, ...[...columns].map(keyed.target.column)]);
    const byKeys = `SELECT ${selected} FROM ${keyed.from()}${where(allOf([`NOT ${small}`, ...keyed.own]))}`;
    const all = selectList([`${alias}.${near.to} AS ${parent}`, ...[...columns].map(target.column)]);
    const predicates = [small, isOfPage(page, near, alias), ...visible, ...far, ...found];
    const joined = `SELECT ${all} FROM ${descriptor.junctionTable} ${alias}, ${table} ${targetAlias}${where(allOf(predicates))}`;
    return `(${byKeys} UNION ALL ${joined}) ${targetAlias}`;
  };
  const column = (quoted: string): string => {
    columns.add(quoted);
    return target.column(quoted);
  };
  return { from, target: { ...target, column }, parent: `${targetAlias}.${parent}` };
}

/** Names whether a table is small, without others that inherit from it. */
function nameSmall({ row, queries }: PageOfRows, table: string): string {
  const name = row.statement.alias();
  const size = `c.relkind = 'r' AND NOT c.relhassubclass AND pg_catalog.pg_relation_size(c.oid) <= ${smallBytes}`;
  const oid = `'${table.replaceAll("'", "''")}'::pg_catalog.regclass`;
  queries.push(`${name} AS MATERIALIZED (SELECT ${size} AS s FROM pg_catalog.pg_class c WHERE c.oid = ${oid})`);
  return `(SELECT ${name}.s FROM ${name})`;
}

/** A name for the key of the parent that no column of the target has. */
function freeName({ collection }: Row): string {
  let name = 'k';
  while (collection.descriptor.fields.some(({ column }) => column === `"${name}"`)) name += '_';
  return name;
}

/** The predicate of links of the page. */
function isOfPage({ name }: PageOfRows, near: ManyToMany['near'][number], alias: string): string {
  return `${alias}.${near.to} = ANY (ARRAY(SELECT ${name}.${near.from} FROM ${name}))`;
}

/** Names the links of all rows of the page: `k` leads to the row, `f0` and so on to the target. */
function nameLinks(
  page: PageOfRows,
  { junctionTable, far }: ManyToMany,
  near: ManyToMany['near'][number],
  { alias, visible }: Junction,
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
  { far }: ManyToMany,
  { target, table, targetAlias }: Junction,
  found: readonly string[],
): Pick<Reach, 'from' | 'target' | 'own'> {
  const on = far.map(({ to }, index) => `${targetAlias}.${to} = ${links}.f${index}`);
  const [key] = far;
  if (key === undefined || far.length > 1) {
    return { from: () => `${links}, ${table} ${targetAlias}`, target, own: [...on, ...found] };
  }
  const columns = new Set([key.to]);
  const sought = `${targetAlias}.${key.to} = ANY (ARRAY(SELECT ${links}.f0 FROM ${links}))`;
  const from = (): string => {
    const selected = selectList([...columns].map(target.column));
    const rows = `SELECT ${selected} FROM ${table} ${targetAlias}${where(allOf([sought, ...found]))}`;
    return `${links} FULL JOIN (${rows}${target.statement.dialect.fence}) ${targetAlias} ON ${on.join(' AND ')}`;
  };
  const column = (quoted: string): string => {
    columns.add(quoted);
    return target.column(quoted);
  };
  // The server would see through IS NOT NULL, and join by a loop after all.
  const isThere = `CASE WHEN ${targetAlias}.${key.to} IS NULL THEN FALSE ELSE TRUE END`;
  return { from, target: { ...target, column }, own: [isThere] };
}
