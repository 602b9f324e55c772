import { allOf, cast, type OrderedTerm, orderBy, selectList, sqlTrue, where } from '../../dialects/fragment.ts';
import type { SqlDialect } from '../../dialects/index.ts';
import type { Shape, ShapeField } from '../../json/shape.ts';
import type { Condition, FieldDescriptor, WireForm } from '../../language/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { aggregated, aggregateWire, groupable } from '../../sql/calls.ts';
import { cell } from '../../sql/cell.ts';
import { printCount } from '../../sql/lookups.ts';
import { joinsOf, type Reach } from '../../sql/related.ts';
import type { Row } from '../../sql/row.ts';
import type { Aggregate, AggregateNames, AggregatePart, Group } from '../authorise/aggregate.ts';
import { printHaving } from '../authorise/having.ts';
import { type Printed, valuesOf } from './plan-value.ts';

/** One response name of aggregate rows; without an expression for what has no column. */
interface Column {
  readonly key: string;
  readonly expression?: string;
  readonly shape: Shape;
}

export type PrintedAggregates = ReturnType<typeof printAggregates>;

/** Prints an aggregation over rows: columns, groups and order. Expressions in `apart` keep rows in separate groups. */
export function printAggregates(
  names: AggregateNames,
  having: Condition,
  source: Source,
  apart: readonly string[] = [],
) {
  const { collection } = source.row;
  const groups = names.groups.map((group) => source.column(printGroup(source.row, group)));
  const print = (aggregate: Aggregate) => printValue(source, aggregate);
  const met = printHaving(source.row, collection, having, print);
  const { dialect } = source.row.statement;
  const grouped = names.groups.map((group, index) => groupColumn(dialect, group, groups[index] ?? 'NULL'));
  const columns =
    names.parts === undefined
      ? [...grouped, ...valueColumns(dialect, names.values, print)]
      : names.parts.map((part) => partColumn(dialect, part, grouped, print));
  const requested = names.order.map(({ by, descending }): OrderedTerm => {
    const expression = typeof by === 'number' ? (groups[by] ?? 'NULL') : print(by);
    return { expression, direction: descending ? ' DESC' : '' };
  });
  const rest = groups.map((expression): OrderedTerm => ({ expression, direction: '' }));
  const first = new Map([...requested, ...rest].toReversed().map((term) => [term.expression, term]));
  return {
    columns,
    /** The predicate that `having` prints for each group. */
    met,
    /** Everything after FROM and its source, up to the order. */
    grouping: printGrouping(dialect, [...apart, ...groups], names.values.length, met),
    order: [...requested, ...rest].filter((term) => first.get(term.expression) === term),
  } as const;
}

/** GROUP BY and HAVING. Without either, and where no value aggregates, a clause of the dialect makes one row of all. */
function printGrouping({ oneGroup }: SqlDialect, groups: readonly string[], values: number, met: string): string {
  const having = met === sqlTrue ? '' : ` HAVING ${met}`;
  if (groups.length > 0) return ` GROUP BY ${groups.join(', ')}${having}`;
  return values === 0 && having === '' ? oneGroup : having;
}

export function expressionsOf(columns: readonly Column[]): readonly string[] {
  return columns.flatMap(({ expression }) => expression ?? []);
}

export function fieldsOf(columns: readonly Column[]): readonly ShapeField[] {
  return columns.map(({ key, shape }): ShapeField => ({ key, shape }));
}

function printGroup(row: Row, { field, relation, function: call }: Group): string {
  if (call === 'count' && relation !== undefined && relation.descriptor.kind !== 'm2o') {
    return printCount(row, relation);
  }
  // Groups were checked, so what is no relation is a field.
  if (field === undefined) return 'NULL';
  return call === undefined
    ? groupable(row, field)
    : row.statement.dialect.field(call, cell(row, field), field.descriptor);
}

function printValue(source: Source, { function: name, field }: Aggregate): string {
  const argument = field === null ? null : source.column(aggregated(source.row, name, field));
  return source.row.statement.dialect.aggregate(name, argument, field?.descriptor ?? null);
}

/** One part of rows that are arranged otherwise. */
function partColumn(
  dialect: SqlDialect,
  part: AggregatePart,
  groups: readonly Column[],
  print: (aggregate: Aggregate) => string,
): Column {
  const { key } = part;
  switch (part.kind) {
    case 'constant':
      return { key, shape: { kind: 'constant', json: part.json } };
    case 'groups':
      return recordColumn(dialect, key, groups);
    case 'value': {
      const wire = aggregateWire(dialect, part.of.function, part.of.field?.descriptor ?? null);
      return { key, expression: cast(print(part.of), wire.cast), shape: shapeOf(wire) };
    }
    case 'values':
      return recordColumn(
        dialect,
        key,
        part.parts.map((inner) => partColumn(dialect, inner, groups, print)),
      );
  }
}

