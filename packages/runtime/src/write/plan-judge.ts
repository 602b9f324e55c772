/** Judgement of written rows by conditions that look at other rows, when everything is written. */
import { checksOf, type Judged, type Written } from './checks.ts';
import {
  finishWrite,
  type InputColumn,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  manyAnswers,
  presenceInputs,
  ruleRow,
  startWrite,
  type WritePlan,
} from './statement.ts';

/** Plans the judgement of items by their keys; undefined when nothing has to wait. */
export function planJudge(written: Written): WritePlan | undefined {
  const checks = checksOf(written).filter(({ late }) => late);
  if (checks.length === 0) return undefined;
  const drafting = startWrite(written);
  const { statement, inputs } = drafting;
  const alias = statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const rules = [...new Set(checks.flatMap((check) => check.rules))];
  const flags = [...new Set(checks.flatMap((check) => check.columns))];
  const keys = keyInputs(drafting);
  const matches = rules.map((rule): InputColumn => {
    return { name: `m${rule}`, array: inputs.take({ kind: 'matched', rule }, 'pg_catalog.bool[]') };
  });
  const judged: Judged = {
    row: ruleRow(drafting, column),
    matched: (rule) => (rules.includes(rule) ? `i.m${rule}` : 'TRUE'),
    present: (place) => `i.p${place}`,
  };
  const answers = manyAnswers(checks, judged, 'i.n');
  const input = inputTable(drafting, [...keys, ...matches, ...presenceInputs(drafting, flags)], 'i');
  const own = keysEqual(
    keyColumns(written, column),
    keys.map(({ name }) => `i.${name}`),
  );
  const { table } = written.writable.collection.descriptor;
  const selected = ['NULL', 'pg_catalog.count(*)::pg_catalog.text', ...answers];
  const text = `SELECT ${selected.join(', ')} FROM ${input} JOIN ${table} AS ${alias} ON ${own}`;
  return finishWrite(drafting, text, { judgements: checks.map(({ judgement }) => judgement) });
}
