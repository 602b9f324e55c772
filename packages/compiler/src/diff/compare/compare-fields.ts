/** Fields as one role reads them. */
import { isDeepStrictEqual } from 'node:util';
import type { Column } from '@tablewright/introspect/schema';
import { type Attribute, type FieldDescriptor, narrowIntegers } from '@tablewright/runtime/language';
import type { ApiField } from '../../api.ts';
import { sentType } from '../../client/values.ts';
import { functionGroup, valueType } from '../../graphql/values.ts';
import { valueSchema } from '../../openapi/components/values.ts';
import type { RoleCollection, RoleField } from '../../role-view/role-view.ts';
import { withColumns } from '../renames.ts';
import type { Verdicts } from '../rules.ts';
import {
  type CollectionPair,
  compareMembers,
  deprecationChange,
  type Finding,
  type Found,
  itemChanges,
  quoted,
  type Side,
  when,
} from '../side.ts';
import { wayChange } from './compare-relations.ts';

/** Compares the fields that can be read on one side or both. */
export function compareFields(pair: CollectionPair): readonly Found[] {
  return compareMembers(pair, 'field', [pair.was.fields, pair.is.fields], apiField, (was, is) =>
    compareField(pair, was, is),
  );
}

export function compareField(pair: CollectionPair, was: RoleField, is: RoleField): readonly Finding[] {
  const name = is.name;
  const old = storedField(pair.before, pair.was.name, was);
  const fresh = storedField(pair.after, pair.is.name, is);
  const [type, sizes] = [typeChange(pair, was, is), sizeChanges(name, old, fresh)];
  const isStoredAlike = type === null && sizes.length === 0;
  const source = sourceChange(pair, old, fresh);
  const isComputed = was.descriptor.computed === undefined && is.descriptor.computed !== undefined;
  // The range of a number says more than the name of its type.
  const isRepeated = type?.rule === 'field-type-kept' && sizes.length > 0 && !isText(is.descriptor.type);
  return [
    ...when(was.name !== name, 'field-renamed', `"${was.name}" is "${name}" now.`),
    ...when(isComputed, 'field-computed', `A function computes "${name}".`),
    ...(isComputed || was.name !== name ? [] : source),
    ...(type === null || isRepeated ? [] : [type]),
    ...(type?.rule === 'field-type-changed' ? [] : graphqlEnumChange(was, is)),
    ...filterTargetChange(pair, was, is, source.length > 0),
    ...when(!was.nullable && is.nullable, 'field-now-nullable', `"${name}" can be null.`),
    ...when(was.nullable && !is.nullable, 'field-never-null', `"${name}" is never null.`),
    ...valuesChanges(is, listedIn(was, old), listedIn(is, fresh)),
    ...sizes,
    ...(isStoredAlike ? storageChange(name, old, fresh) : []),
    ...itemChanges('field', was, is),
    ...defaultChange(pair, was, is),
    ...collationChange(name, old, fresh),
    ...when(was.note !== is.note, 'field-note', `The note of "${name}" has changed.`),
    ...deprecationChange('field', was, is),
  ];
}

function typeChange(pair: CollectionPair, was: RoleField, is: RoleField): Finding | null {
  const { was: before, is: after } = pair;
  const [old, fresh] = [was.descriptor, is.descriptor];
  const [range, other] = [rangeOf(old), rangeOf(fresh)];
  const isOne = old.type === fresh.type && old.element === fresh.element && range === other;
  const isSized = old.vector?.dimensions === fresh.vector?.dimensions && old.geometry?.kind === fresh.geometry?.kind;
  const isAlike = isSized && isDeepStrictEqual(old.attributes, fresh.attributes) && old.composite === fresh.composite;
  if (isOne && isAlike && old.native === fresh.native) return null;
  const message = `"${is.name}" is ${typeText(is)}, it was ${typeText(was)}.`;
  // Values are written whole, so that a member more breaks those who write them.
  const isGrown = isOne && old.composite === fresh.composite && haveGrown(old.attributes, fresh.attributes);
  if (fresh.attributes && isGrown && !isWritten(pair, was.name)) return { rule: 'field-members-added', message };
  // Lists, lengths and digits have rules of their own.
  const schema = ({ descriptor }: RoleField) => {
    const { maxLength: _, precision: __, scale: ___, ...rest } = descriptor;
    return valueSchema(rest, null);
  };
  const isSame =
    range === other &&
    // Filters support fewer operators on an unknown type.
    (fresh.type !== 'unknown' || old.type === 'unknown') &&
    isDeepStrictEqual(schema(was), schema(is)) &&
    graphqlType(before, was) === graphqlType(after, is) &&
    isDeepStrictEqual(sentType(old, null), sentType(fresh, null)) &&
    functionGroup(old.type) === functionGroup(fresh.type) &&
    formOf(old.wire.kind) === formOf(fresh.wire.kind);
  if (!isSame) return { rule: 'field-type-changed', message };
  if (old.type === fresh.type && old.native === fresh.native) return null;
  const isNamed = old.type === 'unknown' && fresh.type !== 'unknown';
  return { rule: 'field-type-kept', message, ...(isNamed && { verdicts: typedVerdicts }) };
}

