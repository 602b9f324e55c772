import { allOf, cast, checkWidth, selectList, sqlFalse, sqlTrue, where } from '../../dialects/fragment.ts';
import type { Value } from '../../dialects/index.ts';
import type { ShapeField } from '../../json/shape.ts';
import { cell, guarded } from '../../sql/cell.ts';
import { narrowed, reachListed } from '../../sql/lookups.ts';
import { type PageOfRows, reachFromPage } from '../../sql/page-links.ts';
import { firstOf, joinsOf, type Reach, reach, reachItem } from '../../sql/related.ts';
import type { Row, StatementBuilder } from '../../sql/row.ts';
import { granted } from '../../sql/rules.ts';
import { type FieldScope, keyFields } from '../../sql/scope.ts';
import type { Selected, Selection } from '../authorise/selection.ts';
import { printNestedAggregates } from './plan-aggregate-rows.ts';
import { printBounds } from './plan-bounds.ts';
import { type NestedList, type NestedLists, nestedList } from './plan-nested-list.ts';
import { createPage, outerOrder, type Page, printPageAggregates, printPageList } from './plan-page.ts';
import {
  isColumnar,
  isNested,
  type Printed,
  type PrintedElement,
  printField,
  printFunctionPart,
  printOwnKey,
  valuesOf,
} from './plan-value.ts';

/** A printed selection: one expression per part, and the shapes of its columns. */
interface PrintedSelection {
  readonly expressions: readonly string[];
  readonly fields: readonly ShapeField[];
  /** Places of the expressions that are columns which no row has null. */
  readonly present: ReadonlySet<number>;
}

type RelationPart = Extract<Selected, { kind: 'keys' | 'nested' | 'aggregate' }>;
type AggregatePart = Extract<Selected, { kind: 'aggregate' }>;
type ItemPart = Extract<Selected, { kind: 'item' }>;

export function printSelection(row: Row, { parts }: Pick<Selection, 'parts'>, lists: NestedLists): PrintedSelection {
  const expressions: string[] = [];
  const fields: ShapeField[] = [];
  const present = new Set<number>();
  for (const part of parts) {
    if (part.kind === 'constant') {
      fields.push({ key: part.key, shape: { kind: 'constant', json: part.json } });
      continue;
    }
    const { expression, shape } = printPart(row, part, lists);
    if (part.kind === 'field' && isAlwaysThere(part.field)) present.add(expressions.length);
    expressions.push(expression);
    fields.push({ key: part.key, shape });
  }
  return { expressions, fields, present };
}

/** True if a field is readable on every readable row, and never null. */
function isAlwaysThere({ grant, secret, descriptor }: FieldScope): boolean {
  return grant === null && !secret && !descriptor.nullable;
}

/** True if a selection looks at other tables, so that it is worth cutting the list before it is computed. */
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
  const together = row === lists.page?.row ? printForPage(lists.page, part, lists) : undefined;
  if (together !== undefined) return together;
  const reached = reachListed(row, relation, part.read?.condition);
  // A selection is resolved against the same scope, so its relations have targets.
  const { dialect } = row.statement;
  if (reached === undefined) return { expression: dialect.nothing('int4'), shape: { kind: 'scalar', wire: 'i4' } };
  if (part.kind === 'aggregate') return printAggregated(reached, part, lists);
  const list = nestedList(reached, part, lists);
  if (part.kind === 'keys') return printKeys(list);
  return relation.descriptor.kind === 'm2o' ? printOne(reached, part.of, lists) : printMany(list, part.of, lists);
}

/** Prints a list for all rows of a page at once; undefined where it is made row by row. */
function printForPage(page: PageOfRows, part: RelationPart, lists: NestedLists): Printed | undefined {
  const { offset = 0, limit = -1 } = part.read?.request ?? {};
  const isGrouped = part.kind === 'aggregate' && lists.aggregates.get(part.read)?.groups.length !== 0;
  const reached =
    offset > 0 || limit === 0 || isGrouped ? undefined : reachFromPage(page, part.relation, part.read?.condition);
  if (reached === undefined) return undefined;
  if (part.kind !== 'aggregate') {
    const print = (row: Row) => (part.kind === 'keys' ? printElementKey(row) : printElement(row, part.of, lists));
    return printPageList(page, reached, nestedList(reached, part, lists), print);
  }
  const names = lists.aggregates.get(part.read);
  const targets = reach(page.row, part.relation);
  if (targets === undefined || names === undefined) return undefined;
  const none = printAggregated({ ...targets, links: [], own: [sqlFalse] }, part, lists);
  return printPageAggregates(page, reached, names, part.read.having.condition, none);
}

/** The rows of a relation, aggregated. */
function printAggregated(reached: Reach, { read }: AggregatePart, lists: NestedLists): Printed {
  const names = lists.aggregates.get(read) ?? { groups: [], values: [], order: [] };
  const bounds = printBounds(reached.target.statement, read.request, lists.positions.get(read) ?? 0);
  return printNestedAggregates(reached, names, read.having.condition, bounds);
}

function printGroup(row: Row, part: Pick<Selection, 'parts'>, lists: NestedLists): Printed {
  const printed = printSelection(row, part, lists);
  return { expression: recordOf(row, printed), shape: { kind: 'record', fields: printed.fields } };
}

