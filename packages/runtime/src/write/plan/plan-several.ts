/** Writes where a write cannot be part of a query: new items as INSERT from rows, changes and removals one after the other. */

import { allOf, anyOf, sqlFalse, sqlTrue, where } from '../../dialects/fragment.ts';
import type { ManyToOne } from '../../language/index.ts';
import { listedForm } from '../../sql/operand.ts';
import { joined, type Row } from '../../sql/row.ts';
import type { Check, CheckedRow, Written } from '../checks/check.ts';
import { printAllowed, requirementsOf, ruleChecksAhead } from '../checks/checks.ts';
import { printPreset, ruleMatches } from '../checks/presets.ts';
import { type Removal, removable, removal } from '../checks/removal.ts';
import { type Assigned, assignEach, assignShared, type Stored } from './assigned.ts';
import { allowed, type InputColumn, listInput } from './inputs.ts';
import { assignMany, columnList, drawnFields, keyPart } from './plan-create.ts';
import {
  type Drafting,
  finishWrite,
  inputTable,
  keyInputs,
  keysMatch,
  keysOf,
  type MadeKeys,
  manyAnswers,
  matchInputs,
  presenceInputs,
  rowColumns,
  ruleRow,
  type StepPlans,
  startWrite,
  type WriteStatement,
} from './statement.ts';

/** Plans the INSERT of items, which answers the texts of the key of each, in their order, where the server has RETURNING. */
export function planInsert(written: Written): WriteStatement {
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const { assigned, columns } = assignMany(drafting);
  const { table } = written.writable.collection.descriptor;
  const inserted = assigned.length === 0 ? bareRow(written) : assigned;
  const values = inserted.map(({ value }) => value).join(', ');
  const keys = keysOf(written);
  const rows = `SELECT ${values} FROM ${inputTable(drafting, columns, 'i')} ORDER BY i.n`;
  const texts = keys.map((field) => input.keyText(field.column, field)).join(', ');
  const insert = `INSERT INTO ${table} (${columnList(inserted)}) ${rows}`;
  const text = input.returning ? `${insert} RETURNING ${texts}` : insert;
  const made: MadeKeys = input.returning
    ? { kind: 'returned' }
    : { kind: 'computed', parts: keys.map(({ name }) => keyPart(written, name)) };
  const ahead = planAhead(written);
  return { ...finishWrite(drafting, text, { keys: keys.length }), made, ...(ahead && { ahead }) };
}

/** Plans the question for parts of the key that rules set: the items are made with what it answers. */
function planAhead(written: Written): WriteStatement['ahead'] {
  const set = drawnFields(written).flatMap(({ field, preset }, index) =>
    preset === undefined ? [] : [{ field, preset, place: index }],
  );
  if (set.length === 0) return undefined;
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const texts = set.map(({ field, preset }) => input.keyText(`(${printPreset(drafting, field, preset)})`, field));
  const plan = finishWrite(drafting, `SELECT ${texts.join(', ')}`, {});
  return { plan, fields: set.map(({ place: index }) => index) };
}

/** INSERT needs at least one column. An item without values leaves its key to the database. */
function bareRow(written: Written): readonly Assigned[] {
  return keysOf(written)
    .slice(0, 1)
    .map((field) => ({ field, value: field.fallback ?? 'NULL' }));
}

/**
 * Plans the UPDATE of items by their keys, with the same data (`shared`) or each with its own. The only rule stands in
 * WHERE. Several are distinguished, and those that look at other rows are asked, on rows that are looked up first.
 * Without data or presets there is only that look.
 */
