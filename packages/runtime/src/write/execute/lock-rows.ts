/** Holding items still until the transaction ends, so that what is read of them is what is changed. */
import type { RowSink, Transaction } from '../../database/database.ts';
import { nameStatement } from '../../database/own-statements.ts';
import { runAs, type Side } from '../../database/row-context.ts';
import { keyColumn, selectList, sqlTrue } from '../../dialects/fragment.ts';
import type { RowLock, SqlDialect } from '../../dialects/index.ts';
import { arrayLiteral, type CollectionDescriptor } from '../../language/index.ts';
import type { SelectedItems } from '../../query/plan/plan.ts';
import { printOwn } from '../../query/plan/plan-returned.ts';
import { bind } from '../../query/planner.ts';
import { readRows } from '../../sql/array-text.ts';
import { listedForm } from '../../sql/operand.ts';
import type { StatementBuilder } from '../../sql/row.ts';
import { keyFields } from '../../sql/scope.ts';
import { createStatement } from '../../sql/statement.ts';
import { asMany, type Keys } from '../decode/keys.ts';
import { selectLocked } from '../plan/plan-update.ts';

const noRows: RowSink = { row: () => {} };

/** Items to lock, for whom, and what is read of them. */
interface RowsToLock {
  readonly descriptor: CollectionDescriptor;
  readonly keys: Keys;
  readonly lock: RowLock;
  readonly side: Side;
  readonly read?: SelectedItems;
}

/** Locks the items with these keys. With `read` it also reads them, as they are under the lock. */
export function lockRows(
  transaction: Transaction,
  dialect: SqlDialect,
  { descriptor, keys, lock, side, read }: RowsToLock,
  rows: RowSink = noRows,
): Promise<void> {
  const statement = createStatement(new Map(), dialect);
  const finished = statement.finish(printLock(statement, descriptor, lock, read));
  const noCaller = { accessClass: '', user: null, role: null };
  const named = runAs(nameStatement(finished), side);
  const { values } = dialect.input.locksSorted ? asMany(keys) : inOneOrder(asMany(keys));
  return transaction.run(named, bind(finished.binders, values, noCaller), rows);
}

/** Keys in an order that all transactions have, so that two that lock the same items do not wait for each other. */
function inOneOrder(keys: Keys): Keys {
  if (keys.count < 2) return keys;
  const rows = readRows(keys.values).map((row) => ({ row, text: JSON.stringify(row) }));
  rows.sort((first, second) => (first.text < second.text ? -1 : 1));
  return { ...keys, values: keys.values.map((_, part) => arrayLiteral(rows.map(({ row }) => row[part] ?? null))) };
}

function printLock(
  statement: StatementBuilder,
  descriptor: CollectionDescriptor,
  lock: RowLock,
  read: SelectedItems | undefined,
): string {
  const { dialect, parameter } = statement;
  const fields = keyFields(descriptor);
  const named = fields.map((field, part) => ({ name: `k${part}`, ...listedForm(field), list: part }));
  const input = dialect.input.table(parameter, { columns: named, alias: 'i', numbered: false, as: true });
  const keys = fields.map((field) => keyColumn(`t.${field.column}`, field));
  const equal = fields
    .map((field, part) => dialect.input.equal(`t.${field.column}`, `i.k${part}`, field))
    .join(' AND ');
  const columns = read === undefined ? [] : printOwn(statement, read, (quoted) => `t.${quoted}`).expressions;
  const selected = columns.length === 0 ? dialect.noColumns : selectList(columns);
  const from = dialect.input.lookUp(`${statement.table(descriptor.table)} AS t`, input, equal);
  return selectLocked(dialect, { descriptor, selected, from, rows: sqlTrue, alias: 't', keys, lock });
}
