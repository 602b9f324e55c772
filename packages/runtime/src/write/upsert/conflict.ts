/** `on_conflict`: the fields by which an item of a POST is one that there is, and the items that they find. */

import { allOf, hasParts, sqlTrue } from '../../dialects/fragment.ts';
import { forbidden, invalidQuery } from '../../errors.ts';
import { invalidPayload, type Place, type Problems, placesIn } from '../../json/problems.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import type { ConstraintDescriptor, JsonValue } from '../../language/index.ts';
import { readNames } from '../../query/parse/parse-parameters.ts';
import { parseQueryString } from '../../query/parse/parse-query-string.ts';
import type { ReadLimits } from '../../query/parse/request.ts';
import { readPlaces, readRows } from '../../sql/array-text.ts';
import { readable } from '../../sql/readable.ts';
import { type Row, tableRow } from '../../sql/row.ts';
import { granted } from '../../sql/rules.ts';
import { type CollectionScope, type FieldScope, keyFields } from '../../sql/scope.ts';
import type { Granted, WriteScope } from '../access/scope.ts';
import { type Preset, presetsOf, printPreset } from '../checks/presets.ts';
import { decodeInput } from '../decode/decode.ts';
import type { Running } from '../execute/running.ts';
import { selectLocked } from '../plan/plan-update.ts';
import type { KeyTexts } from '../tree/parse/group.ts';
import { ask, columnText, inputRows, type Question, startQuestion } from '../tree/resolve/stored.ts';
import type { WriteContext } from '../write-plan.ts';

/** A unique key by which items are looked for. */
export interface Conflict {
  /** The collection as the caller reads it. */
  readonly readable: CollectionScope;
  readonly fields: readonly ConflictField[];
  /** Names of the constraints that keep it unique. */
  readonly constraints: ReadonlySet<string>;
}

interface ConflictField {
  readonly field: FieldScope;
  /** True if the caller may give it to a new item; otherwise only rules do. */
  readonly writable: boolean;
  /** Preset for a new item that leaves it out; undefined when rules set nothing. */
  readonly preset: Preset | undefined;
}

const parameter = 'on_conflict';
const parameters: ReadonlySet<string> = new Set([parameter]);

/** True if a query may hold the parameter, so that it has to be parsed. */
export function mayHaveConflict(query: string): boolean {
  return query.includes(parameter) || query.includes('%');
}

/** The names of the parameter, each once; null when it is absent. Throws INVALID_QUERY for none and for another form. */
export function parseConflict(query: string, limits: ReadLimits): readonly string[] | null {
  const value = parseQueryString(query, limits, parameters).get(parameter);
  if (value === undefined) return null;
  const names = [...new Set(readNames(value, parameter))];
  if (names.length === 0) throw invalidQuery(`"${parameter}" names no field.`);
  if (names.length > limits.arrayLimit) throw invalidQuery(`"${parameter}" has too many elements.`);
  return names;
}

/**
 * Finds the unique key. Throws FORBIDDEN for a name that the caller cannot both read and give to a new item, INVALID_QUERY
 * for fields that no constraint keeps unique.
 */
export function resolveConflict(context: WriteContext, granted: Granted, names: readonly string[]): Conflict {
  const { descriptor } = granted.writable.collection;
  const readable = context.scope.read.collections.get(descriptor.name);
  if (readable === undefined) throw forbidden();
  const presets = presetsOf({ written: { ...granted, action: 'create' } });
  const fields = names.map((name): ConflictField => {
    const field = readable.fields.get(name);
    const preset = presets.find((candidate) => candidate.field.name === name);
    const writable = granted.grant.fields.has(name);
    if (field === undefined || field.secret || !(writable || preset !== undefined)) throw forbidden();
    return { field, writable, preset };
  });
  const constraints = descriptor.constraints?.filter((constraint) => isKey(constraint, names)) ?? [];
  if (constraints.length === 0) throw invalidQuery(`"${parameter}" must name the fields of a unique key.`);
  return { readable, fields, constraints: new Set(constraints.map(({ name }) => name)) };
}

function isKey({ type, fields, incomplete }: ConstraintDescriptor, names: readonly string[]): boolean {
  if (type !== 'unique' || incomplete === true) return false;
  return fields.length === names.length && names.every((name) => fields.includes(name));
}

/** Looks for items: keys by position, null for what cannot be read. Throws INVALID_PAYLOAD for two as one. */
export async function findStored(
  running: Running,
  scope: WriteScope,
  conflict: Conflict,
  sought: readonly Sought[],
): Promise<ReadonlyMap<number, KeyTexts | null>> {
  const question = startQuestion(running.dialect);
  const row = await ask(running, question, printFind(question, scope, conflict, sought));
  const [repeated, there, visible, ...keys] = row;
  if (Number(repeated) > 0) throw invalidPayload('Two items of the body are the same one.');
  const seen = new Set(readPlaces(visible));
  const rows = readRows(keys);
  return new Map(
    readPlaces(there).map((position, index) => [position, seen.has(position) ? (rows[index] ?? []) : null]),
  );
}

