/** Removal of items by key. Rules stand in WHERE. */

import { allOf, anyOf, transactionNumber } from '../../dialects/fragment.ts';
import type { AccessRule } from '../../language/index.ts';
import { operandType } from '../../sql/operand.ts';
import type { Row } from '../../sql/row.ts';
import { ruleHolds } from '../../sql/rules.ts';
import type { Written } from '../checks/check.ts';
import { selectLocked } from './locked-rows.ts';
import {
  finishWrite,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  keysOf,
  ruleRow,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** Plans the DELETE of one item, or of several, as far as some rule allows it. */
export function planDelete(written: Written, rules: readonly AccessRule[], many: boolean): WriteStatement {
  const drafting = startWrite(written);
  const { statement, inputs } = drafting;
  const alias = statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const allowedOn = (row: Row): string => anyOf(rules.map(({ where }) => ruleHolds(row, where)));
  const rowKey = keyColumns(written, column);
  const { descriptor } = written.writable.collection;
  const { table } = descriptor;
  if (!many) {
    const key = keysOf(written).map((field, part) => inputs.take({ kind: 'key', part }, operandType(field).native));
    const rows = allOf([keysEqual(rowKey, key), allowedOn(ruleRow(drafting, column))]);
    return finishWrite(
      drafting,
      `DELETE FROM ${table} AS ${alias} WHERE ${rows} RETURNING ${transactionNumber}, '1'`,
      {},
    );
  }
  const columns = keyInputs(drafting);
  const input = columns.map(({ name }) => `i.${name}`);
  const stored = statement.alias();
  const storedColumn = (quoted: string): string => `${stored}.${quoted}`;
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
  const removed = `DELETE FROM ${table} AS ${alias} USING (${locked}) i WHERE ${keysEqual(rowKey, input)} RETURNING 1`;
  const text = `WITH w AS (${removed}) SELECT ${transactionNumber}, pg_catalog.count(*)::pg_catalog.text FROM w`;
  return finishWrite(drafting, text, {});
}
