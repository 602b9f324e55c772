/**
 * New items in a tree whose answer holds what came with the request, and what the database has filled in: only the latter is
 * answered by the statement, as arrays in the order of the items, so that items of several requests can be made together.
 */

import { chosenOrder, keyFields } from '../../query/plan-order.ts';
import type { WholeRead } from '../../query/plan-returned.ts';
import { isNested, printField } from '../../query/plan-value.ts';
import type { Selected, Selection } from '../../query/selection.ts';
import { tableRow } from '../../sql/row.ts';
import { createStatement, type StatementBuilder } from '../../sql/statement.ts';
import type { Inputs } from '../inputs.ts';
import { isEveryRow } from '../late.ts';
import { nameStatement, transactionNumber } from '../statement.ts';
import type { Cell, FilledRead, ListCell } from './filled-rows.ts';
import { type NewGroup, printInsert, rowsOf } from './plan-inserts.ts';
import type { TreePlan } from './plan-tree.ts';

/** Plans such a tree; undefined where the answer takes more, or rules decide what of it the caller may read. */
export function planFilledTree(
  groups: readonly NewGroup[],
  at: number,
  read: WholeRead,
): Omit<TreePlan, 'answer' | 'make'> | undefined {
  const top = groups[at];
  if (top === undefined) return undefined;
  const statement = createStatement(new Map(), top.written.scope.open.dialect);
  const filling: Filling = { statement, groups, read, filled: groups.map(() => []) };
  const cells = cellsOf(filling, read.selection, at);
  if (cells === undefined) return undefined;
  const arrays = filling.filled.flatMap((expressions, place) => {
    // Every group tells how many items it has got.
    const told = expressions.length === 0 ? ['TRUE'] : expressions;
    return told.map((expression) => `ARRAY(SELECT ${expression} FROM ${rowsOf(place)} ${alias})`);
  });
  const text = arrays.join();
  const sources: Inputs['sources'][] = [];
  const isRead = (column: string): boolean => text.includes(column);
  const inserts = groups.map((one, place) =>
    printInsert(statement, groups, one, place, { alone: undefined, numbered: false, isRead, sources }),
  );
  const finished = statement.finish(`WITH ${inserts.join(', ')} SELECT ${[transactionNumber, ...arrays].join(', ')}`);
  const filled: FilledRead = {
    at,
    cells,
    arrays: filling.filled.map(({ length }) => Math.max(length, 1)),
    holds: groups.map(({ holds }) => holds.map(({ place }) => place)),
    collection: top.written.writable.collection.descriptor.name,
  };
  return {
    statement: { ...nameStatement(finished.text, finished.forms), brief: true },
    binders: finished.binders,
    sources,
    filled,
  };
}

/** What the rows of a group are called where their columns are told. */
const alias = 't';

interface Filling {
  readonly statement: StatementBuilder;
  readonly groups: readonly NewGroup[];
  readonly read: WholeRead;
  /** Expressions over the rows of each group. */
  readonly filled: readonly string[][];
}

/** Where the columns of a selection of a group's items are found. */
function cellsOf(filling: Filling, { collection, parts }: Selection, place: number): readonly Cell[] | undefined {
  if (!collection.rows.every((rule) => isEveryRow(rule))) return undefined;
  const cells: Cell[] = [];
  for (const part of parts) {
    if (part.kind === 'constant') continue;
    const cell = cellOf(filling, collection, part, place);
    if (cell === undefined) return undefined;
    cells.push(cell);
  }
  return cells;
}

function cellOf(
  filling: Filling,
  collection: Selection['collection'],
  part: Selected,
  place: number,
): Cell | undefined {
  switch (part.kind) {
    case 'field':
      return fieldCell(filling, collection, part.field, place);
    case 'group': {
      const cells = cellsOf(filling, { collection, parts: part.parts }, place);
      return cells && { kind: 'own', cells };
    }
    case 'nested':
      return part.relation.grant === null ? relatedCell(filling, part, place) : undefined;
    default:
      return undefined;
  }
}

