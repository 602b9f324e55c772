import type { Condition, FieldDescriptor, WireForm } from '../contract/index.ts';
import { aggregated, aggregateResult, groupable, printAggregate } from '../sql/aggregates.ts';
import { cast, cell } from '../sql/cell.ts';
import { allOf, sqlTrue } from '../sql/fragment.ts';
import { printFunction } from '../sql/functions.ts';
import { printCount, type Reach } from '../sql/related.ts';
import type { Row } from '../sql/row.ts';
import type { Aggregate, AggregateNames, AggregatePart, Group } from './aggregate.ts';
import { createSource, type Source } from './aggregate-source.ts';
import { printHaving } from './having.ts';
import type { Shape, ShapeField } from './plan.ts';
import type { Printed } from './plan-value.ts';

/** One response name of aggregate rows; without an expression for what has no column. */
interface Column {
  readonly key: string;
  readonly expression?: string;
  readonly shape: Shape;
}

/** One term of the order of aggregate rows. */
interface Term {
  readonly expression: string;
  readonly direction: '' | ' DESC';
}

/** What aggregate rows are made of, printed. */
export interface PrintedAggregates {
  readonly columns: readonly Column[];
  /** Everything behind FROM and its source, up to the order. */
  readonly grouping: string;
  readonly order: readonly Term[];
}

/** Prints an aggregation over the rows of a source: its columns, its groups, and the order that the groups complete. */
export function printAggregates(names: AggregateNames, having: Condition, source: Source): PrintedAggregates {
  const { collection } = source.row;
  const groups = names.groups.map((group) => source.column(printGroup(source.row, group)));
  const print = (aggregate: Aggregate) => printValue(source, aggregate);
  const met = printHaving(source.row, collection, having, print);
  const grouped = names.groups.map((group, index) => groupColumn(group, groups[index] ?? 'NULL'));
  const columns =
    names.parts === undefined
      ? [...grouped, ...valueColumns(names.values, print)]
      : names.parts.map((part) => partColumn(part, grouped, print));
  const asked = names.order.map(({ by, descending }): Term => {
    const expression = typeof by === 'number' ? (groups[by] ?? 'NULL') : print(by);
    return { expression, direction: descending ? ' DESC' : '' };
  });
  const rest = groups.map((expression): Term => ({ expression, direction: '' }));
  const first = new Map([...asked, ...rest].toReversed().map((term) => [term.expression, term]));
  return {
    columns,
    grouping: groupClause(groups, names.values.length) + havingClause(met),
    order: [...asked, ...rest].filter((term) => first.get(term.expression) === term),
  };
}

/** Where nothing else aggregates, the empty group makes one row of all. */
function groupClause(groups: readonly string[], values: number): string {
  if (groups.length > 0) return ` GROUP BY ${groups.join(', ')}`;
  return values > 0 ? '' : ' GROUP BY ()';
}

function havingClause(predicate: string): string {
  return predicate === sqlTrue ? '' : ` HAVING ${predicate}`;
}

/** The ORDER BY clause of aggregate rows with a leading space. */
export function aggregateOrder(order: readonly Term[]): string {
  const terms = order.map(({ expression, direction }) => expression + direction);
  return terms.length === 0 ? '' : ` ORDER BY ${terms.join(', ')}`;
}

/**
 * The aggregate rows of the rows that a relation leads to, as an array of records: one subquery per parent, whose inner
 * query computes the cells, as at the top.
 */
export function printNestedAggregates(
  { from, joins, target }: Reach,
  names: AggregateNames,
  having: Condition,
  bounds: string,
): Printed {
  const source = createSource(target);
  const { columns, grouping, order } = printAggregates(names, having, source);
  const rows = `${source.print(from, allOf(joins))}${grouping}${aggregateOrder(order)}${bounds}`;
  return {
    expression: `ARRAY(SELECT ROW(${expressionsOf(columns).join(', ')}) FROM ${rows})`,
    shape: { kind: 'records', fields: fieldsOf(columns) },
  };
}

/** What is selected for columns. */
export function expressionsOf(columns: readonly Column[]): readonly string[] {
  return columns.flatMap(({ expression }) => expression ?? []);
}

/** What the bytes of columns become. */
export function fieldsOf(columns: readonly Column[]): readonly ShapeField[] {
  return columns.map(({ key, shape }): ShapeField => ({ key, shape }));
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

/** One part of rows that are arranged otherwise. */
function partColumn(part: AggregatePart, groups: readonly Column[], print: (of: Aggregate) => string): Column {
  const { key } = part;
  switch (part.kind) {
    case 'constant':
      return { key, shape: { kind: 'constant', json: part.json } };
    case 'groups':
      return recordColumn(key, groups);
    case 'value': {
      const { wire } = aggregateResult(part.of.function, part.of.field?.descriptor ?? null);
      return { key, expression: cast(print(part.of), wire.cast), shape: shapeOf(wire) };
    }
    case 'values':
      return recordColumn(
        key,
        part.parts.map((inner) => partColumn(inner, groups, print)),
      );
  }
}

function recordColumn(key: string, columns: readonly Column[]): Column {
  const expression = `ROW(${expressionsOf(columns).join(', ')})`;
  return { key, expression, shape: { kind: 'record', fields: fieldsOf(columns) } };
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
