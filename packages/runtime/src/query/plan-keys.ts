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
  const list = selector === 'keys' ? '[]' : '';
  const plain = types.map(({ field }) => cast(row.column(field.column), field.comparison));
  const exact = types.map(({ field }, place) => {
    const column = plain[place] ?? 'NULL';
    return field.folds === true ? exactly(column) : column;
  });
  const values = types.map(({ type }, place) =>
    row.statement.parameter({ kind: 'value', index: index + place }, type.native + list),
  );
  // What is the same text is equal too, and an index knows only that; predicates that are equal are printed once.
  return [plain, exact].flatMap((columns) => printColumns(columns, values, selector));
}

function printColumns(columns: readonly string[], values: readonly string[], selector: Selector): readonly string[] {
  if (selector === 'key') return columns.map((column, place) => `${column} = ${values[place]}`);
  if (columns.length === 1) return [`${columns.join()} = ANY (${values.join()})`];
  const unnested = values.map((value) => `pg_catalog.unnest(${value})`).join(', ');
  return [`(${columns.join(', ')}) IN (SELECT * FROM ROWS FROM (${unnested}) k)`];
}

/** How many values a list of keys takes, named or written. */
export function keyValues(collection: CollectionScope, selector: Selector): number {
  return selector === 'keys' || selector === 'written' ? collection.descriptor.key.length : 0;
}