/** True if all members are there as before, at any depth, and any others with them. */
export function haveGrown(old: readonly Attribute[] = [], fresh: readonly Attribute[] = []): boolean {
  const now = new Map(fresh.map((attribute) => [attribute.name, attribute]));
  return old.every(({ attributes, ...facts }) => {
    const { attributes: members, ...others } = now.get(facts.name) ?? { attributes: undefined };
    return isDeepStrictEqual(facts, others) && haveGrown(attributes, members);
  });
}

function isWritten({ was: { writes } }: CollectionPair, name: string): boolean {
  return [writes?.create, writes?.update].some((action) => action?.fields.some((field) => field.name === name));
}

function graphqlEnumChange(was: RoleField, is: RoleField): readonly Finding[] {
  const [old, fresh] = [was, is].map(({ valuesType }) => valuesType?.graphqlEnum?.name);
  const named = (name: string | undefined): string => (name === undefined ? 'a string' : `a value of "${name}"`);
  const message = `In GraphQL "${is.name}" is ${named(fresh)}, it was ${named(old)}.`;
  return when(old !== fresh, 'graphql-type-changed', message);
}

/** Filters can ask more of it, by another input type. */
const typedVerdicts: Verdicts = { rest: 'dangerous', openapi: 'safe', graphql: 'breaking', client: 'safe' };

/** Ranges of integers have one form. */
function rangeOf({ range }: FieldDescriptor): string | undefined {
  return range?.replace(/^int[48]/, 'int');
}

/** Values that arrive from the database in several encodings are answered in one form. */
function formOf(kind: FieldDescriptor['wire']['kind']): string {
  if (kind === 'i2') return 'i4';
  return kind === 'jsonb' ? 'json' : kind;
}

function graphqlType({ key }: RoleCollection, { descriptor, filtered, valuesType }: RoleField): string {
  if (filtered !== null) return filtered.collection;
  return valueType(descriptor, key.length === 1 && key[0]?.name === descriptor.name, valuesType?.graphqlEnum);
}

function typeText({ descriptor }: RoleField): string {
  const { type, element, native, range, vector, geometry, attributes } = descriptor;
  const name = type === 'array' ? `array of ${element ?? 'unknown'}` : type;
  const members = attributes && membersText(attributes);
  const form = vector?.dimensions ?? geometry?.kind ?? range ?? members ?? native.replaceAll('"', '');
  return `${name} (${form})`;
}

function membersText(attributes: readonly Attribute[]): string {
  const textOf = ({ name, type, element, attributes: inner }: Attribute): string =>
    `${name} ${element ?? type}${inner === undefined ? '' : ` (${membersText(inner)})`}`;
  return attributes.map(textOf).join(', ');
}

