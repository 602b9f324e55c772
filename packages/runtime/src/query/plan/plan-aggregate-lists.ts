import { allOf, where } from '../../dialects/fragment.ts';
import type { Condition } from '../../language/index.ts';
import { joinsOf, type Reach } from '../../sql/related.ts';
import type { AggregateNames } from '../authorise/aggregate.ts';
import {
  aggregateOrder,
  createPlainSource,
  createSource,
  expressionsOf,
  fieldsOf,
  type PrintedAggregates,
  printAggregates,
} from './plan-aggregate-rows.ts';
import { type Printed, valuesOf } from './plan-value.ts';

/**
 * The aggregate rows of the rows that a relation leads to, as an array of records.
 *
 * Where a subquery in FROM sees the row around it, one per parent groups its rows. Its inner query computes the cells,
 * as at the top. Where it does not, a single row is aggregated by the subquery that is the value. Groups are made for
 * all parents at once, which look theirs up.
 */
export function printNestedAggregates(
  reached: Reach,
  names: AggregateNames,
  having: Condition,
  bounds: string,
): Printed {
  const { dialect } = reached.target.statement;
  if (dialect.pages === 'needed') return printArray(reached, names, having, bounds);
  return names.groups.length === 0
    ? printSingle(reached, names, having, bounds)
    : printGroups(reached, names, having, bounds);
}

/** An array of the groups of one parent, made as they are read. */
function printArray(reached: Reach, names: AggregateNames, having: Condition, bounds: string): Printed {
  const { target } = reached;
  const source = createSource(target);
  const printed = printAggregates(names, having, source);
  const rows = `${source.print(reached.from(), allOf(joinsOf(reached)))}${printed.grouping}`;
  const element = { expression: recordOf(reached, printed), nested: true };
  const { dialect } = target.statement;
  const expression = dialect.list({ element, from: rows, where: '', order: aggregateOrder(printed.order), bounds });
  return { expression, shape: { kind: 'records', fields: fieldsOf(printed.columns) } };
}

/** A list of the one row that there is without groups, or of none where `having` or the bounds leave it out. */
function printSingle(reached: Reach, names: AggregateNames, having: Condition, bounds: string): Printed {
  const { target } = reached;
  const source = createPlainSource(target);
  const printed = printAggregates(names, having, source);
  const rows = `${source.print(reached.from(), allOf(joinsOf(reached)))}${printed.grouping}${bounds}`;
  const element = { expression: recordOf(reached, printed), nested: true };
  const expression = target.statement.dialect.single(element, rows);
  return { expression, shape: { kind: 'records', fields: fieldsOf(printed.columns) } };
}

/**
 * A list of groups, which a subquery in FROM makes. It groups the rows of this parent where it can see it, else all
 * rows.
 */
function printGroups(reached: Reach, names: AggregateNames, having: Condition, bounds: string): Printed {
  const { target, links, own: conditions } = reached;
  const { dialect } = target.statement;
  const sees = dialect.pages === 'always';
  const source = createSource(target);
  const apart = sees ? [] : links.map((link) => source.column(link.reached));
  const printed = printAggregates(names, having, source, apart);
  const alias = target.statement.alias();
  const order = printed.order.map(({ direction }, index) => ({ expression: `${alias}.s${index}`, direction }));
  const selected = [
    `${recordOf(reached, printed)} AS r`,
    ...printed.order.map(({ expression }, index) => `${expression} AS s${index}`),
    ...apart.map((expression, index) => `${expression} AS p${index}`),
  ].join(', ');
  const rows = `${source.print(reached.from(), allOf(sees ? joinsOf(reached) : conditions))}${printed.grouping}`;
  const cut = sees ? `${aggregateOrder(printed.order)}${bounds}` : '';
  const expression = dialect.list({
    element: { expression: `${alias}.r`, nested: true },
    from: `(SELECT ${selected} FROM ${rows}${cut}) ${alias}`,
    where: where(allOf(apart.map((_, index) => `${alias}.p${index} = ${links[index]?.start}`))),
    order: aggregateOrder(order),
    bounds: sees ? '' : bounds,
  });
  return { expression, shape: { kind: 'records', fields: fieldsOf(printed.columns) } };
}

function recordOf({ target }: Reach, { columns }: PrintedAggregates): string {
  return target.statement.dialect.record(valuesOf(expressionsOf(columns), fieldsOf(columns)));
}
