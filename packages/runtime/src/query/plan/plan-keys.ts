import type { KeyKind } from '../../database/database.ts';
import { cast, hasParts, keyColumn } from '../../dialects/fragment.ts';
import type { ListedKey } from '../../dialects/index.ts';
import { type FieldDescriptor, types } from '../../language/index.ts';
import { besideColumn } from '../../sql/cell.ts';
import { keyType } from '../../sql/operand.ts';
import { isFirst } from '../../sql/related.ts';
import type { Row, StatementBuilder } from '../../sql/row.ts';
import { type CollectionScope, keyFields } from '../../sql/scope.ts';
import type { Selector } from '../authorise/shape.ts';

/** Predicates that pick items by key. Their values stand at `index`: one per key field, or an array for a list. */
export function printKeys(row: Row, selector: Selector, index: number): readonly string[] {
  if (selector !== 'key' && selector !== 'keys') return [];
  const named = printKeyFields(row, keyFields(row.collection.descriptor), selector, index);
  return selector === 'keys' ? [...named, ...isFirst(row)] : named;
}

/** The same of some fields of the key, whose values stand at `index` in their order. */
export function printKeyFields(
  row: Row,
  fields: readonly FieldDescriptor[],
  selector: 'key' | 'keys',
  index: number,
): readonly string[] {
  const types = fields.map((field) => ({ field, type: keyType(field) }));
  const sets = fields.map(besideColumn);
  const compared = fields.map((field) => keyColumn(row.column(field.column), field));
  const plain = fields.map(({ column }, index) => {
    return sets[index] === undefined ? (compared[index] ?? 'NULL') : row.column(column);
  });
  const exact = types.map(({ field }, index) => {
    const column = compared[index] ?? 'NULL';
    return field.folds === true || sets[index] !== undefined ? row.statement.dialect.exactly(column) : column;
  });
  const keys = types.map(({ type }, position): ListedKey => {
    const sent = hasParts(type) && selector === 'keys' ? 'pg_catalog.text' : type.native;
    const list = selector === 'keys' ? '[]' : '';
    const value = row.statement.parameter({ kind: 'value', index: index + position }, sent + list);
    return { list: value, cast: sent === type.native ? '' : `::${type.native}`, native: type.native };
  });
  // The exact comparison implies the plain one, which an index serves. Predicates that are equal are printed once.
  const plainKeys = keys.map((key, index) => (sets[index] === undefined ? key : { ...key, collated: sets[index] }));
  return [
    ...printColumns(row.statement, plain, plainKeys, selector),
    ...printColumns(row.statement, exact, keys, selector),
  ];
}

/** A field that tells the rows of several keys apart, and what its values are. */
export interface BatchKey {
  readonly field: FieldDescriptor;
  readonly kind: KeyKind;
}

/** The key of a collection, where it is one field whose values have one text each, and no two rows share one. */
export function batchKey({ descriptor }: CollectionScope): BatchKey | undefined {
  const [field, ...more] = keyFields(descriptor);
  if (field === undefined || more.length > 0 || field.folds === true || field.comparison !== undefined)
    return undefined;
  if (descriptor.inherited === true) return undefined;
  const kind = types[field.type].key;
  return kind && { field, kind };
}

function printColumns(
  { dialect }: StatementBuilder,
  columns: readonly string[],
  keys: readonly ListedKey[],
  selector: Selector,
): readonly string[] {
  if (selector === 'key')
    return columns.map((column, index) => `${column} = ${cast(keys[index]?.list ?? 'NULL', keys[index]?.collated)}`);
  const [only, ...more] = keys;
  const isPlain = only !== undefined && only.cast === '' && more.length === 0;
  return [isPlain ? dialect.among(columns.join(), only.list, only, false) : dialect.rowAmong(columns, keys)];
}

/** Number of values that a list of keys takes, named or written. */
export function keyValues(collection: CollectionScope, selector: Selector): number {
  return selector === 'keys' || selector === 'written' ? collection.descriptor.key.length : 0;
}
