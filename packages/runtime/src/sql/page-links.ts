/**
 * Far sides of many-to-many relations, read once for all rows of a page.
 *
 * Looking targets up parent by parent costs about as much per link as any other way while links are few. Beyond some thousands
 * of them per page it costs less to collect their keys, to read each target once, in the order of the keys, and to give the
 * targets back to their parents.
 */
import type { Condition, ManyToMany } from '../language/index.ts';
import type { RelationScope } from '../query/scope.ts';
import { fieldOfColumn } from './cell.ts';
import { printCondition } from './condition.ts';
import { allOf, selectList, where } from './fragment.ts';
import { canLookUp } from './lookups.ts';
import { type Junction, joinJunction, type Reach } from './related.ts';
import type { Row } from './row.ts';
import { readable } from './rules.ts';

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
  const links = nameLinks(page, descriptor, near, junction);
  const found = [readable(junction.target), ...(condition ? [printCondition(junction.target, condition)] : [])];
  const joined = joinTargets(links, descriptor, junction, found);
  return { ...joined, links: [], junction: undefined, parent: `${links}.k`, start: row.column(near.from) };
}

/** True if one column leads to the links, keys have one order, and nothing but the targets orders the lists. */
function isPlainlyLinked(row: Row, { target, near, far, sort }: ManyToMany): boolean {
  const { dialect } = row.statement;
  const targets = row.scope.collections.get(target)?.descriptor.fields ?? [];
  const starts = near.map(({ from }) => fieldOfColumn(row.collection.descriptor.fields, from)?.native);
  const keys = far.map(({ to }) => fieldOfColumn(targets, to)?.native);
  return sort === undefined && near.length === 1 && [...starts, ...keys].every(dialect.sortsAlike);
}

/** Names the links of all rows of the page: `k` leads to the row, `f0` and so on to the target. */
function nameLinks(
  { name: page, row, queries }: PageOfRows,
  { junctionTable, far }: ManyToMany,
  near: ManyToMany['near'][number],
  { alias, visible }: Junction,
): string {
  const name = row.statement.alias();
  const columns = [`${alias}.${near.to} AS k`, ...far.map(({ from }, index) => `${alias}.${from} AS f${index}`)];
  const predicate = `${alias}.${near.to} = ANY (ARRAY(SELECT ${page}.${near.from} FROM ${page}))`;
  const rows = `${junctionTable} ${alias}${where(allOf([predicate, ...visible]))}`;
  queries.push(`${name} AS MATERIALIZED (SELECT ${selectList(columns)} FROM ${rows})`);
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
