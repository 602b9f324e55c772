import type { Condition, FieldDescriptor, Operand, WireForm } from '../contract/index.ts';
import { aggregated, aggregateResult, groupable, printAggregate } from '../sql/aggregates.ts';
import { cast, cell } from '../sql/cell.ts';
import { printCondition } from '../sql/condition.ts';
import { allOf, sqlTrue, where } from '../sql/fragment.ts';
import { printFunction } from '../sql/functions.ts';
import { printCount } from '../sql/related.ts';
import { type Row, tableRow } from '../sql/row.ts';
import { readable } from '../sql/rules.ts';
import { createStatement, type StatementBuilder } from '../sql/statement.ts';
import type { Aggregate, AggregateNames, Group } from './aggregate.ts';
import { createSource, type Source } from './aggregate-source.ts';
import { printHaving } from './having.ts';
import type { MetaName } from './parse-read.ts';
import type { Exported, ReadPlan, Shape, ShapeField } from './plan.ts';
import { printBounds } from './plan-bounds.ts';
import { statementOf } from './plan-read.ts';
import type { CollectionScope, Scope } from './scope.ts';

/** An aggregation with its names looked up, ready to be planned. */
export interface AggregateQuery {
  readonly scope: Scope;
  readonly collection: CollectionScope;
  readonly names: AggregateNames;
  readonly condition: Condition;
  readonly having: Condition;
  readonly limit: number;
  readonly offset: number;
  readonly meta: readonly MetaName[];
  readonly streamed: boolean;
  readonly exported: Exported | undefined;
  /** Where the operands of both conditions find their values, and how many values that are. */
  readonly operands: ReadonlyMap<Operand, number>;
  readonly values: number;
}

/** One column of the answer. */
interface Column {
  readonly key: string;
  readonly expression: string;
  readonly shape: Shape;
}

/**
 * Plans an aggregation: the cells it looks at are computed in an inner query over the readable rows that match, and
 * grouped outside, so that an expression is written once however often it is used.
 */
export function planAggregate(query: AggregateQuery): ReadPlan {
  const statement = createStatement(query.operands);
  const alias = statement.alias();
  const row = tableRow(statement, query.scope, query.collection, alias);
  const from = `${query.collection.descriptor.table} ${alias}`;
  const rows = readable(row);
  const matching = allOf([rows, printCondition(row, query.condition)]);
  const source = createSource(row);
  const printed = printAggregates(query, source);
  const inner = source.print(from, matching);
  const counts = query.meta.map((name, index) => {
    const counted = where(name === 'total_count' ? rows : matching);
    return `(SELECT pg_catalog.count(*) FROM ${from}${counted}) AS c${index}`;
  });
  const text = counts.length === 0 ? printRows(printed, inner) : printCounted(statement, printed, inner, counts);
  return {
    ...statementOf(statement, text),
    many: true,
    fields: printed.columns.map(({ key, shape }): ShapeField => ({ key, shape })),
    meta: query.meta,
    streamed: query.streamed,
    ...(query.exported && { exported: query.exported }),
  };
}

interface PrintedAggregates {
  readonly columns: readonly Column[];
  /** Everything behind FROM and its source, up to the order. */
  readonly grouping: string;
  readonly order: readonly { readonly expression: string; readonly direction: '' | ' DESC' }[];
  readonly bounds: string;
}

function printAggregates(query: AggregateQuery, source: Source): PrintedAggregates {
  const { names, collection } = query;
  const groups = names.groups.map((group) => source.column(printGroup(source.row, group)));
  const print = (aggregate: Aggregate) => printValue(source, aggregate);
  const having = printHaving(source.row, collection, query.having, print);
  const columns = [
    ...names.groups.map((group, index) => groupColumn(group, groups[index] ?? 'NULL')),
    ...valueColumns(names.values, print),
  ];
  const order = names.order.map(({ by, descending }) => ({
    expression: typeof by === 'number' ? (groups[by] ?? 'NULL') : print(by),
    direction: descending ? (' DESC' as const) : ('' as const),
  }));
  const rest = groups.map((expression) => ({ expression, direction: '' as const }));
  const distinct = new Map([...order, ...rest].toReversed().map((term) => [term.expression, term]));
  return {
    columns,
    grouping: `${groups.length === 0 ? '' : ` GROUP BY ${groups.join(', ')}`}${havingClause(having)}`,
    order: [...order, ...rest].filter((term) => distinct.get(term.expression) === term),
    bounds: printBounds(source.row.statement, query, query.values),
  };
}

