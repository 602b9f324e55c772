import type { ManyToMany, RelationDescriptor } from '../contract/index.ts';
import { allOf } from '../sql/fragment.ts';
import { joinsOf, type Link, type Reach } from '../sql/related.ts';
import { tableRow } from '../sql/row.ts';
import type { NestedAggregates, NestedOrders, NestedRead } from './nested.ts';
import { printBounds } from './plan-bounds.ts';
import { type PrintedTerm, printOrder, printRelationOrder, printSortField } from './plan-order.ts';
import type { Selected } from './selection.ts';

/** How the nested lists of a read are cut and ordered. */
export interface NestedLists {
  /** Rows of each list that `deep` does not name. */
  readonly limit: number;
  /** Where the bounds of each list that `deep` names find their values. */
  readonly positions: ReadonlyMap<NestedRead, number>;
  readonly orders: NestedOrders;
  readonly aggregates: NestedAggregates;
}

type ListPart = Extract<Selected, { kind: 'keys' | 'nested' }>;

/** The rows of a nested list as its relation and `deep` want them. */
export interface NestedList {
  /** The tables, as soon as everything is printed that names their columns. */
  from(): string;
  readonly predicate: string;
  readonly order: readonly PrintedTerm[];
  /** The same order as a page of these rows reads them by. */
  readonly within: readonly PrintedTerm[];
  readonly bounds: string;
}

/** Reads what is asked of the rows that a relation leads to. */
export function nestedList(reached: Reach, { relation, read }: ListPart, lists: NestedLists): NestedList {
  const { from, target } = reached;
  const asked = read === undefined ? [] : (lists.orders.get(read) ?? []);
  const order = asked.length > 0 ? printOrder(target, asked) : printNestedOrder(reached, relation.descriptor);
  const bounds =
    read === undefined
      ? ` LIMIT ${lists.limit}`
      : printBounds(target.statement, read.request, lists.positions.get(read) ?? 0);
  const found = bounds === '' ? undefined : foundByLinks(reached, relation.descriptor, order);
  return { from, predicate: allOf(found?.joins ?? joinsOf(reached)), order, within: found?.order ?? order, bounds };
}

/**
 * The rows of a page by the columns that lead to them first, in their predicate and in their order. These columns are the
 * same for all rows of the page, so the order is the one that was asked for, and the server looks for an index that begins
 * with them: MySQL because it does not know in a subquery which columns the row around it has fixed, PostgreSQL because it
 * is not told. It would else walk through an index of the whole table in the order that was asked for, to the end where
 * the page does not fill.
 */
function foundByLinks(reached: Reach, relation: RelationDescriptor, order: readonly PrintedTerm[]) {
  const { links, own, junction } = reached;
  const { pageLink, sortsAlike } = reached.target.statement.dialect;
  const [first] = links;
  const [leading] = order;
  const link = first && pageLink(first.reached, first.start, first.native);
  if (link === undefined || leading === undefined) return undefined;
  const far = relation.kind === 'm2m' ? relation.far : [];
  // The key of what an m2m leads to is had from the junction as well.
  const terms = order.map((term) => {
    const pair = far.find(({ to }) => to === term.column);
    const alike = pair !== undefined && sortsAlike(term.value?.type.native);
    return alike ? { ...term, expression: `${junction}.${pair.from}` } : term;
  });
  const linked = links.map((one: Link) => ({ expression: one.reached, direction: leading.direction }));
  return { joins: [link, ...joinsOf({ links: links.slice(1), own })], order: [...linked, ...terms] };
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