export function planChange(written: Written, shared: boolean): Pick<StepPlans, 'look' | 'write'> {
  const incomplete = incompleteColumns(written);
  const look = () => planChangeable(written);
  const drafting = startWrite(written);
  const { statement } = drafting;
  const alias = statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const { rules } = ask(drafting, column, incomplete);
  const apart = rules.length > 1 || looksAway(rules);
  const stored: Stored = { column, match: rules.length > 1 ? (rule) => `i.m${rule}` : null };
  const { assigned, inputSql: valuesTable } = shared
    ? assignOne(drafting, stored)
    : { ...assignAll(drafting, stored), inputSql: '' };
  if (assigned.length === 0) return { write: look() };
  const keys = keyInputs(drafting);
  const columns = [
    ...keys,
    ...(apart ? [allowedInput, ...matchInputs(rules.length > 1 ? [...rules.keys()] : [])] : []),
    ...presenceInputs(shared ? [] : incomplete),
    ...(shared ? [] : assigned.flatMap(({ input }) => input ?? [])),
  ];
  const { join } = statement.dialect.input;
  const named = keys.map(({ name }) => `i.${name}`);
  const { table } = written.writable.collection.descriptor;
  const rows = `${valuesTable}${inputTable(drafting, columns, 'i')}${join}${table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
  const set = assigned.map(({ field, value }) => `${column(field.column)} = ${value}`).join(', ');
  const text = `UPDATE ${rows} SET ${set}${where(apart ? 'i.ok' : anyOf(rules))}`;
  const write = finishWrite(drafting, text, {});
  return apart ? { look: look(), write } : { write };
}

/** Plans the look for items that may be changed so, and locks them. */
export function planChangeable(written: Written): WriteStatement {
  const incomplete = incompleteColumns(written);
  return planLook(written, presenceInputs(incomplete), (drafting, column) => ask(drafting, column, incomplete));
}

function incompleteColumns({ columns }: Written): readonly number[] {
  return [...columns.keys()].filter((index) => columns[index]?.complete === false);
}

function ask(drafting: Drafting, column: (quoted: string) => string, incomplete: readonly number[]): Looked {
  const { written } = drafting;
  const row = ruleRow(drafting, column);
  const rules = written.grant.rules.map((rule) => ruleMatches(row, rule));
  const flag = (index: number): string => (incomplete.includes(index) ? `i.p${index}` : sqlTrue);
  return { rules, allowed: printAllowed(requirementsOf(written), (rule) => rules[rule] ?? sqlTrue, flag) };
}

/** An assignment with the column of input that it takes. */
type InputAssignment = Assigned & { readonly input?: InputColumn };

function assignAll(drafting: Drafting, stored: Stored): { readonly assigned: readonly InputAssignment[] } {
  const { assigned, arrays } = assignEach(drafting, stored);
  return {
    assigned: assigned.map((assignment, index) => ({ ...assignment, ...(arrays[index] && { input: arrays[index] }) })),
  };
}

/** The same data for all items stands in a row of its own, in front of their keys. */
function assignOne(
  drafting: Drafting,
  stored: Stored,
  inputOf = (column: InputColumn): InputColumn => column,
): { readonly assigned: readonly InputAssignment[]; readonly inputSql: string } {
  const { input } = drafting.statement.dialect;
  const columns: InputColumn[] = [];
  const assigned = assignShared(drafting, stored, (field, index) => {
    columns.push(inputOf(listInput(`c${index}`, field, index)));
    return input.stored(`v.c${index}`, field);
  });
  return { assigned, inputSql: columns.length === 0 ? '' : `${inputTable(drafting, columns, 'v')}${input.join}` };
}

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
  const names = new Map<string, string>();
  const column = (quoted: string): string => {
    const name = names.get(quoted) ?? `x${names.size}`;
    names.set(quoted, name);
    return `r.${name}`;
  };
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
  const values = [...names].map(([quoted, name]) => `${rows.valueOf(quoted)} AS ${name}`);
  const typed = [...names].map(([quoted, name]) => `${rows.typeOf(quoted)} AS ${name}`);
  const { input } = statement.dialect;
  const { table } = written.writable.collection.descriptor;
  const none = `SELECT ${[...typed, `${input.typed('0', 'pg_catalog.int8')} AS n`].join(', ')} FROM ${table} AS t WHERE FALSE`;
  const all = `SELECT ${[...values, 'i.n AS n'].join(', ')} FROM ${rows.from}`;
  const text = `SELECT ${['NULL', input.count(), ...answers].join(', ')} FROM (${none} UNION ALL ${all}) r`;
  return finishWrite(drafting, text, { judgements: checks.map(({ permissionCheck }) => permissionCheck) });
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
  return [...new Set(openBy)].map((link) => {
    const unset = drafting.written.postponed ? link.on.map(({ from }) => `${row.column(from)} IS NULL`) : [];
    return `(${anyOf([...unset, printStepTarget(drafting, row, link)])}) IS NOT TRUE`;
  });
}

/** SQL predicate that is true if a link leads to a row that the step makes, or may change. */
function printStepTarget(drafting: Drafting, row: Row, link: ManyToOne): string {
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
  const made = inputTable(drafting, inputs, 'j');
  const same = parts.map(({ from, field, input }) => equal(row.column(from), `j.${input.name}`, field));
  const alias = statement.alias();
  const stored = `FROM ${statement.table(descriptor.table)} ${alias}${where(allOf(joined(link.on, row.column, alias)))}`;
  // A row that is there is not made.
  return `(EXISTS (SELECT 1 FROM ${made}${where(allOf(same))}) AND NOT EXISTS (SELECT 1 ${stored}))`;
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

/** Plans the DELETE of items, as far as some rule allows it; of archived ones an UPDATE. */
export function planRemoval(written: Written, removed: Removal): Pick<StepPlans, 'look' | 'write'> {
  const drafting = startWrite(written);
  const alias = drafting.statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const permitted = (draft: Drafting, columnOf: (quoted: string) => string): string => {
    return removable(ruleRow(draft, columnOf), removed);
  };
  const may = permitted(drafting, column);
  const apart = looksAway([may]);
  const keys = keyInputs(drafting);
  const named = keys.map(({ name }) => `i.${name}`);
  const { join } = drafting.statement.dialect.input;
  const { table } = written.writable.collection.descriptor;
  const input = inputTable(drafting, apart ? [...keys, allowedInput] : keys, 'i');
  const rows = `${input}${join}${table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
  const { sets } = removal(drafting, removed);
  const change = sets === null ? `DELETE ${alias} FROM ${rows}` : `UPDATE ${rows} SET ${sets(`${alias}.`)}`;
  const write = finishWrite(
    drafting,
    `${change}${where(apart ? 'i.ok' : may)}`,
    sets === null ? { kind: 'delete' } : {},
  );
  if (!apart) return { write };
  const look = planLook(written, [], (draft, columnOf) => ({ rules: [], allowed: permitted(draft, columnOf) }));
  return { look, write };
}

/** Predicates for each stored row, printed by `column`: each rule by its position, and all of them. */
interface Looked {
  readonly rules: readonly string[];
  readonly allowed: string;
}

/** A rule that looks at other rows: a server may not take it in a write, or lock what it looks at. */
function looksAway(predicates: readonly string[]): boolean {
  return predicates.some((predicate) => predicate.includes('SELECT '));
}

/** Plans a look at the items with the keys of the input: how many may be changed, which ones, and which rules they match. */
function planLook(
  written: Written,
  columns: readonly InputColumn[],
  command: (drafting: Drafting, column: (quoted: string) => string) => Looked,
): WriteStatement {
  const drafting = startWrite(written);
  const { input } = drafting.statement.dialect;
  const alias = drafting.statement.alias();
  const column = (quoted: string): string => `${alias}.${quoted}`;
  const { descriptor } = written.writable.collection;
  const keys = keyInputs(drafting);
  const named = keys.map(({ name }) => `i.${name}`);
  const requested = command(drafting, column);
  const [first] = keysOf(written);
  const there = first === undefined ? 'FALSE' : `${column(first.column)} IS NOT NULL`;
  const may = `${there} AND (${requested.allowed}) IS TRUE`;
  const flags = [may, ...requested.rules.map((rule) => `(${rule}) IS TRUE`)].map((predicate) =>
    input.collectedArray({ value: `CASE WHEN ${predicate} THEN 't' ELSE 'f' END`, order: 'i.n' }),
  );
  const from = `${inputTable(drafting, [...keys, ...columns], 'i')} LEFT JOIN ${descriptor.table} AS ${alias} ON ${keysMatch(drafting, column, named)}`;
  const lock = descriptor.unlockable ? '' : input.lock('UPDATE', alias);
  const text = `SELECT ${['NULL', input.count(may), ...flags].join(', ')} FROM ${from}${lock}`;
  return finishWrite(drafting, text, { matched: [allowed, ...requested.rules.keys()] });
}

/** The column of input that tells which rows may be changed. */
const allowedInput: InputColumn = {
  name: 'ok',
  source: { kind: 'matched', rule: allowed },
  native: 'pg_catalog.bool',
};