function havingClause(predicate: string): string {
  return predicate === sqlTrue ? '' : ` HAVING ${predicate}`;
}

function printGroup(row: Row, { field, relation, function: call }: Group): string {
  if (call === 'count' && relation !== undefined && relation.descriptor.kind !== 'm2o') {
    return printCount(row, relation);
  }
  // Groups were checked, so what is no relation is a field.
  if (field === undefined) return 'NULL';
  return call === undefined ? groupable(row, field) : printFunction(call, cell(row, field), field.descriptor);
}

function printValue(source: Source, { function: name, field }: Aggregate): string {
  return printAggregate(name, field === null ? null : source.column(aggregated(source.row, name, field)));
}

const count: WireForm = { kind: 'number', cast: '::pg_catalog.text' };

function groupColumn({ key, field, function: call }: Group, expression: string): Column {
  const part: WireForm = call === 'count' ? count : { kind: 'i4' };
  const wire = call === undefined && field !== undefined ? field.descriptor.wire : part;
  return { key, expression: cast(expression, wire.cast), shape: shapeOf(wire) };
}

function shapeOf({ kind, array }: FieldDescriptor['wire']): Shape {
  return array === true ? { kind: 'array', element: kind } : { kind: 'scalar', wire: kind };
}

/** One column per function: of rows a value, of fields a record with one value per field. */
function valueColumns(values: readonly Aggregate[], print: (aggregate: Aggregate) => string): readonly Column[] {
  const functions = Map.groupBy(values, (value) => value.function);
  return [...functions].map(([key, aggregates]) => {
    const parts = aggregates.map((aggregate) => {
      const { wire } = aggregateResult(aggregate.function, aggregate.field?.descriptor ?? null);
      const name = aggregate.field?.descriptor.name;
      return { name, expression: cast(print(aggregate), wire.cast), shape: shapeOf(wire) };
    });
    const [first] = parts;
    if (first !== undefined && first.name === undefined)
      return { key, expression: first.expression, shape: first.shape };
    const fields = parts.map(({ name = '', shape }): ShapeField => ({ key: name, shape }));
    const expression = `ROW(${parts.map((part) => part.expression).join(', ')})`;
    return { key, expression, shape: { kind: 'record', fields } };
  });
}

function printRows({ columns, grouping, order, bounds }: PrintedAggregates, source: string): string {
  const terms = order.map(({ expression, direction }) => expression + direction);
  const ordered = terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
  return `SELECT ${columns.map(({ expression }) => expression).join(', ')} FROM ${source}${grouping}${ordered}${bounds}`;
}

/** The counts are joined so that an empty answer still has the one row that carries them. */
function printCounted(
  statement: StatementBuilder,
  { columns, grouping, order, bounds }: PrintedAggregates,
  source: string,
  counts: readonly string[],
): string {
  const [meta, rows] = [statement.alias(), statement.alias()];
  const terms = order.map(({ direction }, index) => `s${index}${direction}`);
  const selected = [
    'TRUE AS p',
    ...columns.map(({ expression }, index) => `${expression} AS o${index}`),
    ...order.map(({ expression }, index) => `${expression} AS s${index}`),
  ];
  const ordered = (prefix: string) =>
    terms.length === 0 ? '' : ` ORDER BY ${terms.map((term) => prefix + term).join(', ')}`;
  const page = `(SELECT ${selected.join(', ')} FROM ${source}${grouping}${ordered('')}${bounds}) ${rows}`;
  const outer = [
    ...counts.map((_, index) => `${meta}.c${index}`),
    `${rows}.p IS NOT NULL`,
    ...columns.map((_, index) => `${rows}.o${index}`),
  ];
  const joined = `(SELECT ${counts.join(', ')}) ${meta} LEFT JOIN ${page} ON TRUE`;
  return `SELECT ${outer.join(', ')} FROM ${joined}${ordered(`${rows}.`)}`;
}
