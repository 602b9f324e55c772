/** Sources of the columns of a filled tree's answer: the request, or values that the database fills in. */
import type { ManyToOne, RelationDescriptor } from '../../../language/index.ts';
import type { Selected, Selection } from '../../../query/authorise/selection.ts';
import type { SelectedItems } from '../../../query/plan/plan.ts';
import { chosenOrder } from '../../../query/plan/plan-order.ts';
import { isNested, printField, printOwnKey } from '../../../query/plan/plan-value.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import { type StatementBuilder, tableRow } from '../../../sql/row.ts';
import { keyFields } from '../../../sql/scope.ts';
import { isEveryRow } from '../../../write/checks/check.ts';
import type { NewGroup } from './plan-inserts.ts';

/** Alias of the rows of a group in expressions over their columns. */
export const valuesAlias = 't';

/** A tree whose answer is planned. */
export interface Filling {
  readonly statement: StatementBuilder;
  readonly groups: readonly NewGroup[];
  readonly read: SelectedItems;
  /** Expressions over the rows of each group. */
  readonly valueColumns: readonly string[][];
}

/** Sources of the columns of a selection of a group's items. */
export function cellsOf(
  filling: Filling,
  { collection, parts }: Selection,
  index: number,
): readonly Cell[] | undefined {
  if (!collection.rows.every((rule) => isEveryRow(rule))) return undefined;
  const cells: Cell[] = [];
  for (const part of parts) {
    if (part.kind === 'constant') continue;
    const cell = cellOf(filling, collection, part, index);
    if (cell === undefined) return undefined;
    cells.push(cell);
  }
  return cells;
}

function cellOf(
  filling: Filling,
  collection: Selection['collection'],
  part: Selected,
  index: number,
): Cell | undefined {
  switch (part.kind) {
    case 'field':
      return fieldCell(filling, collection, part.field, index);
    case 'group': {
      const cells = cellsOf(filling, { collection, parts: part.parts }, index);
      return cells && { kind: 'own', cells };
    }
    case 'keys':
    case 'nested':
      return part.relation.grant === null ? relatedCell(filling, collection, part, index) : undefined;
    default:
      return undefined;
  }
}

type RelatedPart = Extract<Selected, { kind: 'keys' | 'nested' }>;
type Field = Extract<Selected, { kind: 'field' }>['field'];

/** A text that every item brings is stored as it came: texts that are too long have been refused. */
function fieldCell(
  { statement, groups, read, valueColumns: completed }: Filling,
  collection: Selection['collection'],
  field: Field,
  index: number,
): Cell | undefined {
  if (field.grant !== null) return undefined;
  const row = tableRow(statement, read.scope, collection, valuesAlias);
  const { expression, shape } = printField(row, field);
  // Arrays that differ in length cannot form an array, but records that hold them can.
  if (isNested(shape))
    return { kind: 'database', at: valueIndex(completed[index], `ROW(${expression})`), wrapped: true };
  const { column: name, type, native, stored, wire } = field.descriptor;
  const isText = (type === 'string' || type === 'text') && wire.kind === 'text' && native === 'text';
  const isPlain = isText && stored === undefined && expression === row.column(name);
  const { columns = [], writable } = groups[index]?.written ?? {};
  const column = columns.findIndex(({ field: { descriptor } }) => descriptor.column === name);
  const written = columns[column];
  const isOwn = writable?.collection.descriptor.name === collection.descriptor.name;
  if (isPlain && isOwn && written?.complete === true && !written.linked) return { kind: 'sent', column };
  return { kind: 'database', at: valueIndex(completed[index], expression) };
}

/** The position of an expression among those of a group. */
function valueIndex(expressions: string[] = [], expression: string): number {
  const index = expressions.indexOf(expression);
  return index < 0 ? expressions.push(expression) - 1 : index;
}

/** The item whose key an item holds, or those that hold its key, where the payload has them; or their keys. */
function relatedCell(
  filling: Filling,
  collection: Selection['collection'],
  part: RelatedPart,
  index: number,
): Cell | undefined {
  const { descriptor } = part.relation;
  if (descriptor.kind === 'm2o') {
    return part.kind === 'keys'
      ? ownKeyCell(filling, collection, descriptor, index)
      : heldCell(filling, descriptor, part, index);
  }
  const edge = filling.groups[index]?.group.children.find(({ relation }) => relation.name === descriptor.name);
  const below = filling.groups.findIndex((candidate) => candidate.group === edge?.group);
  if (below < 0) return isEmpty(filling, collection, descriptor) ? { kind: 'empty' } : undefined;
  const target = filling.read.scope.collections.get(descriptor.target);
  const hold = filling.groups[below]?.holds.findIndex((held) => held.place === index) ?? -1;
  if (descriptor.kind !== 'o2m' || target === undefined || hold < 0) return undefined;
  const list = listOf(filling, target, part.read, descriptor.sort, below);
  const cells = part.kind === 'nested' ? cellsOf(filling, part.of, below) : keyCells(filling, target, below);
  return list && cells && { kind: part.kind === 'nested' ? 'list' : 'keys', group: below, hold, cells, ...list };
}

/** The key that an item holds. */
function ownKeyCell(
  { statement, read, valueColumns: completed }: Filling,
  collection: Selection['collection'],
  relation: ManyToOne,
  index: number,
): Cell {
  const { expression } = printOwnKey(tableRow(statement, read.scope, collection, valuesAlias), relation);
  return { kind: 'database', at: valueIndex(completed[index], expression) };
}

