/** The look at rows that a step is about to write: what rules and links say of them before the write. */

import { allOf, anyOf, sqlFalse, sqlTrue, where } from '../../dialects/fragment.ts';
import type { ManyToOne } from '../../language/index.ts';
import { findOrCreate } from '../../language/values/once.ts';
import { listedForm } from '../../sql/operand.ts';
import { readable } from '../../sql/readable.ts';
import { joined, type Row, tableRow } from '../../sql/row.ts';
import type { Scope } from '../../sql/scope.ts';
import type { Check, CheckedRow, Written } from '../checks/check.ts';
import { ruleChecksAhead } from '../checks/checks.ts';
import { printPreset, ruleMatches } from '../checks/presets.ts';
import type { Assigned, Stored } from './assigned.ts';
import type { InputColumn } from './inputs.ts';
import { assignMany, drawnFields } from './plan-create.ts';
import { assignAll, assignOne, incompleteColumns } from './plan-several.ts';
import {
  type Drafting,
  finishWrite,
  inputTable,
  keyInputs,
  keysMatch,
  manyAnswers,
  presenceInputs,
  rowColumns,
  ruleRow,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** Plans the look at rules about other rows before a step, on the rows to be written; undefined without such rules. */
export function planRulesAhead(
  written: Written,
  shared: boolean,
  checks: readonly Check[] = ruleChecksAhead(written),
): WriteStatement | undefined {
  if (checks.length === 0) return undefined;
  const drafting = startWrite(written);
  const { statement } = drafting;
  const alias = statement.alias();
  const rows = written.action === 'create' ? newRows(drafting) : changedRows(drafting, alias, shared);
  if (rows === undefined) return undefined;
  const { column, print } = rowsTable(drafting, rows, 'r');
  const judged: CheckedRow = {
    row: ruleRow(drafting, column),
    matched: (rule) => (rows.rules[rule] === undefined ? sqlTrue : column(`m${rule}`)),
    present: (index) => (written.columns[index]?.complete === false ? column(`p${index}`) : sqlTrue),
  };
  // Rows that no rule lets be changed are refused, or passed over, as missing ones.
  const isChanged = (row: CheckedRow): string =>
    rows.rules.length === 0 ? sqlTrue : anyOf(rows.rules.map((_, rule) => row.matched(rule)));
  const checksOfRows = checks.map((check) => ({
    ...check,
    fails: (row: CheckedRow) => allOf([isChanged(row), check.fails(row), ...settled(drafting, check, row)]),
  }));
  const answers = manyAnswers(drafting, checksOfRows, judged, 'r.n');
  const text = `SELECT ${['NULL', statement.dialect.input.count(), ...answers].join(', ')} FROM ${print()}`;
  return finishWrite(drafting, text, { judgements: checks.map(({ permissionCheck }) => permissionCheck) });
}

/** A table of rows that a step is about to write, printed when all columns are named that conditions ask for. */
function rowsTable(
  { written, statement }: Drafting,
  rows: RowsAhead,
  alias: string,
): { readonly column: (quoted: string) => string; readonly print: () => string } {
  const names = new Map<string, string>();
  const { fields, table, links = [] } = written.writable.collection.descriptor;
  const parts = links.flatMap(({ on }) => on.map(({ from, formula }) => ({ column: from, formula })));
  const column = (quoted: string): string => {
    const formula = [...fields, ...parts].find(({ column, formula }) => column === quoted && formula)?.formula;
    return formula === undefined
      ? `${alias}.${findOrCreate(names, quoted, () => `x${names.size}`)}`
      : formula.map((part, index) => (index % 2 === 0 ? part : column(part))).join('');
  };
  const print = (): string => {
    const values = [...names].map(([quoted, name]) => `${rows.valueOf(quoted)} AS ${name}`);
    const typed = [...names].map(([quoted, name]) => `${rows.typeOf(quoted)} AS ${name}`);
    const number = statement.dialect.input.typed('0', 'pg_catalog.int8');
    const none = `SELECT ${[...typed, `${number} AS n`].join(', ')} FROM ${table} AS t WHERE FALSE`;
    const all = `SELECT ${[...values, 'i.n AS n'].join(', ')} FROM ${rows.from}`;
    return `(${none} UNION ALL ${all}) ${alias}`;
  };
  return { column, print };
}

/** Rows that a step is about to write. */
interface RowsAhead {
  readonly from: string;
  /** Rules of a change, as predicates on the stored row. */
  readonly rules: readonly string[];
  /** Value of a quoted column, or a flag: `m0` of a rule, `p0` of a column of the batch. */
  valueOf(name: string): string;
  /** An expression of the same type over the table `t`. */
  typeOf(name: string): string;
}

/** Predicates that hold where the write changes nothing of where the links of a check lead. */
function settled(drafting: Drafting, { openBy = [] }: Check, { row }: CheckedRow): readonly string[] {
  return [...new Map(openBy.map((open) => [open.link, open])).values()].map(({ link, shown }) => {
    const unset = drafting.written.postponed ? link.on.map(({ from }) => `${row.column(from)} IS NULL`) : [];
    return `(${anyOf([...unset, printStepTarget(drafting, row, link, shown)])}) IS NOT TRUE`;
  });
}

/** SQL predicate that is true if a link leads to a row that the step makes, of which `shown` shows it, or may change. */
function printStepTarget(drafting: Drafting, row: Row, link: ManyToOne, shown: Scope | undefined): string {
  const { written, statement } = drafting;
  const { descriptor } = written.writable.collection;
  const { equal, join } = statement.dialect.input;
  if (link.target !== descriptor.name) return sqlFalse;
  if (written.action === 'update') {
    const alias = statement.alias();
    const column = rowColumns(written, alias);
    const keys = keyInputs(drafting);
    const rules = written.grant.rules.map((rule) => ruleMatches(ruleRow(drafting, column), rule));
    const named = keys.map(({ name }) => `j.${name}`);
    const from = `${inputTable(drafting, keys, 'j')}${join}${descriptor.table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
    return `EXISTS (SELECT 1 FROM ${from}${where(allOf([...joined(link.on, row.column, alias), anyOf(rules)]))})`;
  }
  const parts = link.on.flatMap(({ from, to }, part) => {
    const column = written.columns.findIndex(({ field }) => field.descriptor.column === to);
    const field = written.columns[column]?.field.descriptor;
    const source = { kind: 'values', column } as const;
    return field === undefined ? [] : [{ from, field, input: { name: `k${part}`, source, ...listedForm(field) } }];
  });
  // Rules or the database set the other parts of the key.
  if (parts.length === 0) return sqlFalse;
  const inputs = parts.map(({ input }) => input);
  const isMade = (): string => {
    const same = parts.map(({ from, field, input }) => equal(row.column(from), `j.${input.name}`, field));
    return `EXISTS (SELECT 1 FROM ${inputTable(drafting, inputs, 'j')}${where(allOf(same))})`;
  };
  const made = shown === undefined ? isMade() : printVisible(drafting, row, link, shown);
  const alias = statement.alias();
  const stored = `FROM ${statement.table(descriptor.table)} ${alias}${where(allOf(joined(link.on, row.column, alias)))}`;
  // A row that is there is not made.
  return `(${made} AND NOT EXISTS (SELECT 1 ${stored}))`;
}

/** SQL predicate that is true if a link leads to a row that the step makes and that a scope shows. */
function printVisible(drafting: Drafting, row: Row, { target, on }: ManyToOne, shown: Scope): string {
  const { statement } = drafting;
  const collection = shown.collections.get(target);
  if (collection === undefined) return sqlFalse;
  const { column, print } = rowsTable(drafting, newRows(drafting), statement.alias());
  const same = on.map(({ from, to }) => `${row.column(from)} = ${column(to)}`);
  const seen = readable({ ...tableRow(statement, shown, collection, ''), column, isStored: false });
  return `EXISTS (SELECT 1 FROM ${print()}${where(allOf([...same, seen]))})`;
}

function newRows(drafting: Drafting): RowsAhead {
  const { written, statement } = drafting;
  const all = assignMany(drafting);
  // Parts of the key that rules set are asked for by a statement of their own, which has not run.
  const assigned = drawnFields(written).reduce(
    (rest, { field, preset, input }) =>
      preset === undefined
        ? rest
        : rest.map((assignment) => {
            const drawn = statement.dialect.input.stored(`i.${input.name}`, field);
            return { ...assignment, value: assignment.value.split(drawn).join(printPreset(drafting, field, preset)) };
          }),
    all.assigned,
  );
  return rowsAhead(drafting, { assigned, columns: all.columns, rules: [] }, (quoted) => {
    const { fields } = written.writable.collection.descriptor;
    return fields.find(({ column }) => column === quoted)?.fallback ?? 'NULL';
  });
}

/** Undefined where nothing of them changes. */
function changedRows(drafting: Drafting, alias: string, shared: boolean): RowsAhead | undefined {
  const { written, statement } = drafting;
  const column = rowColumns(written, alias);
  const row = ruleRow(drafting, column);
  const rules = written.grant.rules.map((rule) => ruleMatches(row, rule));
  const stored: Stored = { column, match: rules.length > 1 ? (rule) => `(${rules[rule] ?? sqlTrue})` : null };
  const { assigned, inputSql: valuesTable } = shared
    ? assignOne(drafting, stored, (input) => comparedInput(written, input))
    : { ...assignAll(drafting, stored), inputSql: '' };
  if (assigned.length === 0) return undefined;
  const keys = keyInputs(drafting);
  const inputs = shared ? [] : assigned.flatMap(({ input }) => input ?? []);
  const rows = rowsAhead(drafting, { assigned, columns: [...keys, ...inputs], rules }, column);
  const { table } = written.writable.collection.descriptor;
  const named = keys.map(({ name }) => `i.${name}`);
  const { join } = statement.dialect.input;
  // Servers whose joins need a condition have none for the row of values.
  const sharedValues = valuesTable === '' ? '' : `${valuesTable.slice(0, -join.length)}, `;
  const from = `${sharedValues}${rows.from}${join}${table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
  return { ...rows, from };
}

function rowsAhead(
  drafting: Drafting,
  {
    assigned,
    columns,
    rules,
  }: {
    readonly assigned: readonly Assigned[];
    readonly columns: readonly InputColumn[];
    readonly rules: RowsAhead['rules'];
  },
  kept: (quoted: string) => string,
): RowsAhead {
  const incomplete = incompleteColumns(drafting.written);
  // Values that may be left out have brought their flags. All are compared here, and not stored.
  const byName = new Map(
    [...columns, ...presenceInputs(incomplete)].map((column) => [column.name, comparedInput(drafting.written, column)]),
  );
  const values = new Map(assigned.map(({ field, value }) => [field.column, value]));
  const flags = new Map<string, string>([
    ...rules.map((rule, index) => [`m${index}`, `(${rule}) IS TRUE`] as const),
    ...incomplete.map((index) => [`p${index}`, `i.p${index}`] as const),
  ]);
  return {
    from: inputTable(drafting, [...byName.values()], 'i'),
    rules,
    valueOf: (name) => flags.get(name) ?? values.get(name) ?? kept(name),
    typeOf: (name) => (flags.has(name) ? sqlFalse : rowColumns(drafting.written, 't')(name)),
  };
}

function comparedInput({ columns }: Written, { name, source, ...form }: InputColumn): InputColumn {
  const field = source.kind === 'values' ? columns[source.column]?.field.descriptor : undefined;
  return { name, source, ...(field === undefined ? form : listedForm(field)) };
}
