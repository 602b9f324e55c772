import {
  areComparable,
  type CallerValue,
  type Dialect,
  decodeValue,
  dialectFacts,
  type FilterNames,
  findOrCreate,
  isDynamic,
  isSecret,
  type JsonValue,
  type NamedRelation,
  parseOperand,
  rangeElement,
  types,
  unsignedNatives,
  type ValueType,
} from '@tablewright/runtime/language';
import type { PlacedValue } from '../../config/permissions/permission-document.ts';
import { placeIn } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Collection, Column, ColumnType, Field, Relation, Table } from '../../schema.ts';
import { collectionsByName, tablesById } from '../lookup.ts';

/** Every field and relation that rules can speak of, for the parser of filters. Those of a collection are listed when it asks. */
export function filterNames(
  collections: readonly Collection[],
  tables: readonly Table[],
  dialect: Dialect,
): FilterNames {
  const byId = tablesById(tables);
  const byName = collectionsByName(collections);
  const fields = createListing(byName, (collection) => namedFields(collection, byId.get(collection.table), dialect));
  const relations = createListing(byName, namedRelations);
  return {
    field: (collection, name) => fields(collection)?.get(name),
    relation: (collection, name) => relations(collection)?.get(name),
    key: (collection) => byName.get(collection)?.key ?? [],
  };
}

/** Lists something of a collection once, when its name is first asked for. */
function createListing<Named>(
  byName: ReadonlyMap<string, Collection>,
  list: (collection: Collection) => ReadonlyMap<string, Named>,
): (name: string) => ReadonlyMap<string, Named> | undefined {
  const listed = new Map<string, ReadonlyMap<string, Named>>();
  return (name) => {
    const collection = byName.get(name);
    return collection && findOrCreate(listed, name, () => list(collection));
  };
}

/** Facts that decide which values a field takes: some servers have more of a type than others, as times beyond a day. */
export function namedField(field: Field, type: ColumnType | undefined, dialect: Dialect): ValueType {
  const { wire } = types[field.type].forms[dialectFacts[dialect].binaryRows ? 'binary' : 'text'];
  return { ...namedType(field.type, type, field.keepsReference === true), wire };
}

function namedType(portable: ValueType['type'], type: ColumnType | undefined, keepsReference = false): ValueType {
  const values = type?.values ?? type?.element?.values;
  const native = nativeName(type);
  return {
    type: portable,
    ...(native !== undefined && { native }),
    ...(type && portable === 'unknown' && rangeElement(type.base) && { range: type.base }),
    ...(values && { values }),
    ...(type?.element && { element: type.element.portable }),
    ...attributesIn(type?.element ?? type),
    ...(type?.vector && { vector: { metric: 'cosine', ...vectorSize(type.vector) } }),
    ...(type?.geometry && {
      geometry: { form: type.geometry.srid === null || keepsReference ? 'plane' : 'degrees' },
    }),
  };
}

function vectorSize({ dimensions }: NonNullable<ColumnType['vector']>) {
  return dimensions === null ? {} : { dimensions };
}

function attributesIn(type: ColumnType | undefined): Pick<ValueType, 'attributes'> {
  if (type?.attributes === undefined) return {};
  return {
    attributes: type.attributes.map(({ name, type: member }) => {
      const { native = member.base, ...facts } = namedType(member.portable, member);
      return { ...facts, name, native };
    }),
  };
}

/** For an array, the type of its elements, which decides their values. */
function nativeName(type: ColumnType | undefined): string | undefined {
  if (type?.category === 'base') return unsignedNatives.get(type.base) ?? type.base;
  return type?.element?.category === 'base' ? `${type.element.base}[]` : undefined;
}

function namedFields(
  collection: Collection,
  table: Table | undefined,
  dialect: Dialect,
): ReadonlyMap<string, ValueType> {
  const columns = new Map(table?.columns.map(({ name, type }) => [name, type]));
  return new Map(collection.fields.map((field) => [field.name, namedField(field, columns.get(field.column), dialect)]));
}

function namedRelations(collection: Collection): ReadonlyMap<string, NamedRelation> {
  return new Map(collection.relations.map((relation) => [relation.name, namedRelation(relation)]));
}

function namedRelation(relation: Relation): NamedRelation {
  const { kind, target } = relation;
  return relation.kind === 'm2a' ? { kind, target, targets: relation.allowed } : { kind, target };
}

/** A value as written: it must be of the field's type, and within what the column holds. */
export function literalMisfit(
  field: Field,
  column: Column | undefined,
  value: JsonValue,
  dialect: Dialect,
): string | null {
  if (value === null) return column !== undefined && holdsNoNull(column) ? 'must not be null' : null;
  const decoded = decodeValue(namedField(field, column?.type, dialect), value);
  if (!decoded.ok) return decoded.message;
  return column === undefined || decoded.value === null ? null : limitMisfit(field, column, decoded.value);
}