/** The item whose key an item holds, where the payload has it. */
function heldCell(
  filling: Filling,
  relation: ManyToOne,
  { of: selection, read }: Extract<RelatedPart, { kind: 'nested' }>,
  index: number,
): Cell | undefined {
  const { group, holds = [] } = filling.groups[index] ?? {};
  const edge = group?.before.find(({ on }) => JSON.stringify(on) === JSON.stringify(relation.on));
  const other = filling.groups.findIndex((candidate) => candidate.group === edge?.group);
  const hold = holds.findIndex((held) => held.place === other);
  const cells = other < 0 || hold < 0 || read !== undefined ? undefined : cellsOf(filling, selection, other);
  return cells && { kind: 'held', group: other, hold, cells };
}

/** The only field of the key of items in a list of keys. */
function keyCells(filling: Filling, target: Selection['collection'], index: number): readonly Cell[] | undefined {
  if (!target.rows.every((rule) => isEveryRow(rule))) return undefined;
  return keyFields(target.descriptor).map(({ column }) => {
    const expression = tableRow(filling.statement, filling.read.scope, target, valuesAlias).column(column);
    return { kind: 'database', at: valueIndex(filling.valueColumns[index], expression) };
  });
}

/** True if no row can hold the key of a new item: a foreign key guarantees it, and the tree makes no such rows. */
function isEmpty(
  { groups }: Filling,
  { descriptor: { name } }: Selection['collection'],
  relation: Exclude<RelationDescriptor, ManyToOne>,
): boolean {
  const open = groups[0]?.written.scope.open;
  const [holders, on] = relation.kind === 'm2m' ? [relation.junction, relation.near] : [relation.target, relation.on];
  const holder = open?.collections.get(holders)?.descriptor;
  const isMade = groups.some(({ written }) => written.writable.collection.descriptor.name === holders);
  if (holder === undefined || isMade) return false;
  const held = on.map(({ to }) => fieldOfColumn(holder.fields, to)?.name);
  return (holder.constraints ?? []).some(({ type, target, fields, incomplete, unchecked }) => {
    const isSame =
      fields.length === held.length && held.every((field) => field !== undefined && fields.includes(field));
    return type === 'foreign_key' && target === name && isSame && incomplete !== true && unchecked !== true;
  });
}

/** Order and bounds of a list; undefined unless it has all items in the order of a key that is one integer. */
function listOf(
  { statement, valueColumns: completed, read: { nested, scope } }: Filling,
  collection: Selection['collection'],
  read: RelatedPart['read'],
  sort: string | undefined,
  index: number,
): Pick<ListCell, 'key' | 'limit'> | undefined {
  const [key, ...more] = keyFields(collection.descriptor);
  const wire = key?.wire.kind;
  const isInteger = (wire === 'i2' || wire === 'i4' || wire === 'i8') && key?.wire.cast === undefined;
  if (key === undefined || more.length > 0 || !isInteger) return undefined;
  const requested = read === undefined ? [] : (nested.orders.get(read) ?? []);
  const terms = sort === undefined || requested.length > 0 ? requested : undefined;
  const order = terms === undefined ? undefined : chosenOrder(collection, terms);
  const isByKey = order?.every(({ through, by, descending }) => {
    return through.length === 0 && by.kind === 'plain' && by.field.descriptor.column === key.column && !descending;
  });
  if (isByKey !== true || (read !== undefined && !(isEveryRow(read.condition) && read.request.offset === 0)))
    return undefined;
  const column = tableRow(statement, scope, collection, valuesAlias).column(key.column);
  return { key: { at: valueIndex(completed[index], column), wire }, limit: read?.request.limit ?? nested.limit };
}

/** Answer of such a nested write: where the columns of its items at the top are found. */
export interface ReturnedRead {
  /** The position of their group. */
  readonly at: number;
  readonly cells: readonly Cell[];
  /** Numbers of arrays that the statement answers, by group. */
  readonly arrays: readonly number[];
  /** For each group: the positions of the groups whose keys its items hold. */
  readonly holds: readonly (readonly number[])[];
  /** The name of the collection at the top. */
  readonly collection: string;
}

/** Source of a column of an item, or of a record in it. */
export type Cell =
  /** In a column of the batch, every text of which is stored as it came. */
  | { readonly kind: 'sent'; readonly column: number }
  /** Among what the database answers of the item's group; `wrapped` in a record of nothing else. */
  | { readonly kind: 'database'; readonly at: number; readonly wrapped?: true }
  /** A list without items. */
  | { readonly kind: 'empty' }
  /** A record of the item itself. */
  | { readonly kind: 'own'; readonly cells: readonly Cell[] }
  /** The item whose key it holds: by which of the keys, and the group of that item. */
  | { readonly kind: 'held'; readonly group: number; readonly hold: number; readonly cells: readonly Cell[] }
  | ListCell;

/** The items of a group that hold the item's key, as records or keys, ordered by key. `limit` -1: all. */
export interface ListCell {
  readonly kind: 'list' | 'keys';
  readonly group: number;
  readonly hold: number;
  readonly cells: readonly Cell[];
  readonly key: { readonly at: number; readonly wire: 'i2' | 'i4' | 'i8' };
  readonly limit: number;
}
