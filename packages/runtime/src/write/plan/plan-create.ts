/** New items: one by VALUES, several from arrays. */

import { randomUUID } from 'node:crypto';
import { transactionNumber } from '../../dialects/fragment.ts';
import type { FieldDescriptor, Operand } from '../../language/index.ts';
import type { Check, CheckedRow, Written } from '../checks/check.ts';
import { checksOf } from '../checks/checks.ts';
import { presetsOf, printPreset } from '../checks/presets.ts';
import type { Assigned } from './assigned.ts';
import { type InputColumn, listInput, type Source, scalarInput, typedAsStored } from './inputs.ts';
import {
  createReturning,
  type Drafting,
  finishWrite,
  inputTable,
  type KeyPart,
  keyColumns,
  keysOf,
  manyAnswers,
  presenceInputs,
  present,
  type Returned,
  returnedColumns,
  rowColumns,
  ruleRow,
  singleAnswers,
  startWrite,
  type WriteStatement,
} from './statement.ts';

export function planCreate(written: Written, many: boolean): WriteStatement {
  const drafting = startWrite(written);
  const checks = checksOf(written).filter((check) => !check.late);
  return many ? planMany(drafting, checks) : planOne(drafting, checks);
}

/**
 * Plans an INSERT that answers the items itself, with `keyed` after the texts of their keys. Undefined where some check
 * depends on the items that have a field.
 */
export function planReturnedCreate(
  written: Written,
  many: boolean,
  returned: Returned,
  keyed: boolean,
): WriteStatement | undefined {
  const drafting = startWrite(written);
  const checks = checksOf(written);
  if (checks.some(({ late, columns }) => late || (many && columns.length > 0))) return undefined;
  const alias = drafting.statement.alias();
  const column = rowColumns(written, alias);
  const source = many ? manyRows(drafting) : oneRow(drafting);
  const judged: CheckedRow = { row: ruleRow(drafting, column), matched: present, present };
  const keys = keyed ? keyColumns(written, column).map((key) => `(${key})::pg_catalog.text`) : [];
  const result = returnedColumns(drafting, returned, column);
  const columns = [transactionNumber, ...singleAnswers(checks, judged), ...keys, ...result];
  const { table } = written.writable.collection.descriptor;
  const text = `INSERT INTO ${table} AS ${alias}${source} RETURNING ${columns.join(', ')}`;
  return finishWrite(drafting, text, {
    keys: keys.length,
    judgements: checks.map(({ permissionCheck }) => permissionCheck),
  });
}

function planOne(drafting: Drafting, checks: readonly Check[]): WriteStatement {
  const { written, statement } = drafting;
  const alias = statement.alias();
  const source = oneRow(drafting);
  const column = rowColumns(written, alias);
  const judged: CheckedRow = { row: ruleRow(drafting, column), matched: present, present };
  const returned = [
    transactionNumber,
    "'1'",
    ...keyColumns(written, column).map((key) => `(${key})::pg_catalog.text`),
    ...singleAnswers(checks, judged),
  ];
  const { table } = written.writable.collection.descriptor;
  const text = `INSERT INTO ${table} AS ${alias}${source} RETURNING ${returned.join(', ')}`;
  return finishWrite(drafting, text, answerOf(written, checks));
}

/** Columns and values of one item, with a leading space. */
function oneRow(drafting: Drafting): string {
  const payloadColumns = drafting.written.columns.map(({ field }, index): Assigned => {
    const { descriptor } = field;
    return { field: descriptor, value: scalarInput(drafting.inputs, descriptor, index) };
  });
  const assigned = [...payloadColumns, ...presetOnly(drafting)];
  if (assigned.length === 0) return ' DEFAULT VALUES';
  return ` (${columnList(assigned)}) VALUES (${assigned.map(({ value }) => value).join(', ')})`;
}

/** Columns and rows of several items, with a leading space. Rows come back in the order in which they are inserted. */
function manyRows(drafting: Drafting): string {
  const { assigned, columns } = assignMany(drafting);
  const list = assigned.length === 0 ? '' : ` (${columnList(assigned)})`;
  const values = assigned.map(({ value }) => ` ${value}`).join(',');
  return `${list} SELECT${values} FROM ${inputTable(drafting, columns, 'i')} ORDER BY i.n`;
}

function planMany(drafting: Drafting, checks: readonly Check[]): WriteStatement {
  const { written, statement } = drafting;
  const alias = statement.alias();
  const source = manyRows(drafting);
  const { table } = written.writable.collection.descriptor;
  const column = rowColumns(written, alias);
  const returning = createReturning(column, 'w');
  const keys = keyColumns(written, column).map((key) => returning.take(key));
  const flags = [...new Set(checks.flatMap((check) => check.columns))];
  const judged: CheckedRow = {
    row: ruleRow(drafting, returning.column),
    matched: present,
    present: (index) => `f.p${index}`,
  };
  const answers = manyAnswers(drafting, checks, judged, 'w.n');
  const { collectedArray: arrayOf } = statement.dialect.input;
  const selected = [
    transactionNumber,
    'pg_catalog.count(*)::pg_catalog.text',
    ...keysOf(written).map((field, part) => arrayOf({ value: keys[part] ?? 'NULL', field })),
    ...answers,
  ];
  const numbered = `(SELECT *, pg_catalog.row_number() OVER () AS n FROM w) w`;
  const flagged = `${numbered} JOIN ${inputTable(drafting, presenceInputs(flags), 'f')} ON f.n = w.n`;
  const from = checks.length === 0 ? 'w' : flags.length === 0 ? numbered : flagged;
  const insert = `INSERT INTO ${table} AS ${alias}${source} RETURNING ${returning.list()}`;
  const text = `WITH w AS (${insert}) SELECT ${selected.join(', ')} FROM ${from}`;
  return finishWrite(drafting, text, answerOf(written, checks));
}

