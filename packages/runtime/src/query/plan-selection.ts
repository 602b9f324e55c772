import type { ManyToMany, RelationDescriptor } from '../contract/index.ts';
import { cast, cell, granted, guarded } from '../sql/cell.ts';
import { printCondition } from '../sql/condition.ts';
import { allOf, selectList, where } from '../sql/fragment.ts';
import { type Reach, reach, reachItem } from '../sql/related.ts';
import { type Row, tableRow } from '../sql/row.ts';
import type { NestedAggregates, NestedOrders, NestedRead } from './nested.ts';
import type { ShapeField } from './plan.ts';
import { printNestedAggregates } from './plan-aggregate-rows.ts';
import { printBounds } from './plan-bounds.ts';
import { keyFields, orderBy, type PrintedTerm, printOrder, printRelationOrder, printSortField } from './plan-order.ts';
import { createPage, outerOrder } from './plan-page.ts';
import { type Printed, printField, printFunctionPart, printOwnKey } from './plan-value.ts';
import type { FieldScope } from './scope.ts';
import type { Selected, Selection } from './selection.ts';

/** What a selection prints as: one expression per part, and what its bytes become. */
export interface PrintedSelection {
  readonly expressions: readonly string[];
  readonly fields: readonly ShapeField[];
}

/** How the nested lists of a read are cut and ordered. */
export interface NestedLists {
  /** Rows of each list that `deep` does not name. */
  readonly limit: number;
  /** Where the bounds of each list that `deep` names find their values. */
  readonly positions: ReadonlyMap<NestedRead, number>;
  readonly orders: NestedOrders;
  readonly aggregates: NestedAggregates;
}

type RelationPart = Extract<Selected, { kind: 'keys' | 'nested' | 'aggregate' }>;
type AggregatePart = Extract<Selected, { kind: 'aggregate' }>;
type ListPart = Exclude<RelationPart, AggregatePart>;
type ItemPart = Extract<Selected, { kind: 'item' }>;

/** Prints the parts of a selection on a row. */
export function printSelection(row: Row, { parts }: Pick<Selection, 'parts'>, lists: NestedLists): PrintedSelection {
  const expressions: string[] = [];
  const fields: ShapeField[] = [];
  for (const part of parts) {
    if (part.kind === 'constant') {
      fields.push({ key: part.key, shape: { kind: 'constant', json: part.json } });
      continue;
    }
    const { expression, shape } = printPart(row, part, lists);
    expressions.push(expression);
    fields.push({ key: part.key, shape });
  }
  return { expressions, fields };
}

/** Whether a selection looks at other tables, so that it is worth cutting the list before it is computed. */
export function leavesTable({ parts }: Pick<Selection, 'parts'>): boolean {
  return parts.some((part) => {
    if (part.kind === 'group') return leavesTable(part);
    return part.kind !== 'field' && part.kind !== 'constant' && !(part.kind === 'call' && part.call.kind === 'field');
  });
}

function printPart(row: Row, part: Exclude<Selected, { kind: 'constant' }>, lists: NestedLists): Printed {
  if (part.kind === 'field') return printField(row, part.field);
  if (part.kind === 'group') return printGroup(row, part, lists);
  if (part.kind === 'call') return printFunctionPart(row, part.call);
  if (part.kind === 'item') return printItem(row, part, lists);
  const { expression, shape } = printRelation(row, part, lists);
  return { expression: guarded(granted(row, part.relation.grant), expression), shape };
}

function printRelation(row: Row, part: RelationPart, lists: NestedLists): Printed {
  const { relation } = part;
  if (part.kind === 'keys' && relation.descriptor.kind === 'm2o') return printOwnKey(row, relation.descriptor);
  const reached = reach(row, relation);
  // A selection is resolved against the same scope, so its relations have targets.
  if (reached === undefined) return { expression: 'NULL::int4', shape: { kind: 'scalar', wire: 'i4' } };
  if (part.kind === 'aggregate') return printAggregated(reached, part, lists);
  const list = listOf(reached, part, lists);
  if (part.kind === 'keys') return printKeys(reached.target, list);
  return relation.descriptor.kind === 'm2o'
    ? printOne(narrowed(reached, part.read), part.of, lists)
    : printMany(reached.target, list, part.of, lists);
}

/** The rows of a nested list as its relation and `deep` want them. */
interface NestedList {
  readonly from: string;
  readonly predicate: string;
  readonly order: readonly PrintedTerm[];
  readonly bounds: string;
}

function listOf(reached: Reach, { relation, read }: ListPart, lists: NestedLists): NestedList {
  const { from, joins, target } = narrowed(reached, read);
  const asked = read === undefined ? [] : (lists.orders.get(read) ?? []);
  const order = asked.length > 0 ? printOrder(target, asked) : printNestedOrder(reached, relation.descriptor);
  const bounds =
    read === undefined
      ? ` LIMIT ${lists.limit}`
      : printBounds(target.statement, read.request, lists.positions.get(read) ?? 0);
  return { from, predicate: allOf(joins), order, bounds };
}