type NestedPart = Extract<Selected, { kind: 'nested' }>;
type Field = Extract<Selected, { kind: 'field' }>['field'];

/** A text that every item brings is stored as it came: what is too long has been refused, so that nothing is cut off. */
function fieldCell(
  { statement, groups, read, filled }: Filling,
  collection: Selection['collection'],
  field: Field,
  place: number,
): Cell | undefined {
  if (field.grant !== null) return undefined;
  const row = tableRow(statement, read.scope, collection, alias);
  const { expression, shape } = printField(row, field);
  if (isNested(shape)) return undefined;
  const { column: name, type, native, stored, wire } = field.descriptor;
  const isText = (type === 'string' || type === 'text') && wire.kind === 'text' && native === 'text';
  const isPlain = isText && stored === undefined && expression === row.column(name);
  const { columns = [], writable } = groups[place]?.written ?? {};
  const column = columns.findIndex(({ field: { descriptor } }) => descriptor.column === name);
  const given = columns[column];
  const isOwn = writable?.collection.descriptor.name === collection.descriptor.name;
  if (isPlain && isOwn && given?.complete === true && !given.linked) return { kind: 'given', column };
  return { kind: 'filled', at: filledAt(filled[place], expression) };
}

/** The place of an expression among those of a group. */
function filledAt(expressions: string[] = [], expression: string): number {
  const known = expressions.indexOf(expression);
  return known < 0 ? expressions.push(expression) - 1 : known;
}

/** The item whose key an item holds, or those that hold its key, where the payload has them. */
function relatedCell(
  filling: Filling,
  { relation: { descriptor }, of, read }: NestedPart,
  place: number,
): Cell | undefined {
  const { groups } = filling;
  const { group } = groups[place] ?? {};
  if (descriptor.kind === 'm2o') {
    const edge = group?.before.find(({ on }) => JSON.stringify(on) === JSON.stringify(descriptor.on));
    const other = groups.findIndex((one) => one.group === edge?.group);
    const hold = groups[place]?.holds.findIndex((held) => held.place === other) ?? -1;
    const cells = other < 0 || hold < 0 || read !== undefined ? undefined : cellsOf(filling, of, other);
    return cells && { kind: 'held', group: other, hold, cells };
  }
  const edge = group?.children.find(({ relation }) => relation.name === descriptor.name);
  const below = groups.findIndex((one) => one.group === edge?.group);
  if (descriptor.kind !== 'o2m' || below < 0) return undefined;
  const list = listOf(filling, of, read, descriptor.sort, below);
  const hold = groups[below]?.holds.findIndex((held) => held.place === place) ?? -1;
  const cells = list === undefined || hold < 0 ? undefined : cellsOf(filling, of, below);
  return list && cells && { kind: 'list', group: below, hold, cells, ...list };
}

/** How a list is ordered and cut; undefined unless it has all items in the order of a key that is one integer. */
function listOf(
  { statement, filled, read: { nested, scope } }: Filling,
  { collection }: Selection,
  read: NestedPart['read'],
  sort: string | undefined,
  place: number,
): Pick<ListCell, 'key' | 'limit'> | undefined {
  const [key, ...more] = keyFields(collection.descriptor);
  const wire = key?.wire.kind;
  if (key === undefined || more.length > 0 || (wire !== 'i2' && wire !== 'i4' && wire !== 'i8')) return undefined;
  const asked = read === undefined ? [] : (nested.orders.get(read) ?? []);
  const own = sort === undefined || asked.length > 0 ? asked : undefined;
  const order = own === undefined ? undefined : chosenOrder(collection, own);
  const isByKey = order?.every(({ through, by, descending }) => {
    return through.length === 0 && by.kind === 'plain' && by.field.descriptor.column === key.column && !descending;
  });
  if (isByKey !== true || (read !== undefined && !(isEveryRow(read.condition) && read.request.offset === 0)))
    return undefined;
  const column = tableRow(statement, scope, collection, alias).column(key.column);
  return { key: { at: filledAt(filled[place], column), wire }, limit: read?.request.limit ?? nested.limit };
}
