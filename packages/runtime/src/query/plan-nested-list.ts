import type { ManyToMany, RelationDescriptor } from '../contract/index.ts';
import { printCondition } from '../sql/condition.ts';
import { allOf } from '../sql/fragment.ts';
import { joinsOf, type Reach } from '../sql/related.ts';
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
  readonly from: string;
  readonly predicate: string;
  readonly order: readonly PrintedTerm[];
  /** The same order as a page of these rows reads them by. */
  readonly within: readonly PrintedTerm[];
  readonly bounds: string;
}

/** Reads what is asked of the rows that a relation leads to. */
export function nestedList(reached: Reach, { relation, read }: ListPart, lists: NestedLists): NestedList {
  const rows = narrowed(reached, read);
  const { from, target } = rows;
  const asked = read === undefined ? [] : (lists.orders.get(read) ?? []);
  const order = asked.length > 0 ? printOrder(target, asked) : printNestedOrder(reached, relation.descriptor);
  const bounds =
    read === undefined
      ? ` LIMIT ${lists.limit}`
      : printBounds(target.statement, read.request, lists.positions.get(read) ?? 0);
  return {
    from,
    predicate: allOf(joinsOf(rows)),
    order,
    within: orderWithin(rows, relation.descriptor, order),
    bounds,
  };
}

/**
 * The order of rows behind the columns that lead to them, which are the same for all of them: MySQL looks for an order in
 * an index from its first column on, and does not know in a subquery which columns the row around it has fixed. What an
 * m2m leads to is found by its junction, whose columns say the same. All these columns are those of foreign keys, so what
 * is equal is of one type and one collation.
 */
function orderWithin(
  { links, junction, target }: Reach,
  relation: RelationDescriptor,
  order: readonly PrintedTerm[],
): readonly PrintedTerm[] {
  const [first] = order;
  if (!target.statement.dialect.ordersByLinks || first === undefined) return order;
  const far = relation.kind === 'm2m' ? relation.far : [];
  const terms = order.map((term) => {
    const pair = far.find(({ to }) => to === term.column);
    return pair === undefined ? term : { ...term, expression: `${junction}.${pair.from}` };
  });
  return [...links.map(({ reached }) => ({ expression: reached, direction: first.direction })), ...terms];
}

/** The rows that also meet what `deep` asks of them. */
export function narrowed(reached: Reach, read: NestedRead | undefined): Reach {
  if (read === undefined) return reached;
  return { ...reached, own: [...reached.own, printCondition(reached.target, read.condition)] };
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