/** The rows of a relation, aggregated. */
function printAggregated(reached: Reach, { read }: AggregatePart, lists: NestedLists): Printed {
  const names = lists.aggregates.get(read) ?? { groups: [], values: [], order: [] };
  const bounds = printBounds(reached.target.statement, read.request, lists.positions.get(read) ?? 0);
  return printNestedAggregates(narrowed(reached, read), names, read.having.condition, bounds);
}

/** The rows that also meet what `deep` asks of them. */
function narrowed(reached: Reach, read: NestedRead | undefined): Reach {
  if (read === undefined) return reached;
  return { ...reached, joins: [...reached.joins, printCondition(reached.target, read.condition)] };
}

function printGroup(row: Row, part: Pick<Selection, 'parts'>, lists: NestedLists): Printed {
  const { expressions, fields } = printSelection(row, part, lists);
  return { expression: `ROW(${selectList(expressions)})`, shape: { kind: 'record', fields } };
}

/** The item of a link row: a record per collection, of which at most one is there, then the key. */
function printItem(row: Row, part: ItemPart, lists: NestedLists): Printed {
  const printed: Printed[] = [];
  // Whoever names the collections of an item, the link rows need not have been reached by their relation.
  const linked: Row = { ...row, link: part.link };
  for (const { of, read } of part.items) {
    const reached = reachItem(linked, of.collection.descriptor.name);
    if (reached !== undefined) printed.push(printOne(narrowed(reached, read), of, lists));
  }
  if (part.own !== undefined) printed.push(printItemKey(row, part, part.own));
  const expression = `ROW(${printed.map((one) => one.expression).join(', ')})`;
  return { expression, shape: { kind: 'first', of: printed.map(({ shape }) => shape) } };
}

/** The key of an item whose collection is not nested; an item that is nested and hidden stays null. */
function printItemKey(row: Row, { link, items }: ItemPart, own: FieldScope): Printed {
  const { expression, shape } = printField(row, own);
  const kind = row.collection.fields.get(link.collectionField);
  if (kind === undefined) return { expression, shape };
  const name = cast(cell(row, kind), '::pg_catalog.text');
  const others = items.map(({ of }) => {
    const value = of.collection.descriptor.name;
    return `(${name} = ${row.statement.parameter({ kind: 'fixed', value }, 'pg_catalog.text')}) IS NOT TRUE`;
  });
  return { expression: guarded(allOf(others), expression), shape };
}

/** The related row as a record: null where it is missing or hidden. */
function printOne({ from, joins, target }: Reach, selection: Selection, lists: NestedLists): Printed {
  const { expressions, fields } = printSelection(target, selection, lists);
  const expression = `(SELECT ROW(${selectList(expressions)}) FROM ${from}${where(allOf(joins))})`;
  return { expression, shape: { kind: 'record', fields } };
}

/** The related rows as an array of records, cut to the limit before anything nested in them is computed. */
function printMany(target: Row, list: NestedList, selection: Selection, lists: NestedLists): Printed {
  const { from, predicate, order, bounds } = list;
  if (!leavesTable(selection)) {
    const { expressions, fields } = printSelection(target, selection, lists);
    return printRecords(expressions, fields, `${from}${where(predicate)}${orderBy(order)}${bounds}`);
  }
  const page = createPage(target);
  const outer = outerOrder(page, order);
  const { expressions, fields } = printSelection(page.row, selection, lists);
  return printRecords(expressions, fields, `${page.print(from, predicate, order, bounds)}${orderBy(outer)}`);
}

function printRecords(expressions: readonly string[], fields: readonly ShapeField[], rows: string): Printed {
  const expression = `ARRAY(SELECT ROW(${selectList(expressions)}) FROM ${rows})`;
  return { expression, shape: { kind: 'records', fields } };
}

/** The keys of the related rows: values, or path forms where the key has several fields (specification, section 4). */
function printKeys(target: Row, { from, predicate, order, bounds }: NestedList): Printed {
  const fields = keyFields(target.collection.descriptor).map(
    (field): FieldScope =>
      target.collection.fields.get(field.name) ?? { descriptor: field, grant: null, secret: false },
  );
  const keys = fields.map((field) => printField(target, field));
  const rows = `${from}${where(predicate)}${orderBy(order)}${bounds}`;
  const [only] = keys;
  if (only !== undefined && keys.length === 1 && only.shape.kind === 'scalar') {
    return {
      expression: `ARRAY(SELECT ${only.expression} FROM ${rows})`,
      shape: { kind: 'array', element: only.shape.wire },
    };
  }
  const record = guarded(isWhole(target, fields), `ROW(${keys.map(({ expression }) => expression).join(', ')})`);
  const parts = keys.map(({ shape }) => (shape.kind === 'scalar' ? shape.wire : 'text'));
  return { expression: `ARRAY(SELECT ${record} FROM ${rows})`, shape: { kind: 'paths', parts } };
}

/** A key of which one part is missing or cannot be read is no key, and must not look like one. */
function isWhole(row: Row, fields: readonly FieldScope[]): string {
  return allOf(
    fields.flatMap(({ grant, descriptor }) => [
      granted(row, grant),
      ...(descriptor.nullable ? [`${row.column(descriptor.column)} IS NOT NULL`] : []),
    ]),
  );
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