function filterTargetChange(
  pair: CollectionPair,
  was: RoleField,
  is: RoleField,
  isOfOther: boolean,
): readonly Finding[] {
  const [old, fresh] = [was.filtered?.collection ?? null, is.filtered?.collection ?? null];
  if (old === null && fresh === null) return [];
  if (old === null) return when(true, 'field-leads', `"${is.name}" leads to "${fresh}".`);
  if (fresh === null) return when(true, 'field-leads-no-more', `"${is.name}" leads no longer to "${old}".`);
  if ((pair.renames.collections.get(old) ?? old) === fresh) return isOfOther ? [] : wayChange(pair, was.name, is.name);
  return when(true, 'relation-target-changed', `"${is.name}" leads to "${fresh}" in place of "${old}".`);
}

/** Another column under the same name, or one that the database makes in another way. */
function sourceChange(pair: CollectionPair, was: StoredField, is: StoredField): readonly Finding[] {
  if (was.column === undefined || is.column === undefined) return [];
  const { before, renames } = pair;
  const names = renames.stored.columns.get(before.version.resolved.get(pair.was.name)?.table ?? '') ?? new Map();
  const { name } = is.descriptor;
  const [old, fresh] = [sourceOf(was.column, names), sourceOf(is.column, new Map())];
  if (old !== fresh) return when(true, 'field-source-changed', `"${name}" is ${fresh}, it was ${old}.`);
  const [made, making] = [expressionOf(was.column, names), expressionOf(is.column, new Map())];
  const message = `"${name}" is made as ${making}, it was ${made}.`;
  return when(made !== null && making !== null && made !== making, 'field-expression-changed', message);
}

function sourceOf({ name, computed }: Column, names: ReadonlyMap<string, string>): string {
  return computed === undefined
    ? `the column "${names.get(name) ?? name}"`
    : `the function ${computed.schema}.${computed.name}`;
}

function expressionOf({ fill }: Column, names: ReadonlyMap<string, string>): string | null {
  return fill.kind === 'generated' ? withColumns(fill.expression, names) : null;
}

type Values = readonly string[] | null;

/** The values of a field; documents do not list those of a set, which are parts of a text. */
function listedIn({ values, descriptor }: RoleField, { column }: StoredField): Values {
  return descriptor.type === 'csv' ? (column?.type.values ?? null) : values;
}

function valuesChanges({ name, descriptor }: RoleField, old: Values, fresh: Values): readonly Finding[] {
  if (old === null || fresh === null) {
    return [
      ...when(fresh !== null, 'values-listed', `"${name}" is one of ${quoted(fresh ?? [])}.`),
      ...when(old !== null, 'values-unlisted', `"${name}" can have any value.`),
    ];
  }
  const lost = old.filter((value) => !fresh.includes(value));
  const won = fresh.filter((value) => !old.includes(value));
  const kept = (values: readonly string[], other: readonly string[]) => values.filter((value) => other.includes(value));
  const isReordered = descriptor.type === 'enum' && !isDeepStrictEqual(kept(old, fresh), kept(fresh, old));
  return [
    ...when(lost.length > 0, 'values-removed', `"${name}" is no longer ${quoted(lost)}.`),
    ...when(won.length > 0, 'values-added', `"${name}" can be ${quoted(won)}.`),
    ...when(isReordered, 'values-reordered', `The values of "${name}" have another order.`),
  ];
}

function apiField({ version }: Side, collection: string, field: string): ApiField | undefined {
  return version.collections.get(collection)?.fields.find(({ descriptor }) => descriptor.name === field);
}

function defaultChange(pair: CollectionPair, was: RoleField, is: RoleField): readonly Finding[] {
  const old = apiField(pair.before, pair.was.name, was.name);
  const fresh = apiField(pair.after, pair.is.name, is.name);
  const text = (field: ApiField | undefined): string => field?.defaultText ?? 'none';
  const message = `The default of "${is.name}" is ${text(fresh)}, it was ${text(old)}.`;
  return when(text(old) !== text(fresh), 'default-changed', message);
}

function collationChange(name: string, was: StoredField, is: StoredField): readonly Finding[] {
  const [old, fresh] = [was.column?.collation ?? null, is.column?.collation ?? null];
  return when(old !== fresh, 'collation-changed', `The collation of "${name}" is ${fresh ?? 'the usual one'}.`);
}

function storedField(side: Side, collection: string, { descriptor }: RoleField) {
  const stored = apiField(side, collection, descriptor.name)?.stored.name;
  const column = side.version.tables.get(collection)?.columns.find(({ name }) => name === stored);
  return { descriptor, column };
}