function recordColumn(dialect: SqlDialect, key: string, columns: readonly Column[]): Column {
  const fields = fieldsOf(columns);
  const expression = dialect.record(valuesOf(expressionsOf(columns), fields));
  return { key, expression, shape: { kind: 'record', fields } };
}

function groupColumn(dialect: SqlDialect, { key, field, function: call }: Group, expression: string): Column {
  const part: WireForm = call === 'count' ? { kind: 'number', cast: dialect.asText } : dialect.datePart;
  const wire = call === undefined && field !== undefined ? field.descriptor.wire : part;
  // An expression that is compared in the form in which it is read has that cast already. Not every cast takes its own
  // result, such as that of geometry.
  const isRead = call === undefined && wire.cast !== undefined && field?.descriptor.comparison === wire.cast;
  return { key, expression: isRead ? expression : cast(expression, wire.cast), shape: shapeOf(wire) };
}

function shapeOf({ kind, array }: FieldDescriptor['wire']): Shape {
  return array === true ? { kind: 'array', element: kind } : { kind: 'scalar', wire: kind };
}

/** One column per function: a value for rows, a record with one value per field for fields. */
function valueColumns(
  dialect: SqlDialect,
  values: readonly Aggregate[],
  print: (aggregate: Aggregate) => string,
): readonly Column[] {
  const functions = Map.groupBy(values, (value) => value.function);
  return [...functions].map(([key, aggregates]) => {
    const parts = aggregates.map((aggregate) => {
      const wire = aggregateWire(dialect, aggregate.function, aggregate.field?.descriptor ?? null);
      const name = aggregate.field?.descriptor.name;
      return { name, expression: cast(print(aggregate), wire.cast), shape: shapeOf(wire) };
    });
    const [first] = parts;
    if (first !== undefined && first.name === undefined)
      return { key, expression: first.expression, shape: first.shape };
    const fields = parts.map(({ name = '', shape }): ShapeField => ({ key: name, shape }));
    const expression = dialect.record(
      valuesOf(
        parts.map((part) => part.expression),
        fields,
      ),
    );
    return { key, expression, shape: { kind: 'record', fields } };
  });
}

/** The cells that an aggregation looks at, each computed once per row. */
interface Source {
  readonly row: Row;
  /** Computes an expression of the inner row and returns how it is named outside. */
  column(expression: string): string;
  print(from: string, predicate: string): string;
}

/** Starts the source of an aggregation over the rows that `row` stands for. */
export function createSource(row: Row): Source {
  const alias = row.statement.alias();
  const columns = new Map<string, string>();
  return {
    row,
    column: (expression) => `${alias}.${findOrCreate(columns, expression, () => `x${columns.size}`)}`,
    print(from, predicate) {
      const selected = [...columns].map(([expression, name]) => `${expression} AS ${name}`);
      return `(SELECT ${selected.length === 0 ? '1' : selectList(selected)} FROM ${from}${where(predicate)}) ${alias}`;
    },
  };
}

/** The same without an inner query: every expression stands where it is used. */
function createPlainSource(row: Row): Source {
  return {
    row,
    column: (expression) => expression,
    print: (from, predicate) => `${from}${where(predicate)}`,
  };
}

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
  const expression = dialect.list({ element, from: rows, where: '', order: printed.order, bounds });
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

/** A list of groups, made in FROM: of the rows of this parent where it can see it, else of all rows. */
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
  const cut = sees ? `${orderBy(printed.order)}${bounds}` : '';
  const expression = dialect.list({
    element: { expression: `${alias}.r`, nested: true },
    from: `(SELECT ${selected} FROM ${rows}${cut}) ${alias}`,
    where: where(allOf(apart.map((_, index) => `${alias}.p${index} = ${links[index]?.start}`))),
    order,
    bounds: sees ? '' : bounds,
  });
  return { expression, shape: { kind: 'records', fields: fieldsOf(printed.columns) } };
}

function recordOf({ target }: Reach, { columns }: PrintedAggregates): string {
  return target.statement.dialect.record(valuesOf(expressionsOf(columns), fieldsOf(columns)));
}
