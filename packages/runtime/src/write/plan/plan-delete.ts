/** Removal of items by key. Rules stand in WHERE. */

import { allOf, transactionNumber } from '../../dialects/fragment.ts';
import { operandType } from '../../sql/operand.ts';
import type { Written } from '../checks/check.ts';
import { type Removal, type Removed, removal } from '../checks/removal.ts';
import { selectLocked } from './locked-rows.ts';
import {
  finishWrite,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  keysOf,
  rowColumns,
  ruleRow,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** Plans the DELETE of one item, or of several, as far as some rule allows it; of archived ones an UPDATE. */
export function planDelete(written: Written, removed: Removal, many: boolean): WriteStatement {
  const drafting = startWrite(written);
  const { statement, inputs } = drafting;
  const alias = statement.alias();
  const column = rowColumns(written, alias);
  const { allowedOn, sets }: Removed = removal(drafting, removed);
  const rowKey = keyColumns(written, column);
  const { descriptor } = written.writable.collection;
  const { table } = descriptor;
  const kind = sets === null ? ({ kind: 'delete' } as const) : {};
  if (!many) {
    const key = keysOf(written).map((field, part) => inputs.take({ kind: 'key', part }, operandType(field).native));
    const rows = allOf([keysEqual(rowKey, key), allowedOn(ruleRow(drafting, column))]);
    return finishWrite(
      drafting,
      `${sets === null ? `DELETE FROM ${table} AS ${alias}` : `UPDATE ${table} AS ${alias} SET ${sets('')}`} WHERE ${rows} RETURNING ${transactionNumber}, '1'`,
      kind,
    );
  }
  const columns = keyInputs(drafting);
  const input = columns.map(({ name }) => `i.${name}`);
  const stored = statement.alias();
  const storedColumn = rowColumns(written, stored);
  const keys = keyColumns(written, storedColumn);
  const locked = selectLocked(statement.dialect, {
    descriptor,
    selected: 'i.*',
    from: `${inputTable(drafting, columns, 'i')} JOIN ${table} AS ${stored} ON ${keysEqual(keys, input)}`,
    rows: allowedOn(ruleRow(drafting, storedColumn)),
    alias: stored,
    keys,
    lock: 'UPDATE',
  });
  const change =
    sets === null ? `DELETE FROM ${table} AS ${alias} USING` : `UPDATE ${table} AS ${alias} SET ${sets('')} FROM`;
  const gone = `${change} (${locked}) i WHERE ${keysEqual(rowKey, input)} RETURNING 1`;
  const text = `WITH w AS (${gone}) SELECT ${transactionNumber}, pg_catalog.count(*)::pg_catalog.text FROM w`;
  return finishWrite(drafting, text, kind);
}
