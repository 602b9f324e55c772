/** Changes of one stored item by its key, and removals. Rules stand in WHERE. */
import { allOf, anyOf, transactionNumber } from '../../dialects/fragment.ts';
import { operandType } from '../../sql/operand.ts';
import type { Row } from '../../sql/row.ts';
import type { Written } from '../checks/check.ts';
import { checksOf } from '../checks/checks.ts';
import { ruleMatches } from '../checks/presets.ts';
import { type Removal, type Removed, removal } from '../checks/removal.ts';
import { type Assigned, assignments, assignShared } from './assigned.ts';
import { selectLocked } from './locked-rows.ts';
import { type Returned, returnedColumns } from './returned.ts';
import {
  type Drafting,
  finishWrite,
  inputTable,
  keyColumns,
  keyInputs,
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
function findOne(
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
