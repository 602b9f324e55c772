import { allOf, orderBy, where } from '../../dialects/fragment.ts';
import type { Condition } from '../../language/index.ts';
import { printCondition } from '../../sql/condition.ts';
import { itemsOf } from '../../sql/implied-items.ts';
import { readable } from '../../sql/readable.ts';
import { type StatementBuilder, tableRow } from '../../sql/row.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import { createStatement } from '../../sql/statement.ts';
import type { AggregateNames } from '../authorise/aggregate.ts';
import type { Exported } from '../parse/request.ts';
import { costOfAggregate } from './cost.ts';
import type { ReadPlan, ReadQuery } from './plan.ts';
import {
  createSource,
  expressionsOf,
  fieldsOf,
  type PrintedAggregates,
  printAggregates,
} from './plan-aggregate-rows.ts';
import { printBounds } from './plan-bounds.ts';
import { keyValues, printKeys } from './plan-keys.ts';
import { runFor, statementOf } from './plan-read.ts';
import { answerList } from './plan-selection.ts';

/** An aggregation with its names looked up, ready to be planned. */
export interface AggregateQuery
  extends Pick<
    ReadQuery,
    'scope' | 'condition' | 'limit' | 'offset' | 'meta' | 'selector' | 'streamed' | 'operands' | 'values'
  > {
  readonly collection: CollectionScope;
  readonly names: AggregateNames;
  readonly having: Condition;
  readonly exported: Exported | undefined;
}

/**
 * Plans an aggregation. The cells it looks at are computed in an inner query over the readable rows that match, and
 * grouped outside. So an expression is written once however often it is used.
 *
 * The values of keys follow those of the conditions, then limit and offset. The named items that remain are counted,
 * because aggregate rows do not show that one of them is missing.
 */
export function planAggregate(query: AggregateQuery): ReadPlan {
  const { collection, names, selector } = query;
  const statement = createStatement(query.operands, query.scope.dialect);
  const alias = statement.alias();
  const row = tableRow(statement, query.scope, collection, alias);
  const from = `${selector === 'list' ? itemsOf(row) : collection.descriptor.table} ${alias}`;
  const rows = readable(row);
  const named = allOf([rows, ...printKeys(row, selector, query.values)]);
  const matching = allOf([named, printCondition(row, query.condition)]);
  const source = createSource(row);
  const printed = printAggregates(names, query.having, source);
  const bounds = printBounds(statement, query, query.values + keyValues(collection, selector));
  const inner = source.print(from, matching);
  const counted = [
    ...(selector === 'keys' ? [named] : []),
    ...query.meta.map((name) => (name === 'total_count' ? rows : matching)),
  ].map((predicate, index) => `(SELECT ${statement.dialect.countRows} FROM ${from}${where(predicate)}) AS c${index}`);
  const text =
    counted.length === 0
      ? printRows(statement, printed, inner, bounds)
      : printCounted(statement, printed, inner, bounds, counted);
  const { statement: printedStatement, binders } = statementOf(statement.finish(text));
  return {
    statement: runFor(query, collection, printedStatement),
    binders,
    cost: costOfAggregate(names, [query.condition, query.having]),
    many: true,
    fields: fieldsOf(printed.columns),
    meta: query.meta,
    ...(selector === 'keys' && { countsNamed: true }),
    streamed: query.streamed,
    ...(query.exported && { exported: query.exported }),
  };
}

function printRows(
  statement: StatementBuilder,
  { columns, grouping, order }: PrintedAggregates,
  source: string,
  bounds: string,
): string {
  const selected = answerList(statement, [], expressionsOf(columns), fieldsOf(columns));
  return `SELECT ${selected} FROM ${source}${grouping}${orderBy(order)}${bounds}`;
}

/** The counts are joined so that an empty answer still has the one row that carries them. */
function printCounted(
  statement: StatementBuilder,
  { columns, grouping, order }: PrintedAggregates,
  source: string,
  bounds: string,
  counts: readonly string[],
): string {
  const [meta, rows] = [statement.alias(), statement.alias()];
  const selected = [
    'TRUE AS p',
    ...expressionsOf(columns).map((expression, index) => `${expression} AS o${index}`),
    ...order.map(({ expression }, index) => `${expression} AS s${index}`),
  ];
  const terms = (prefix: string) =>
    order.map(({ direction }, index) => ({ expression: `${prefix}s${index}`, direction }));
  const ordered = orderBy(terms(''));
  const page = `(SELECT ${selected.join(', ')} FROM ${source}${grouping}${ordered}${bounds}) ${rows}`;
  const outer = [...counts.map((_, index) => `${meta}.c${index}`), statement.dialect.flag(`${rows}.p IS NOT NULL`)];
  const carried = expressionsOf(columns).map((_, index) => `${rows}.o${index}`);
  const joined = `(SELECT ${counts.join(', ')}) ${meta} LEFT JOIN ${page} ON TRUE`;
  return `SELECT ${answerList(statement, outer, carried, fieldsOf(columns))} FROM ${joined}${orderBy(terms(`${rows}.`))}`;
}