/** Columns are compared as they are, so that what is unique in the database is one here, and its index is used. */
function printFind(question: Question, scope: WriteScope, conflict: Conflict, sought: readonly Sought[]): string {
  const { statement } = question;
  const { count, collectedArray: arrayOf, join } = statement.dialect.input;
  const { readable: collection, fields } = conflict;
  const { descriptor } = collection;
  const alias = statement.alias();
  const row = tableRow(statement, scope.read, collection, alias);
  const parts = fields.map((_, part) => `v${part}`);
  const equal = fields.map(({ field }, part) => `${alias}.${field.descriptor.column} = i.v${part}`);
  const keyParts = keyFields(descriptor);
  const keys = keyParts.map(({ column }) => columnText(collection, column, alias));
  const named = keys.map((key, part) => `${key} AS k${part}`);
  const selected = ['i.n', `(${isVisible(row, conflict)}) IS TRUE AS r`, ...named].join(', ');
  const from = `platform_sent AS i${join}${descriptor.table} AS ${alias} ON ${equal.join(' AND ')}`;
  const stored = selectLocked(statement.dialect, {
    descriptor,
    selected,
    from,
    rows: sqlTrue,
    alias,
    keys,
    lock: 'NO KEY UPDATE',
  });
  const whole = parts.map((part) => `${part} IS NOT NULL`).join(' AND ');
  const repeated = `SELECT 1 FROM platform_sent WHERE ${whole} GROUP BY ${parts.join(', ')} HAVING ${statement.dialect.countRows} > 1`;
  const answers = [
    `(SELECT ${count()} FROM (${repeated}) d)`,
    `(SELECT ${arrayOf({ value: 'n', settled: 'n' })} FROM platform_stored)`,
    `(SELECT ${arrayOf({ value: 'n', only: 'r', settled: 'n' })} FROM platform_stored)`,
    ...keyParts.map(
      (field, part) => `(SELECT ${arrayOf({ value: `k${part}`, settled: 'n', field })} FROM platform_stored)`,
    ),
  ];
  const input = printInput(question, scope, conflict, sought);
  return `WITH platform_sent AS (${input}), platform_stored AS (${stored}) SELECT ${answers.join(', ')}`;
}

/** A row by a key of which some cell is hidden would tell the cell. */
function isVisible(row: Row, { fields }: Conflict): string {
  return allOf([readable(row), ...fields.map(({ field }) => granted(row, field.grant))]);
}

/**
 * The values of the key, by columns `v0`, `v1`, numbered by `n`. Values that items leave out are those that rules set.
 * They stand below the columns of the table, of which none is selected, because from these they take their collations.
 */
function printInput(
  question: Question,
  scope: WriteScope,
  { readable: { descriptor: collection }, fields }: Conflict,
  sought: readonly Sought[],
): string {
  const { input } = question.statement.dialect;
  const inputs = fields.map(({ field: { descriptor } }, part) => {
    const native = hasParts(descriptor) ? 'pg_catalog.text' : descriptor.native;
    return { name: `c${part}`, native, values: sought.map(({ values }) => values[part] ?? null) };
  });
  const flags = fields.flatMap(({ preset }, part) => {
    const values = sought.map((item) => String(item.provided[part] === true));
    return preset === undefined ? [] : [{ name: `p${part}`, native: 'pg_catalog.bool', values }];
  });
  const values = fields.map(({ field: { descriptor }, preset }, part) => {
    const value = input.sought(`c.c${part}`, descriptor);
    const [first] = preset?.values ?? [];
    if (first === undefined) return `${value} AS v${part}`;
    const other = printPreset({ statement: question.statement, written: { scope } }, descriptor, first.value);
    return `CASE WHEN c.p${part} THEN ${value} ELSE ${input.indexed(`(${other})`, descriptor)} END AS v${part}`;
  });
  const columns = fields.map(({ field: { descriptor } }, part) => {
    return `${input.indexed(`t.${descriptor.column}`, descriptor)} AS v${part}`;
  });
  const none = `SELECT ${columns.join(', ')}, ${input.typed('0', 'pg_catalog.int8')} AS n FROM ${question.statement.table(collection.table)} AS t WHERE FALSE`;
  const all = `SELECT ${values.join(', ')}, c.n FROM ${inputRows(question, [...inputs, ...flags], 'c')}`;
  return `${none} UNION ALL ${all}`;
}

/** An item with the values by which it is looked for. */
export interface Sought {
  readonly item: FilterObject;
  /** Position in the body; the last one for an item that comes twice. */
  readonly place: Place;
  /** Text forms, one per field of the key: null never matches. */
  readonly values: readonly (string | null)[];
  /** Tells of each field if the item has it. */
  readonly provided: readonly boolean[];
}

/** Reads what items say. An item that comes twice by its key is one, whose later fields win. */
export function readSought(
  collection: CollectionScope,
  { fields }: Conflict,
  items: readonly FilterObject[],
  many: boolean,
  problems: Problems,
): readonly Sought[] {
  const placeOf = placesIn(collection.descriptor.name, many ? [...items.keys()] : null);
  const combined = new Map<string, Sought>();
  for (const [index, item] of items.entries()) {
    const location = placeOf(index);
    const values = fields.map((field) => textOf(collection, field, item, location, problems));
    const present = fields.map(({ field }) => Object.hasOwn(item, field.descriptor.name));
    const keyed = fields.every(({ preset }, part) => (present[part] ? values[part] !== null : preset !== undefined));
    const id = keyed ? JSON.stringify([values, present]) : `${index}`;
    combined.set(id, { item: { ...combined.get(id)?.item, ...item }, place: location, values, provided: present });
  }
  return [...combined.values()];
}

function textOf(
  { relations }: CollectionScope,
  { field: { descriptor }, writable }: ConflictField,
  item: FilterObject,
  location: Place,
  problems: Problems,
): string | null {
  const { name } = descriptor;
  if (!Object.hasOwn(item, name)) return null;
  const sent: JsonValue = item[name] ?? null;
  if (!writable) problems.forbid();
  if (relations.has(name) && isObject(sent)) {
    problems.refuse(location, name, 'takes the key of an item');
    return null;
  }
  const decoded = sent === null ? undefined : decodeInput(descriptor, sent, true);
  return decoded?.ok && 'value' in decoded ? decoded.value : null;
}
