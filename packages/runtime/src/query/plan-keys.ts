import { cast, exactly } from '../sql/cell.ts';
import { operandType } from '../sql/operand.ts';
import type { Row } from '../sql/row.ts';
import { keyFields } from './plan-order.ts';
import type { CollectionScope } from './scope.ts';
import type { Selector } from './shape.ts';

/**
 * The predicates that pick items by key, for reads by key and lists of keys. Their values, one per key field, or one
 * array per field for a list of keys, stand at `index`.
 */
export function printKeys(row: Row, selector: Selector, index: number): readonly string[] {
  if (selector !== 'key' && selector !== 'keys') return [];
  const types = keyFields(row.collection.descriptor).map((field) => ({ field, type: operandType(field) }));
  // Arrays of a domain compare with their parameter only as arrays of its base.
  const plain = types.map(({ field, type }) =>
    cast(row.column(field.column), type.type === 'array' ? `::${type.native}` : field.comparison),
  );
  const exact = types.map(({ field }, place) => {
    const column = plain[place] ?? 'NULL';
    return field.folds === true ? exactly(column) : column;
  });
  const keys = types.map(({ type }, place): KeyValue => {
    const sent = type.type === 'array' && selector === 'keys' ? 'pg_catalog.text' : type.native;
    const list = selector === 'keys' ? '[]' : '';
    const value = row.statement.parameter({ kind: 'value', index: index + place }, sent + list);
    return { value, cast: sent === type.native ? '' : `::${type.native}` };
  });
  // What is the same text is equal too, and an index knows only that; predicates that are equal are printed once.
  return [plain, exact].flatMap((columns) => printColumns(columns, keys, selector));
}

/**
 * The parameter of a key field, and the cast of each of its elements: an array of arrays is unnested to the elements of
 * them all, so keys that are arrays are sent as texts.
 */
interface KeyValue {
  readonly value: string;
  readonly cast: string;
}

function printColumns(columns: readonly string[], keys: readonly KeyValue[], selector: Selector): readonly string[] {
  if (selector === 'key') return columns.map((column, place) => `${column} = ${keys[place]?.value}`);
  const isPlain = keys.every((key) => key.cast === '');
  if (columns.length === 1 && isPlain) return [`${columns.join()} = ANY (${keys.map(({ value }) => value).join()})`];
  const unnested = keys.map(({ value }) => `pg_catalog.unnest(${value})`).join(', ');
  const names = keys.map((_, place) => `k${place}`);
  const elements = keys.map((key, place) => `${names[place]}${key.cast}`);
  const rows = `SELECT ${elements.join(', ')} FROM ROWS FROM (${unnested}) k(${names.join(', ')})`;
  return [`(${columns.join(', ')}) IN (${rows})`];
}

/** How many values a list of keys takes, named or written. */
export function keyValues(collection: CollectionScope, selector: Selector): number {
  return selector === 'keys' || selector === 'written' ? collection.descriptor.key.length : 0;
}
