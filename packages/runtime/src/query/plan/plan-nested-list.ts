import { allOf, selectList, sqlTrue, where } from '../../dialects/fragment.ts';
import type { ManyToMany, RelationDescriptor } from '../../language/index.ts';
import type { PageOfRows } from '../../sql/page-links.ts';
import { joinsOf, type Reach } from '../../sql/related.ts';
import { computedColumns, type Row, tableRow } from '../../sql/row.ts';
import type { NestedAggregates, NestedOrders, NestedRead } from '../authorise/nested.ts';
import type { Selected } from '../authorise/selection.ts';
import { printBounds } from './plan-bounds.ts';
import { type PrintedTerm, printOrder, printRelationOrder, printSortField } from './plan-order.ts';

/** Bounds and orders of the nested lists of a read. */
export interface NestedLists {
  /** Rows of each list that `deep` does not name. */
  readonly limit: number;
  /** Indexes of the bounds of each list that `deep` names. */
  readonly positions: ReadonlyMap<NestedRead, number>;
  readonly orders: NestedOrders;
  readonly aggregates: NestedAggregates;
  /** Set where lists of all rows of a page are made together. */
  readonly page?: PageOfRows;
}

type ListPart = Extract<Selected, { kind: 'keys' | 'nested' }>;

/** The rows of a nested list as its relation and `deep` want them. */
export interface NestedList {
  readonly target: Row;
  /** The tables, as soon as everything is printed that names their columns. */
  from(): string;
  readonly predicate: string;
  readonly order: readonly PrintedTerm[];
  /** The same order as a page of these rows reads them by. */
  readonly within: readonly PrintedTerm[];
  readonly bounds: string;
  /** True if rows are sorted to be cut: then it pays off to make records only of the remaining ones. */
  readonly sorted: boolean;
}

/** Reads what is asked of the rows that a relation leads to. */
export function nestedList(reached: Reach, { relation, read }: ListPart, lists: NestedLists): NestedList {
  const { descriptor } = relation;
  const { statement } = reached.target;
  const noted = noteColumns(reached);
  const requested = read === undefined ? [] : (lists.orders.get(read) ?? []);
  const order = requested.length > 0 ? printOrder(noted.target, requested) : printNestedOrder(noted, descriptor);
  const linked = orderedByLinks(noted, descriptor, order);
  const bounds =
    read === undefined ? ` LIMIT ${lists.limit}` : printBounds(statement, read.request, lists.positions.get(read) ?? 0);
  const { target, from } = noted;
  const within = statement.dialect.looksUp ? linked : order;
  const list = { target, from, predicate: allOf(joinsOf(noted)), order, within, bounds, sorted: false };
  if (bounds === '') return list;
  switch (wayTo(noted, descriptor, linked)) {
    case 'plain':
      return list;
    case 'index':
      return { ...list, ...foundByLinks(noted, linked) };
    case 'sort':
      return { ...list, from: () => fenced(noted), predicate: sqlTrue, sorted: true };
  }
}

/**
 * Leads the server to the rows of a page. Otherwise it would walk through an index of the whole table in the requested
 * order, to the end where the page does not fill.
 *
 * `index`: one may give the order after the columns that lead to the rows. `sort`: none does, so all rows of the parent
 * are read before they are cut. `plain`: no index can give the order, or the server needs no help.
 */
function wayTo({ target, links, junction, isFenced }: Reach, relation: RelationDescriptor, [leading]: Terms) {
  const { dialect } = target.statement;
  const [first] = links;
  const isPaged = first && dialect.pageLink(first.reached, first.start, first.native) !== undefined;
  if (leading === undefined || isPaged !== true) return 'plain';
  const { descriptor } = target.collection;
  // A computed field needs the row itself, which a subquery does not have.
  if (dialect.fence === '' || descriptor.opaque === true || computedColumns(descriptor) !== null) return 'index';
  if (relation.kind === 'm2m') return isFenced && !leading.expression.startsWith(`${junction}.`) ? 'plain' : 'index';
  return relation.kind === 'm2o' || relation.ordered?.includes(leading.column ?? '') === true ? 'index' : 'sort';
}

type Terms = readonly PrintedTerm[];

/**
 * The rows of a page by the columns that lead to them first, in predicate and order. These are the same for all rows of
 * the page, so the order stays the requested one. The server looks for an index that begins with them. In a subquery it
 * does not know which columns the row around it has fixed, or is not told (`SqlDialect.pageLink`).
 */
function foundByLinks(
  { target, links, own: conditions }: Reach,
  order: Terms,
): Pick<NestedList, 'predicate' | 'within'> {
  const [first, ...others] = links;
  const link = first && target.statement.dialect.pageLink(first.reached, first.start, first.native);
  const direction = order[0]?.direction ?? '';
  const linked = links.map(({ reached }) => ({ expression: reached, direction }));
  return {
    predicate: allOf([link ?? sqlTrue, ...joinsOf({ links: others, own: conditions })]),
    within: [...linked, ...order],
  };
}

/** All rows of a parent, in a subquery that no index of the order reaches into. */
function fenced({ target, columns, from, links, own: conditions }: NotedReach): string {
  const { dialect } = target.statement;
  const alias = target.column('').slice(0, -1);
  const selected = selectList([...columns].filter(Boolean).map(target.column));
  return `(SELECT ${selected} FROM ${from()}${where(allOf(joinsOf({ links, own: conditions })))}${dialect.fence}) ${alias}`;
}

/** The same order by columns of the junction, where it has them: an index of the junction may have this order. */
function orderedByLinks({ target, junction }: Reach, relation: RelationDescriptor, order: Terms): Terms {
  const { sortsAlike } = target.statement.dialect;
  const far = relation.kind === 'm2m' && junction !== undefined ? relation.far : [];
  return order.map((term) => {
    const pair = far.find(({ to }) => to === term.column);
    const alike = pair !== undefined && sortsAlike(term.value?.type.native);
    return alike ? { ...term, expression: `${junction}.${pair.from}` } : term;
  });
}

/** A reach that notes the columns of its target as they are printed. */
interface NotedReach extends Reach {
  readonly columns: ReadonlySet<string>;
}

function noteColumns(reached: Reach): NotedReach {
  const { target } = reached;
  const columns = new Set<string>();
  const column = (quoted: string): string => {
    columns.add(quoted);
    return target.column(quoted);
  };
  return { ...reached, target: { ...target, column }, columns };
}

/** A relation's rows follow its sort field: that of the junction for an m2m, else that of the rows themselves. */
function printNestedOrder(reached: Reach, relation: RelationDescriptor): readonly PrintedTerm[] {
  const { target } = reached;
  if (relation.kind !== 'm2m') {
    return printRelationOrder(target, relation.kind === 'm2o' ? undefined : relation.sort);
  }
  return [...printJunctionOrder(reached, relation), ...printRelationOrder(target, undefined)];
}

/**
 * The order that a junction gives to what lies behind it. Like its rows (`reach`), its sort field is a detail of the
 * relation for those who cannot read the junction. For all others it is a field like any other: passed over where they
 * cannot name it, and null where they cannot read its cell.
 */
function printJunctionOrder({ target, junction }: Reach, relation: ManyToMany): readonly PrintedTerm[] {
  const { statement, scope } = target;
  const collection = scope.collections.get(relation.junction) ?? scope.rules?.collections.get(relation.junction);
  if (junction === undefined || collection === undefined) return [];
  const terms = printSortField(tableRow(statement, scope, collection, junction), relation.sort);
  // A page selects columns of its own table only, so it takes this one as an expression.
  return terms.map(({ expression, direction }) => ({ expression, direction }));
}