/** The item of a link row: a record per collection, of which at most one is there, then the key. */
function printItem(row: Row, part: ItemPart, lists: NestedLists): Printed {
  const printed: Printed[] = [];
  // Link rows may also be read without their relation, where a request names the collections of the item itself.
  const linked: Row = { ...row, link: part.link };
  for (const { of: selection, read } of part.items) {
    const reached = reachItem(linked, selection.collection.descriptor.name);
    if (reached !== undefined) printed.push(printOne(narrowed(reached, read?.condition), selection, lists));
  }
  if (part.own !== undefined) printed.push(printItemKey(row, part, part.own));
  const values = printed.map((member) => ({ expression: member.expression, nested: isNested(member.shape) }));
  const expression = row.statement.dialect.record(values);
  return { expression, shape: { kind: 'first', of: printed.map(({ shape }) => shape) } };
}

/** The key of an item whose collection is not nested; an item that is nested and hidden stays null. */
function printItemKey(row: Row, { link, items }: ItemPart, scope: FieldScope): Printed {
  const { expression, shape } = printField(row, scope);
  const kind = row.collection.fields.get(link.collectionField);
  if (kind === undefined) return { expression, shape };
  const name = cast(cell(row, kind), row.statement.dialect.asText);
  const others = items.map(({ of: selection }) => {
    const value = selection.collection.descriptor.name;
    return `(${name} = ${row.statement.parameter({ kind: 'fixed', value }, 'pg_catalog.text')}) IS NOT TRUE`;
  });
  return { expression: guarded(allOf(others), expression), shape };
}

/** The related row as a record: null where it is missing or hidden. */
function printOne(reached: Reach, selection: Selection, lists: NestedLists): Printed {
  const { target } = reached;
  const printed = printSelection(target, selection, lists);
  const expression = `(SELECT ${recordOf(target, printed)} FROM ${reached.from()}${where(allOf(joinsOf(reached)))}${firstOf(target)})`;
  return { expression, shape: { kind: 'record', fields: printed.fields } };
}

/** The related rows as an array of records, cut to the limit before anything nested in them is computed. */
function printMany(list: NestedList, selection: Selection, lists: NestedLists): Printed {
  const { target, from, predicate, order, within, bounds, sorted } = list;
  if (!needsPage(target, sorted || leavesTable(selection))) {
    const { element, shape } = printElement(target, selection, lists);
    return { expression: printList(target, element, { ...list, order: within }), shape };
  }
  const page = createPage(target);
  const outer = outerOrder(page, order);
  const { element, shape } = printElement(page.row, selection, lists);
  const rows = (): string => page.print(from, predicate, within, bounds);
  return {
    expression: printList(target, element, { from: rows, predicate: sqlTrue, order: outer, bounds: '' }),
    shape,
  };
}

function printElement(row: Row, selection: Selection, lists: NestedLists): PrintedElement {
  const printed = printSelection(row, selection, lists);
  return {
    element: { expression: recordOf(row, printed), nested: true },
    shape: { kind: 'records', fields: printed.fields },
    ...(isColumnar(printed.fields) && { columns: printed.expressions }),
  };
}

/** True if a list is cut in a page of its own before anything is made of its rows. */
function needsPage({ statement }: Row, isWorthIt: boolean): boolean {
  const { pages } = statement.dialect;
  return pages === 'needed' ? isWorthIt : pages === 'always';
}

function printList(
  { statement }: Row,
  element: Value,
  list: Pick<NestedList, 'from' | 'predicate' | 'order' | 'bounds'>,
): string {
  const { from, predicate, order, bounds } = list;
  return statement.dialect.list({ element, from: from(), where: where(predicate), order, bounds });
}

function recordOf({ statement }: Row, { expressions, fields, present }: PrintedSelection): string {
  checkWidth(expressions.length);
  return statement.dialect.record(valuesOf(expressions, fields, present));
}

/** The select list of an answer: columns in front of the items, then those of each item. */
export function answerList(
  { dialect }: StatementBuilder,
  first: readonly string[],
  expressions: readonly string[],
  fields: readonly ShapeField[],
): string {
  const list = selectList([...first, ...valuesOf(expressions, fields).map((value) => dialect.answer(value))]);
  return list === '' ? dialect.noColumns : list;
}

/** The keys of the related rows: values, or path forms where the key has several fields (specification, section 4). */
function printKeys(list: NestedList): Printed {
  const { target } = list;
  const page = needsPage(target, false) ? createPage(target) : undefined;
  const { element, shape } = printElementKey(page?.row ?? target);
  return { expression: printKeyList(target, page, element, list), shape };
}

/** The key of a row as an element of a list, and the shape of the list. */
function printElementKey(row: Row): PrintedElement {
  const fields = keyFields(row.collection.descriptor).map(
    (field): FieldScope => row.collection.fields.get(field.name) ?? { descriptor: field, grant: null, secret: false },
  );
  const keys = fields.map((field) => printField(row, field));
  const [only] = keys;
  if (only !== undefined && keys.length === 1 && only.shape.kind === 'scalar') {
    const element = { expression: only.expression, nested: false };
    return { element, shape: { kind: 'array', element: only.shape.wire } };
  }
  const values = keys.map(({ expression, shape }) => ({ expression, nested: isNested(shape) }));
  const record = guarded(isWhole(row, fields), row.statement.dialect.record(values));
  const parts = keys.map(({ shape }) => (shape.kind === 'scalar' ? shape.wire : 'text'));
  return { element: { expression: record, nested: true }, shape: { kind: 'paths', parts } };
}

function printKeyList(target: Row, page: Page | undefined, element: Value, list: NestedList): string {
  if (page === undefined) return printList(target, element, { ...list, order: list.within });
  const order = outerOrder(page, list.order);
  const from = (): string => page.print(list.from, list.predicate, list.within, list.bounds);
  return printList(target, element, { from, predicate: sqlTrue, order, bounds: '' });
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