function holdsNoNull({ nullable, type }: Column): boolean {
  return !nullable || type.domains.some(({ notNull }) => notNull);
}

function limitMisfit(field: Field, { type }: Column, value: string): string | null {
  const broken = type.values === null ? undefined : types[field.type].limit?.({ values: type.values }, value);
  if (broken?.type === 'enum') return broken.message;
  if (type.maxLength !== null && lengthOf(type.base, value) > type.maxLength) {
    return `is longer than ${type.maxLength} characters`;
  }
  return isBeyond(Number(value), type) ? 'is out of range' : null;
}

/** Blanks at the end are cut off where they are too many. */
function lengthOf(base: string, value: string): number {
  return base === 'varchar' || base === 'bpchar' ? [...value.replace(/ +$/, '')].length : 0;
}

/** True if a number is too large for its column; beyond 15 digits rounding would decide. */
function isBeyond(value: number, { base, precision, scale }: Column['type']): boolean {
  if (base === 'int2') return value < -32_768 || value > 32_767;
  const digits = (precision ?? 0) - (scale ?? 0);
  return base === 'numeric' && precision !== null && digits <= 15 && Math.abs(value) >= 10 ** digits;
}

/** `$NOW` is for fields that hold times. */
export function nowMisfit(field: Field): string | null {
  return types[field.type].isMoment === true ? null : 'sets a time in a field of another type';
}

/** True if a field takes any text, so that it holds the keys of callers. */
export function holdsTexts({ type }: Field): boolean {
  return isSecret(type) || (types[type].family === 'text' && type !== 'enum');
}

/** Mismatch of a path from the caller: an array takes a list, every other field one value of its type. */
export function pathMisfit(field: Field, column: Column | undefined, { type, many }: CallerValue): string | null {
  const target = namedType(field.type, column?.type);
  if (field.type === 'array') {
    const element = target.element ?? 'unknown';
    return many && areComparable({ type: element }, type) ? null : 'takes a list of values of its type';
  }
  if (many) return 'takes one value, not a list';
  if (field.type === 'enum') return takesLabels(target.values, type.values) ? null : 'takes only its own labels';
  return areComparable(target, type) || target.type === type.type ? null : `takes no value of type "${type.type}"`;
}

function takesLabels(ownLabels: readonly string[] | undefined, presetLabels: readonly string[] | undefined): boolean {
  return presetLabels?.every((label) => ownLabels?.includes(label)) ?? false;
}

const dynamicNames = ['$NOW', '$CURRENT_USER', '$CURRENT_ROLE'];

/** Values of callers in the words of other servers. A currency such as `$USD` has three letters. */
const foreignValue = /^(?:\$[A-Z_]{4,}(?:\..*)?|\{\{ *[A-Za-z][\w.]* *\}\})$/;

/**
 * Texts in a rule that are almost a dynamic value are errors: `_neq: $CURENT_USER` would match every row. A warning
 * names those that may be text, such as `$USER_ID`.
 */
export function findMisspeltValues(source: PlacedValue): readonly Diagnostic[] {
  return textsIn(source.value, []).flatMap(({ text, path }): readonly Diagnostic[] => {
    const name = /^\$[A-Za-z_-]+/.exec(text.trim())?.[0] ?? '';
    if (isDynamic(text)) return [];
    const meant = dynamicNames.includes(name) ? name : didYouMean(name, dynamicNames);
    const location = placeIn(source, path);
    if (meant !== null) {
      const message = `"${meant === name ? text : name}" is no dynamic value.`;
      const hint = `Did you mean "${movedTime(text) ?? meant}"?`;
      return [{ code: 'dynamic-value', severity: 'error', place: location, message, hint }];
    }
    if (!foreignValue.test(text)) return [];
    const message = `"${text}" is no dynamic value, so it is a text like any other.`;
    const hint = `Dynamic values are ${dynamicNames.join(', ')} and paths from the last two; a text that is meant can stay.`;
    return [{ code: 'text-value', severity: 'warning', place: location, message, hint }];
  });
}

/** `$NOW(-1 day)` of `$NOW - 1 day`; undefined of other texts. */
function movedTime(text: string): string | undefined {
  const [, sign = '', offset] = /^\$now\s*([+-])\s*(.+)$/i.exec(text.trim()) ?? [];
  const moved = `$NOW(${sign}${offset})`;
  return parseOperand(moved).ok ? moved : undefined;
}

interface PlacedText {
  readonly text: string;
  readonly path: readonly string[];
}

function textsIn(value: JsonValue, path: readonly string[]): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
}
