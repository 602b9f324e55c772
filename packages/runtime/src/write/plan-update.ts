/** Changes of stored items: one by its key, several from arrays. Rules stand in WHERE, on the stored row. */
import type { FieldDescriptor } from '../contract/index.ts';
import { allOf, anyOf, sqlTrue } from '../sql/fragment.ts';
import { operandType } from '../sql/operand.ts';
import { ruleHolds } from '../sql/rules.ts';
import { type Check, checksOf, type Judged, printAllowed, requirementsOf, type Written } from './checks.ts';
import { arrayInput, scalarInput, storedType } from './inputs.ts';
import { presetsOf, printPreset } from './presets.ts';
import { createReturning } from './returning.ts';
import {
  type Drafting,
  finishWrite,
  type InputColumn,
  inputTable,
  keyColumns,
  keyInputs,
  keysEqual,
  keysOf,
  manyAnswers,
  presenceInputs,
  present,
  ruleRow,
  singleAnswers,
  startWrite,
  transactionNumber,
  type WritePlan,
} from './statement.ts';

/**
 * Plans the UPDATE of one item (`many` false; only where there is one rule), of several with the same data (`shared`), or
 * of several with data of their own.
 */
export function planUpdate(written: Written, many: boolean, shared: boolean): WritePlan {
  const drafting = startWrite(written);
  const checks = checksOf(written);
  return many ? planMany(drafting, checks, shared) : planOne(drafting, checks);
}

/** A column of the UPDATE and what it gets. */
interface Assigned {
  readonly field: FieldDescriptor;
  readonly value: string;
}

function planOne(drafting: Drafting, all: readonly Check[]): WritePlan {
  const { written, statement, inputs } = drafting;
  const alias = statement.alias();
  const checks = all.filter((check) => !check.late);
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const row = ruleRow(drafting, column);
  const key = keysOf(written).map((field, part) => inputs.take({ kind: 'key', part }, operandType(field).native));
  const given = written.columns.map(({ field: { descriptor } }, place): Assigned => {
    return { field: descriptor, value: scalarInput(inputs, descriptor, place) };
  });
  const assigned = [...given, ...presets(drafting, null)];
  const rules = written.grant.rules.map(({ where }) => ruleHolds(row, where));
  const rows = allOf([keysEqual(keyColumns(written, column), key), anyOf(rules)]);
  const { table } = written.writable.collection.descriptor;
  const returned = [transactionNumber, "'1'", ...singleAnswers(checks, { row, matched: present, present })];
  const text =
    assigned.length === 0
      ? `SELECT NULL, '1' FROM ${table} AS ${alias} WHERE ${rows}`
      : `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} WHERE ${rows} RETURNING ${returned.join(', ')}`;
  const judgements = assigned.length === 0 ? [] : checks.map(({ judgement }) => judgement);
  return finishWrite(drafting, text, { judgements });
}

function assignments(assigned: readonly Assigned[]): string {
  return assigned.map(({ field, value }) => `${field.column} = ${value}`).join(', ');
}

/** Presets of fields that no item has. `match` names a rule's match on the stored row; null: the only rule matches. */
function presets(drafting: Drafting, match: ((rule: number) => string) | null, column = noColumn): readonly Assigned[] {
  const given = new Set(drafting.written.columns.map(({ field }) => field.descriptor.name));
  return presetsOf(drafting)
    .filter(({ field }) => !given.has(field.name))
    .map((preset) => ({ field: preset.field, value: presetValue(drafting, preset, match, column) }));
}

const noColumn = (quoted: string): string => quoted;

/** The value of the first rule that matches the stored row and sets the field; else the stored one. */
function presetValue(
  drafting: Drafting,
  { field, values }: ReturnType<typeof presetsOf>[number],
  match: ((rule: number) => string) | null,
  column: (quoted: string) => string,
): string {
  const [first] = values;
  if (match === null && first !== undefined) return printPreset(drafting, field, first.value);
  const cases = values.map(
    ({ rule, value }) => `WHEN ${match?.(rule) ?? sqlTrue} THEN ${printPreset(drafting, field, value)}`,
  );
  return `CASE ${cases.join(' ')} ELSE ${column(field.column)}::${storedType(field)} END`;
}

