/**
 * The cost of a request, known from its plan before the first statement. REST and GraphQL count alike; documents of GraphQL
 * are measured before they are planned, with the same figures (`graphql/documents/check-document.ts`).
 */
import { invalidQuery } from '../../errors.ts';
import type { Condition } from '../../language/index.ts';
import { matching } from '../../language/operators/index.ts';
import type { AggregateNames } from '../authorise/aggregate.ts';
import type { NestedAggregates } from '../authorise/nested.ts';
import type { Selected, Selection } from '../authorise/selection.ts';
import type { OrderTerm } from '../authorise/sort.ts';
import type { ReadQuery } from './plan.ts';

/** The figures that costs are made of. A plain comparison is free: there is a bounded number of them. */
export const costs = {
  /** Each value of an answer's items, relations included. */
  field: 1,
  /** Each list within items, beside the field. */
  list: 10,
  /** Each list or item that a request asks for. */
  root: 10,
  /** Each relation that a filter or an order looks through or counts. */
  relation: 10,
  /** Each text that is looked for within others: an index does not find it, and every row is read. */
  pattern: 50,
} as const;

/** The cost of what one list or item selects, and of finding its rows. */
export function costOfRead(query: ReadQuery): number {
  return costs.root + costOfSelection(query.selection, query.nested.aggregates) + costOfRows(query);
}

/** The cost of the conditions and orders of rows, and of those of the lists within them. */
export function costOfRows({ condition, order, nested }: ReadQuery): number {
  let cost = costOfCondition(condition) + costOfOrder(order);
  for (const read of nested.positions.keys()) cost += costOfConditions([read.condition, read.having.condition]);
  for (const terms of nested.orders.values()) cost += costOfOrder(terms);
  return cost;
}

export function costOfAggregate(names: AggregateNames, conditions: Iterable<Condition>): number {
  return costs.root + costOfNames(names) + costOfConditions(conditions);
}

/** A group that counts rows costs what their number costs in an item, and an aggregate that only an order takes is one. */
function costOfNames({ groups, values, order }: AggregateNames): number {
  const counted = groups.filter(({ relation, function: call }) => {
    return call === 'count' && relation !== undefined && relation.descriptor.kind !== 'm2o';
  });
  const sorted = order.filter(({ by }) => {
    return (
      typeof by !== 'number' && !values.some(({ function: name, field }) => name === by.function && field === by.field)
    );
  });
  return (groups.length + values.length + sorted.length) * costs.field + counted.length * costs.list;
}

function costOfConditions(conditions: Iterable<Condition>): number {
  let cost = 0;
  for (const condition of conditions) cost += costOfCondition(condition);
  return cost;
}

/** Throws INVALID_QUERY for a cost beyond the bound. */
export function refuseCost(cost: number, maxCost: number): void {
  if (cost <= maxCost) return;
  throw invalidQuery(`The query costs ${cost}, which is more than ${maxCost}: it selects or looks for too much.`);
}

function costOfSelection({ parts }: Pick<Selection, 'parts'>, aggregates: NestedAggregates): number {
  return parts.reduce((sum, part) => sum + costOfPart(part, aggregates), 0);
}

function costOfPart(part: Selected, aggregates: NestedAggregates): number {
  const costOf = (selection: Pick<Selection, 'parts'>): number => costOfSelection(selection, aggregates);
  switch (part.kind) {
    case 'field':
    case 'constant':
      return costs.field;
    case 'call':
      return costs.field + (part.call.kind === 'rows' ? costs.list : 0);
    case 'keys':
      return costs.field + listCost(part);
    case 'nested':
      return costs.field + listCost(part) + costOf(part.of);
    case 'aggregate': {
      const names = aggregates.get(part.read);
      return costs.field + costs.list + (names === undefined ? 0 : costOfNames(names));
    }
    case 'item':
      return costs.field + part.items.reduce((sum, { of: selection }) => sum + costOf(selection), 0);
    case 'group':
      return costs.field + costOf(part);
  }
}

function listCost({ relation }: Extract<Selected, { kind: 'keys' | 'nested' }>): number {
  return relation.descriptor.kind === 'm2o' ? 0 : costs.list;
}

function costOfCondition(condition: Condition): number {
  if (condition.kind === 'and' || condition.kind === 'or') return costOfConditions(condition.of);
  if (condition.kind === 'related') return costs.relation + costOfCondition(condition.where);
  const counted = condition.function === 'count' ? costs.relation : 0;
  return counted + (matching.has(condition.operator) ? costs.pattern : 0);
}

function costOfOrder(order: readonly OrderTerm[]): number {
  return order.reduce(
    (sum, { through, by }) => sum + (through.length + (by.kind === 'rows' ? 1 : 0)) * costs.relation,
    0,
  );
}
