/** The change of one stored item by its key. The rule stands in WHERE, on the stored row. */

import { allOf, anyOf, transactionNumber } from '../../dialects/fragment.ts';
import { operandType } from '../../sql/operand.ts';
import type { Row } from '../../sql/row.ts';
import type { Written } from '../checks/check.ts';
import { checksOf } from '../checks/checks.ts';
import { ruleMatches } from '../checks/presets.ts';
import { type Assigned, assignments, assignShared } from './assigned.ts';
import { type Returned, returnedColumns } from './returned.ts';
import {
  type Drafting,
  finishWrite,
  keyColumns,
  keysEqual,
  keysOf,
  present,
  rowColumns,
  ruleRow,
  singleAnswers,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/**
 * Plans the UPDATE of one item under a grant with one rule. Without data or presets it only looks for the item. With
 * `returned` it answers the item itself, and nothing may be left to judge later.
 */
export function planUpdateOne(written: Written, returned?: Returned): WriteStatement {
  const drafting = startWrite(written);
  const alias = drafting.statement.alias();
  const column = rowColumns(written, alias);
  const { assigned, row, rows } = findOne(drafting, column);
  const { table, unlockable } = written.writable.collection.descriptor;
  const counts = returned === undefined ? ["'1'"] : [];
  const result = returned === undefined ? [] : returnedColumns(drafting, returned, column);
  if (assigned.length === 0) {
    const selected = ['NULL', ...counts, ...result].join(', ');
    // Related items in the payload are compared with stored ones: two requests must not do so at once.
    const lock = unlockable ? '' : drafting.statement.dialect.input.lock('NO KEY UPDATE', alias);
    return finishWrite(drafting, `SELECT ${selected} FROM ${table} AS ${alias} WHERE ${rows}${lock}`, {});
  }
  const checks = checksOf(written).filter(({ late }) => !late);
  const judged = singleAnswers(checks, { row, matched: present, present });
  const columns = [transactionNumber, ...counts, ...judged, ...result];
  const update = `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} WHERE ${rows}`;
  const judgements = checks.map(({ permissionCheck }) => permissionCheck);
  return finishWrite(drafting, `${update} RETURNING ${columns.join(', ')}`, { judgements });
}

/** The stored item that a key names, what its columns get, and where it is found: the row as rules see it, and the condition. */
export function findOne(
  drafting: Drafting,
  column: (quoted: string) => string,
): { readonly assigned: readonly Assigned[]; readonly row: Row; readonly rows: string } {
  const { written, inputs } = drafting;
  const row = ruleRow(drafting, column);
  const key = keysOf(written).map((field, part) => inputs.take({ kind: 'key', part }, operandType(field).native));
  const assigned = assignShared(drafting, { column, match: null });
  const rules = written.grant.rules.map((rule) => ruleMatches(row, rule));
  return { assigned, row, rows: allOf([keysEqual(keyColumns(written, column), key), anyOf(rules)]) };
}