function planMany(drafting: Drafting, all: readonly Check[], shared: boolean): WritePlan {
  const { written, statement } = drafting;
  const alias = statement.alias();
  const several = written.grant.rules.length > 1;
  const checks = all.filter((check) => !check.late);
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const incomplete = [...written.columns.keys()].filter((place) => written.columns[place]?.complete === false);
  const columns = [...keyInputs(drafting), ...presenceInputs(drafting, incomplete)];
  const flag = (place: number): string => (incomplete.includes(place) ? `i.p${place}` : sqlTrue);
  const match = several ? (rule: number) => `i.m${rule}` : null;
  const assigned = assignMany(drafting, columns, shared, match, column);
  const keys = columns.filter(({ name }) => name.startsWith('k')).map(({ name }) => `i.${name}`);
  const joined = keysEqual(keyColumns(written, column), keys);
  const row = ruleRow(drafting, column);
  const own = several ? sqlTrue : ruleHolds(row, written.grant.rules[0]?.where ?? { kind: 'or', of: [] });
  const source = several ? storedRows(drafting, columns, flag) : inputTable(drafting, columns, 'i');
  const { table } = written.writable.collection.descriptor;
  if (assigned.length === 0) {
    const text = `SELECT NULL, pg_catalog.count(*)::pg_catalog.text FROM ${source}, ${table} AS ${alias} WHERE ${allOf([joined, own])}`;
    return finishWrite(drafting, text, {});
  }
  const returning = createReturning(alias, 'w');
  const place = returning.take('i.n');
  const judged: Judged = {
    row: ruleRow(drafting, returning.column),
    matched: (rule) => (several ? returning.take(`i.m${rule}`) : sqlTrue),
    present: (at) => (flag(at) === sqlTrue ? sqlTrue : returning.take(flag(at))),
  };
  const answers = manyAnswers(checks, judged, place);
  const matched = several ? [...new Set(all.filter(({ late }) => late).flatMap(({ rules }) => rules))] : [];
  const selected = [
    transactionNumber,
    'pg_catalog.count(*)::pg_catalog.text',
    ...matched.map(
      (rule) => `pg_catalog.array_agg(${returning.take(`i.m${rule}`)} ORDER BY ${place})::pg_catalog.text`,
    ),
    ...answers,
  ];
  const update = `UPDATE ${table} AS ${alias} SET ${assignments(assigned)} FROM ${source} WHERE ${allOf([joined, own])} RETURNING ${returning.list()}`;
  const text = `WITH w AS (${update}) SELECT ${selected.join(', ')} FROM w`;
  return finishWrite(drafting, text, { matched, judgements: checks.map(({ judgement }) => judgement) });
}

/** What shared data or the arrays give, and presets; `columns` gets the arrays. */
function assignMany(
  drafting: Drafting,
  columns: InputColumn[],
  shared: boolean,
  match: ((rule: number) => string) | null,
  column: (quoted: string) => string,
): readonly Assigned[] {
  const { written, inputs } = drafting;
  const byName = new Map(presetsOf(drafting).map((preset) => [preset.field.name, preset]));
  const given = written.columns.map(({ field: { descriptor }, complete }, place): Assigned => {
    if (shared) return { field: descriptor, value: scalarInput(inputs, descriptor, place) };
    const { array, cast } = arrayInput(inputs, descriptor, place);
    columns.push({ name: `c${place}`, array });
    const value = `i.c${place}${cast}`;
    if (complete) return { field: descriptor, value };
    const preset = byName.get(descriptor.name);
    const other = preset === undefined ? column(descriptor.column) : presetValue(drafting, preset, match, column);
    const typed = `(${other})::${storedType(descriptor)}`;
    return { field: descriptor, value: `CASE WHEN i.p${place} THEN ${value} ELSE ${typed} END` };
  });
  return [...given, ...presets(drafting, match, column)];
}

/**
 * The stored rows that may be changed so, locked, with the input beside them and what each rule says of them: a field is
 * granted only by a rule that matches the row as it was.
 */
function storedRows(drafting: Drafting, columns: readonly InputColumn[], flag: (place: number) => string): string {
  const { written, statement } = drafting;
  const alias = statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const row = ruleRow(drafting, column);
  const rules = written.grant.rules.map(({ where }) => ruleHolds(row, where));
  const matches = rules.map((predicate, rule) => `(${predicate}) IS TRUE AS m${rule}`);
  const keys = columns.filter(({ name }) => name.startsWith('k')).map(({ name }) => `i.${name}`);
  const allowed = printAllowed(requirementsOf(written), (rule) => rules[rule] ?? sqlTrue, flag);
  const { table } = written.writable.collection.descriptor;
  const from = `${inputTable(drafting, columns, 'i')} JOIN ${table} AS ${alias} ON ${keysEqual(keyColumns(written, column), keys)}`;
  const filter = allowed === sqlTrue ? '' : ` WHERE ${allowed}`;
  return `(SELECT i.*, ${matches.join(', ')} FROM ${from}${filter} FOR UPDATE OF ${alias}) i`;
}
