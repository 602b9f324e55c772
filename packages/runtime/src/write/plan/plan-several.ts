/** Writes where a write cannot be part of a query: new items as INSERT from rows, changes and removals one after the other. */

import { anyOf, sqlTrue, where } from '../../dialects/fragment.ts';
import { printAllowed, requirementsOf, type Written } from '../checks/check.ts';
import { printPreset, type Removal, removable, removal, ruleMatches } from '../checks/presets.ts';
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
  matchInputs,
  presenceInputs,
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

export function incompleteColumns({ columns }: Written): readonly number[] {
  return [...columns.keys()].filter((index) => columns[index]?.complete === false);
}

function ask(drafting: Drafting, column: (quoted: string) => string, incomplete: readonly number[]) {
  const { written } = drafting;
  const row = ruleRow(drafting, column);
  const rules = written.grant.rules.map((rule) => ruleMatches(row, rule));
  const flag = (index: number): string => (incomplete.includes(index) ? `i.p${index}` : sqlTrue);
  return { rules, allowed: printAllowed(requirementsOf(written), (rule) => rules[rule] ?? sqlTrue, flag) };
}

/** An assignment with the column of input that it takes. */
export type InputAssignment = Assigned & { readonly input?: InputColumn };

export function assignAll(drafting: Drafting, stored: Stored): { readonly assigned: readonly InputAssignment[] } {
  const { assigned, arrays } = assignEach(drafting, stored);
  return {
    assigned: assigned.map((assignment, index) => ({ ...assignment, ...(arrays[index] && { input: arrays[index] }) })),
  };
}

/** The same data for all items stands in a row of its own, in front of their keys. */
export function assignOne(
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
type Looked = ReturnType<typeof ask>;

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