/** One field on one side: its descriptor and its column. */
type StoredField = ReturnType<typeof storedField>;

/** Changes of size: fewer or more values fit. Both types have the same form. */
function sizeChanges(name: string, was: StoredField, is: StoredField): readonly Finding[] {
  const [old, fresh] = [was.descriptor.type, is.descriptor.type];
  // Between string and text the length is all that changes.
  if (old !== fresh && !(isText(old) && isText(fresh))) return [];
  if (was.descriptor.element !== is.descriptor.element) return [];
  const [before, now] = [held(was), held(is)];
  return [...lengthChanges(name, before, now), ...digitChanges(name, before, now)];
}

/** A change of the stored type with the same form, which no other rule reports. */
function storageChange(name: string, was: StoredField, is: StoredField): readonly Finding[] {
  const [old, fresh] = [was.column, is.column];
  if (old === undefined || fresh === undefined) return [];
  const message = `"${name}" is stored as ${fresh.nativeType}, it was ${old.nativeType}.`;
  return when(!isDeepStrictEqual(storageOf(old), storageOf(fresh)), 'field-type-kept', message);
}

/** Domains are checks with a name, and labels are values: both are told by themselves. */
function storageOf({ type, nativeType }: Column): unknown {
  const { base, precision, scale, maxLength } = type.element ?? type;
  return [base, precision, scale, maxLength, type.portable === 'binary' ? nativeType : null];
}

/** The most that a value has of each. */
type Held = ReturnType<typeof held>;

function held({ descriptor, column }: StoredField) {
  const element = descriptor.type === 'array' ? column?.type.element : null;
  const { maxLength, precision, scale } = element ?? descriptor;
  const base = (element ?? column?.type)?.base ?? '';
  const range = numbers[base];
  const isDecimal = (element?.portable ?? descriptor.type) === 'decimal';
  return {
    length: maxLength ?? (base === 'tinytext' ? 255 : Number.POSITIVE_INFINITY),
    low: range?.[0] ?? Number.NEGATIVE_INFINITY,
    high: range?.[1] ?? Number.POSITIVE_INFINITY,
    // Numbers without limits have 1000 digits at most.
    /** Digits before and after the point. */
    digits: isDecimal ? (precision ?? 1000) - (scale ?? 0) : 0,
    scale: isDecimal ? (scale ?? 1000) : 0,
  } as const;
}

function lengthChanges(name: string, was: Held, is: Held): readonly Finding[] {
  const text = ({ length }: Held): string => (length === Number.POSITIVE_INFINITY ? 'unlimited' : `${length}`);
  const message = `The length of "${name}" is ${text(is)}, it was ${text(was)}.`;
  return when(is.length !== was.length, is.length < was.length ? 'length-reduced' : 'length-raised', message);
}

function digitChanges(name: string, was: Held, is: Held): readonly Finding[] {
  const [reduced, raised] = ['precision-reduced', 'precision-raised'] as const;
  if (is.low > was.low || is.high < was.high) return when(true, reduced, `"${name}" holds fewer numbers.`);
  if (is.digits < was.digits || is.scale < was.scale) return when(true, reduced, `"${name}" has fewer digits.`);
  if (is.low < was.low || is.high > was.high) return when(true, raised, `"${name}" holds more numbers.`);
  return when(is.digits > was.digits || is.scale > was.scale, raised, `"${name}" has more digits.`);
}

function isText(type: string): boolean {
  return type === 'string' || type === 'text';
}

const signed = (bits: number): readonly [number, number] => [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
const unsigned = (bits: number): readonly [number, number] => [0, 2 ** bits - 1];
const single = 2 ** 128;

/** Ranges of numbers of both families of servers; an unlisted type has the range of its form. */
const numbers: Readonly<Record<string, readonly [number, number]>> = {
  ...narrowIntegers,
  int4: signed(32),
  float4: [-single, single],
  smallint: signed(16),
  int: signed(32),
  bigint: signed(64),
  'int unsigned': unsigned(32),
  'bigint unsigned': unsigned(64),
  float: [-single, single],
};