function answerOf(written: Written, checks: readonly Check[]): Pick<WriteStatement, 'keys' | 'judgements'> {
  return { keys: keysOf(written).length, judgements: checks.map(({ permissionCheck }) => permissionCheck) };
}

export function columnList(assigned: readonly Assigned[]): string {
  return assigned.map(({ field }) => field.column).join(', ');
}

/** Assigns the arrays, presets and generated values. Where an item lacks a field it gets the preset or default. */
export function assignMany(drafting: Drafting): { assigned: readonly Assigned[]; columns: readonly InputColumn[] } {
  const { written, statement } = drafting;
  const presets = new Map(presetsOf(drafting).map((preset) => [preset.field.name, preset]));
  const drawn = new Map(drawnFields(written).map((drawnField) => [drawnField.field.name, drawnField]));
  const columns: InputColumn[] = [...drawn.values()].map(({ input }) => input);
  const drawnValue = ({ field, input }: DrawnField): string => statement.dialect.input.stored(`i.${input.name}`, field);
  const only = presetOnly(drafting).filter(({ field }) => !drawn.has(field.name));
  const payloadColumns = written.columns.map(({ field: { descriptor }, complete }, index): Assigned => {
    columns.push(listInput(`c${index}`, descriptor, index));
    const value = statement.dialect.input.stored(`i.c${index}`, descriptor);
    const drawnField = drawn.get(descriptor.name);
    drawn.delete(descriptor.name);
    if (drawnField !== undefined) {
      columns.push(...presenceInputs([index]));
      return { field: descriptor, value: `CASE WHEN i.p${index} THEN ${value} ELSE ${drawnValue(drawnField)} END` };
    }
    const preset = presets.get(descriptor.name)?.values[0];
    const completed = preset === undefined ? descriptor.fallback : printPreset(drafting, descriptor, preset.value);
    // Without either the absent value is null, as it stands in the array.
    if (complete || completed === undefined) return { field: descriptor, value };
    columns.push(...presenceInputs([index]));
    const other = typedAsStored(statement, `(${completed})`, descriptor);
    return { field: descriptor, value: `CASE WHEN i.p${index} THEN ${value} ELSE ${other} END` };
  });
  const made = [...drawn.values()].map(
    (drawnField): Assigned => ({ field: drawnField.field, value: drawnValue(drawnField) }),
  );
  return { assigned: [...payloadColumns, ...only, ...made], columns };
}

/** Fields that only the rules set: the first rule that names one wins. */
function presetOnly(drafting: Drafting): readonly Assigned[] {
  const names = new Set(drafting.written.columns.map(({ field }) => field.descriptor.name));
  return presetsOf(drafting).flatMap(({ field, values: [first] }) =>
    names.has(field.name) || first === undefined ? [] : [{ field, value: printPreset(drafting, field, first.value) }],
  );
}

/** A field that gets one where an item brings none. */
interface DrawnField {
  readonly field: FieldDescriptor;
  readonly input: InputColumn;
  /** Value that a rule sets, the same for all items; absent where each item gets a new identifier. */
  readonly preset?: Operand;
}

/**
 * Fields of new items with drawn values. Identifiers, where the database's own would reveal time and machine, and
 * neither all items nor rules bring one. Also key parts that a rule sets, where the server returns no written values.
 */
export function drawnFields(written: Written): readonly DrawnField[] {
  const { fields } = written.writable.collection.descriptor;
  const presets = new Map(presetsOf({ written }).map((preset) => [preset.field.name, preset.values[0]?.value]));
  const complete = new Set(written.columns.flatMap(({ field, complete }) => (complete ? [field.descriptor.name] : [])));
  const untold = written.scope.open.dialect.input.returning ? [] : keysOf(written).map(({ name }) => name);
  const drawn = fields.flatMap((field) => {
    const { name } = field;
    const preset = presets.get(name);
    const isDrawn = preset === undefined ? field.random === true : untold.includes(name);
    return isDrawn && !complete.has(name) ? [{ field, ...(preset && { preset }) }] : [];
  });
  return drawn.map((drawnField, index) => {
    const source: Source = { kind: 'drawn', field: index };
    return { ...drawnField, input: { name: `r${index}`, source, native: drawnField.field.native, stored: true } };
  });
}

/** Source of a part of the key, on a server that returns nothing. */
export function keyPart(written: Written, name: string): KeyPart {
  const column = written.columns.findIndex(({ field }) => field.descriptor.name === name);
  const drawn = drawnFields(written).findIndex(({ field }) => field.name === name);
  const { fallback = '' } = keysOf(written).find((field) => field.name === name) ?? {};
  const [, quoted, number] = /^(?:'([^'\\]*)'|(-?\d+))$/.exec(fallback) ?? [];
  const constant = quoted ?? number;
  return {
    ...(column >= 0 && { column }),
    ...(drawn >= 0 && { drawn }),
    ...(constant !== undefined && drawn < 0 && { constant }),
  };
}

/** Identifiers for so many items, or what a rule sets for each of them, by the fields that a statement's sources name. */
export function draw(
  sources: readonly Source[],
  items: number,
  preset: ReadonlyMap<number, string | null>,
): readonly (readonly (string | null)[])[] {
  return sources
    .filter((source) => source.kind === 'drawn')
    .map(({ field }) => {
      const same = preset.get(field);
      return Array.from({ length: items }, () => (same === undefined ? randomUUID() : same));
    });
}
