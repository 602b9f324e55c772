/** Holding items still until the transaction ends, so that what is read of them is what is changed. */
import type { CollectionDescriptor } from '../contract/index.ts';
import type { RowSink, Transaction } from '../database/database.ts';
import { keyFields } from '../query/plan-order.ts';
import { type OwnRead, printOwn } from '../query/plan-returned.ts';
import { cast } from '../sql/cell.ts';
import { selectList, sqlTrue } from '../sql/fragment.ts';
import { operandType } from '../sql/operand.ts';
import { createStatement } from '../sql/statement.ts';
import { asMany, type Keys } from './keys.ts';
import { type RowLock, selectLocked } from './locked-rows.ts';
import { nameStatement } from './statement.ts';

const noRows: RowSink = { row: () => {} };

/** Locks the items with these keys, and reads them where that is wanted: what they are when they are held still. */
export function lockRows(
  transaction: Transaction,
  descriptor: CollectionDescriptor,
  keys: Keys,
  lock: RowLock,
  own?: OwnRead,
  rows: RowSink = noRows,
): Promise<void> {
  return transaction.run(nameStatement(printLock(descriptor, lock, own)), asMany(keys).values, rows);
}

function printLock(descriptor: CollectionDescriptor, lock: RowLock, own: OwnRead | undefined): string {
  const statement = createStatement(new Map());
  const fields = keyFields(descriptor);
  const arrays = fields.map((field, index) => {
    const array = statement.parameter({ kind: 'value', index }, `${operandType(field).native}[]`);
    return `pg_catalog.unnest(${array})`;
  });
  const names = fields.map((_, index) => `k${index}`);
  const keys = fields.map((field) => cast(`t.${field.column}`, field.comparison));
  const equal = keys.map((key, index) => `${key} = i.k${index}`).join(' AND ');
  const columns = own === undefined ? [] : printOwn(statement, own, (quoted) => `t.${quoted}`).expressions;
  const selected = selectList(columns);
  const from = `${descriptor.table} AS t JOIN ROWS FROM (${arrays.join(', ')}) AS i(${names.join(', ')}) ON ${equal}`;
  return statement.finish(selectLocked({ descriptor, selected, from, rows: sqlTrue, alias: 't', keys, lock })).text;
}
