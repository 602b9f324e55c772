/** Holding items still until the transaction ends, so that what is read of them is what is changed. */
import type { CollectionDescriptor } from '../contract/index.ts';
import type { RowSink, Transaction } from '../database/database.ts';
import { keyFields } from '../query/plan-order.ts';
import { cast } from '../sql/cell.ts';
import { operandType } from '../sql/operand.ts';
import { createStatement } from '../sql/statement.ts';
import { asMany, type Keys } from './keys.ts';
import { nameStatement } from './statement.ts';

const texts = new WeakMap<CollectionDescriptor, string>();
const noRows: RowSink = { row: () => {} };

/** Locks the items with these keys, as an UPDATE would. */
export function lockRows(transaction: Transaction, descriptor: CollectionDescriptor, keys: Keys): Promise<void> {
  const text = texts.get(descriptor) ?? printLock(descriptor);
  texts.set(descriptor, text);
  return transaction.run(nameStatement(text), asMany(keys).values, noRows);
}

function printLock(descriptor: CollectionDescriptor): string {
  const statement = createStatement(new Map());
  const fields = keyFields(descriptor);
  const arrays = fields.map((field, index) => {
    const array = statement.parameter({ kind: 'value', index }, `${operandType(field).native}[]`);
    return `pg_catalog.unnest(${array})`;
  });
  const names = fields.map((_, index) => `k${index}`);
  const equal = fields.map((field, index) => `${cast(`t.${field.column}`, field.comparison)} = i.k${index}`);
  const from = `${descriptor.table} AS t JOIN ROWS FROM (${arrays.join(', ')}) AS i(${names.join(', ')})`;
  return statement.finish(`SELECT FROM ${from} ON ${equal.join(' AND ')} FOR UPDATE OF t`).text;
}
