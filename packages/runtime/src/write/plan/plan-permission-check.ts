/** Permission check of written rows by conditions that look at other rows, when everything is written. */
import type { Check, CheckedRow, Written } from '../checks/check.ts';
import { checksOf } from '../checks/checks.ts';
import { tenantLinkChecks } from '../checks/link-checks.ts';
import {
  finishWrite,
  inputTable,
  keyInputs,
  keysMatch,
  manyAnswers,
  matchInputs,
  presenceInputs,
  rowColumns,
  ruleRow,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/**
 * Plans the check of items by their keys, where writes do not answer it themselves. `waiting` selects the checks that
 * wait until everything is written, else all others. Undefined when there is nothing to check.
 */
export function planPermissionCheck(written: Written, waiting = true): WriteStatement | undefined {
  return planChecks(
    written,
    checksOf(written).filter(({ late }) => late === waiting),
  );
}

/** Plans the check of links to rows of other tenants, right after a step. Undefined when there is nothing to check. */
export function planLinkCheck(written: Written): WriteStatement | undefined {
  return planChecks(written, tenantLinkChecks(written));
}

function planChecks(written: Written, checks: readonly Check[]): WriteStatement | undefined {
  if (checks.length === 0) return undefined;
  const drafting = startWrite(written);
  const { statement } = drafting;
  const alias = statement.alias();
  const column = rowColumns(written, alias);
  const rules = [...new Set(checks.flatMap((check) => check.rules))];
  const flags = [...new Set(checks.flatMap((check) => check.columns))];
  const keys = keyInputs(drafting);
  const judged: CheckedRow = {
    row: ruleRow(drafting, column),
    matched: (rule) => (rules.includes(rule) ? `i.m${rule}` : 'TRUE'),
    present: (index) => `i.p${index}`,
  };
  const answers = manyAnswers(drafting, checks, judged, 'i.n');
  const input = inputTable(drafting, [...keys, ...matchInputs(rules), ...presenceInputs(flags)], 'i');
  const condition = keysMatch(
    drafting,
    column,
    keys.map(({ name }) => `i.${name}`),
  );
  const { table } = written.writable.collection.descriptor;
  const { join, count } = statement.dialect.input;
  const selected = ['NULL', count(), ...answers];
  const text = `SELECT ${selected.join(', ')} FROM ${input}${join}${table} AS ${alias} ON ${condition}`;
  return finishWrite(drafting, text, { judgements: checks.map(({ permissionCheck }) => permissionCheck) });
}
