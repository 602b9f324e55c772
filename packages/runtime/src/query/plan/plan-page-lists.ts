/** Lists within rows, made for all rows of a page at once: see `page-links.ts`. */

import { allOf, sqlTrue, where } from '../../dialects/fragment.ts';
import type { Condition } from '../../language/index.ts';
import type { PageOfRows, PageReach } from '../../sql/page-links.ts';
import type { Row } from '../../sql/row.ts';
import type { AggregateNames } from '../authorise/aggregate.ts';
import { createSource } from './aggregate-source.ts';
import { expressionsOf, fieldsOf, printAggregates } from './plan-aggregate-rows.ts';
import type { NestedList } from './plan-nested-list.ts';
import { orderBy } from './plan-order.ts';
import { createPage, outerOrder } from './plan-page.ts';
import { type Printed, type PrintedElement, valuesOf } from './plan-value.ts';

/**
 * Prints the list of each row; a limit counts the targets of each in their order. A list for each column of records costs
 * less than a list of records, where it has more than a few.
 */
export function printPageList(
  page: PageOfRows,
  reached: PageReach,
  { target, from, predicate, order, bounds }: NestedList,
  printElement: (row: Row) => PrintedElement,
): Printed {
  const rows = createPage(target);
  const parent = rows.extra(reached.parent);
  const number = `pg_catalog.row_number() OVER (PARTITION BY ${reached.parent}${orderBy(order)})`;
  const position = bounds === '' ? undefined : rows.extra(number);
  const within = position === undefined ? outerOrder(rows, order) : [{ expression: position, direction: '' } as const];
  const { element, shape, columns } = printElement(rows.row);
  const collect = (expression: string): string => `pg_catalog.array_agg(${expression}${orderBy(within)})`;
  const list = columns === undefined ? collect(element.expression) : rowOf(columns.map(collect));
  const without = columns === undefined ? "'{}'" : rowOf(columns.map(() => 'NULL'));
  const cut = position === undefined ? sqlTrue : `${position} <= ${bounds.replace(' LIMIT ', '')}`;
  const source = `${rows.print(from, predicate, [], '')}${where(cut)} GROUP BY ${parent}`;
  return { expression: bringToRows(page, reached, { parent, list, source, without }), shape };
}

/** Prints the one row of aggregates of each row; `none` gives those of a row without targets. */
export function printPageAggregates(
  page: PageOfRows,
  reached: PageReach,
  names: AggregateNames,
  having: Condition,
  none: Printed,
): Printed {
  const { dialect } = reached.target.statement;
  const rows = createSource(reached.target);
  const parent = rows.column(reached.parent);
  const { columns, grouping } = printAggregates(names, having, rows, [parent]);
  const list = `ARRAY[${dialect.record(valuesOf(expressionsOf(columns), fieldsOf(columns)))}]`;
  const source = `${rows.print(reached.from(), allOf(reached.own))}${grouping}`;
  return { ...none, expression: bringToRows(page, reached, { parent, list, source, without: none.expression }) };
}

function rowOf(expressions: readonly string[]): string {
  return `ROW(${expressions.join(', ')})`;
}

interface PageLists {
  readonly parent: string;
  readonly list: string;
  readonly source: string;
  /** The list of a row that has none. */
  readonly without: string;
}

/** Names the lists and joins them to the rows of the page: in full, so that no loop over all lists looks for each. */
function bringToRows(page: PageOfRows, { start }: PageReach, { parent, list, source, without }: PageLists): string {
  const name = page.row.statement.alias();
  page.queries.push(`${name} AS MATERIALIZED (SELECT ${parent} AS k, ${list} AS r FROM ${source})`);
  page.joins.push(` FULL JOIN ${name} ON ${name}.k = ${start}`);
  return `COALESCE(${name}.r, ${without})`;
}
