/** Fields made, changed and dropped: their columns, and what is said about them. Source: API specification, section 12.2. */
import { failedValidation, invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import { decodeValue, isWhole, type JsonValue, oneSpelling, type ValueType } from '../language/index.ts';
import { type ModelChange, outcome } from './change.ts';
import { choicesIn, columnMembers, columnType, defaultSql, enumSteps, type LimitedType, plainType } from './columns.ts';
import {
  entryOf,
  exists,
  findColumn,
  findField,
  findRelationOf,
  findTable,
  loses,
  madeParts,
  mustTakeNull,
  newName,
  schemaOf,
} from './find.ts';
import { dropRow, fieldMeta, hasAll, saveRow } from './meta.ts';
import type {
  ColumnTypeName,
  FoundColumn,
  KnownModel,
  ModelPlace,
  ModelStep,
  NewColumn,
  PlainTypeName,
} from './model-sql.ts';
import { anyMember, mustBe, objectIn, orNull, type Payload, readObject, textMember } from './payload.ts';
import {
  createVirtualField,
  deleteVirtualField,
  describeVirtualField,
  forgetSides,
  isVirtualField,
} from './plan-virtual-fields.ts';

interface NewField {
  readonly field: string;
  readonly type: ColumnTypeName;
  readonly schema: Payload;
  readonly collection: string;
  /** Its type as SQL, and what its values are. */
  readonly sql: string;
  readonly value: ValueType;
  /** Steps before its column: its type, where it has one of its own. */
  readonly before: readonly ModelStep[];
  /** Steps beside its column: its comment and metadata. */
  readonly beside: (table: string) => readonly ModelStep[];
}

export function readNewField(model: KnownModel, body: JsonValue, collection: string): NewField {
  const { sql } = model;
  const payload = readObject(body, {
    collection: textMember(64),
    field: anyMember,
    type: anyMember,
    meta: orNull((value) => readObject(value, fieldMeta, 'meta')),
    schema: orNull((value) => readObject(value, columnMembers, 'schema')),
  });
  const field = newName(payload.field, 'field');
  const type = columnType(payload.type);
  const [schema, meta] = [objectIn(payload, 'schema'), objectIn(payload, 'meta')];
  mustBe(payload, '', { collection });
  mustBe(meta, 'meta.', { collection, field });
  if (schema.is_generated === true)
    throw invalidPayload(`"${field}" would be computed by the database: make such a column there.`);
  const table = schemaOf(entryOf(model.document.collections, { collection, field: null }) ?? { schema: null }).name;
  mustBe(schema, 'schema.', {
    ...{ name: field, table: table ?? collection, is_generated: false },
    ...{ foreign_key_table: null, foreign_key_column: null },
  });
  const location = { collection, field };
  const made: Omit<NewField, 'beside'> = {
    ...{ field, type, schema, collection },
    ...ownType(model, type, schema, meta, location),
  };
  // A set is a list by itself.
  const special = made.value.values === undefined ? sql.specialOf(type) : undefined;
  const metadata = { ...meta, ...(special !== undefined && { special: [...special] }) };
  const column = plannedColumn(model, made);
  return {
    ...made,
    beside: (table) => [...sql.commentNew(table, column, location), ...saveRow(model, 'fields', location, metadata)],
  };
}

function ownType(
  model: KnownModel,
  type: ColumnTypeName,
  schema: Payload,
  meta: Payload,
  location: ModelPlace,
): Pick<NewField, 'sql' | 'value' | 'before'> {
  const { sql, schema: typesIn } = model;
  if (type === 'array') {
    const { sql: text, of: element } = sql.arrayType(schema);
    return { sql: withLimits(text, schema), value: { type, element }, before: [] };
  }
  // Values that another field of the type has are copied.
  const others = model.api.collections.flatMap(({ fields }) => fields.filter((field) => field.type === type));
  const { data_type: dataType = null } = schema;
  const isSet = type === 'csv' && String(dataType).toLowerCase() === 'set';
  const values =
    type === 'enum' || isSet
      ? choicesIn(
          meta,
          others.flatMap((field) => field.values ?? []),
        )
      : undefined;
  if (type !== 'enum') {
    const text = sql.columnSql(type, schema, values);
    return { sql: withLimits(text, schema), value: { type, ...(values && { values }) }, before: [] };
  }
  if (values === undefined) throw invalidPayload('An enum has its values in "meta.options.choices".');
  const made = sql.enumType(location, typesIn, madeParts(model, [location.collection, location.field ?? '']), values);
  // Sent back as it was read: that of the field as it was, or of another one that is copied.
  const enums = model.document.fields
    .filter((field) => field.type === 'enum')
    .map((field) => schemaOf(field).data_type);
  const isReported = String(dataType).replaceAll('"', '') === made.sql.replaceAll(/"|\(.*$/gs, '');
  if (dataType !== null && !isReported && !enums.includes(dataType))
    throw invalidPayload('"schema.data_type" of an enum cannot be chosen.');
  withLimits('an enum', schema);
  return { ...made, value: { type, values } };
}

/** The column of a new field. Throws INVALID_PAYLOAD for what it cannot be. */
export function plannedColumn(model: KnownModel, planned: Omit<NewField, 'beside'>): NewColumn {
  const { field, type, schema, collection, value } = planned;
  const isKey = schema.is_primary_key === true;
  const counts = schema.has_auto_increment === true;
  if (counts && !isWhole(type)) {
    throw invalidPayload('"schema.has_auto_increment" is for integers.');
  }
  const backfill = defaultSql(model, { ...value, ...limitsOf(planned.sql) }, schema, { collection, field });
  if (counts && backfill !== null) throw invalidPayload('A field that counts by itself has no other default.');
  return {
    ...{ name: field, sql: planned.sql, counts, valueSource: backfill },
    required: schema.is_nullable === false || isKey,
    unique: schema.is_unique === true && !isKey,
    comment: typeof schema.comment === 'string' ? schema.comment : null,
  };
}

export function createField(model: KnownModel, collection: string, body: JsonValue): ModelChange {
  if (isVirtualField(body)) return createVirtualField(model, collection, body);
  const { descriptor } = findTable(model, collection);
  const { sql } = model;
  const made = readNewField(model, body, collection);
  const { field, schema } = made;
  const location = { collection, field };
  if (entryOf(model.document.fields, location) !== undefined) throw exists('field', field);
  if (schema.is_primary_key === true) throw invalidPayload('The key of a table is chosen when it is made.');
  const isRequired = schema.is_nullable === false && schema.has_auto_increment !== true;
  const refusal = failedValidation(
    { collection, index: undefined },
    field,
    'required',
    'is required, and items that are there have no value for it',
  );
  return {
    title: `add ${collection} ${field}`,
    steps: [
      ...(isRequired && (schema.default_value ?? null) === null
        ? [{ kind: 'check', sql: sql.isEmpty(descriptor.table), place: location, refusal } as const]
        : []),
      ...made.before,
      ...sql.addColumn(descriptor.table, sql.column(plannedColumn(model, made)), location),
      ...made.beside(descriptor.table),
    ],
    ...outcome('create', 'fields', location),
  };
}

/** Plans that a field goes, with its column and all that is said about it. */
export function deleteField(model: KnownModel, collection: string, field: string): ModelChange {
  const modelField = findField(model, collection, field);
  if (modelField.type === 'alias') return deleteVirtualField(model, modelField);
  const found = findColumn(model, collection, field);
  const { descriptor, column } = found;
  const { discard, sql } = model;
  if (descriptor.key.includes(field)) throw invalidPayload(`"${field}" belongs to the key of its items.`);
  const location = { collection, field };
  const empty = sql.isEmpty(descriptor.table, `${column.column} IS NOT NULL`);
  return {
    title: `drop ${collection} ${field}`,
    steps: [
      ...(discard
        ? []
        : [{ kind: 'check', sql: empty, place: location, refusal: loses(`"${field}" has values`) } as const]),
      ...sql.dropColumn(model, found),
      ...sql.dropEnums(model, collection, [column]),
      dropRow(model, 'fields', location),
      dropRow(model, 'relations', location),
      ...forgetSides(model, collection, field),
    ],
    ...outcome('delete', 'fields', location),
  };
}

/** Plans changes of a field; every part of the payload may be absent. */
export function updateField(model: KnownModel, collection: string, name: string, body: JsonValue): ModelChange {
  const modelField = findField(model, collection, name);
  if (modelField.type === 'alias') return describeVirtualField(model, modelField, body);
  const found = findColumn(model, collection, name);
  const payload = readObject(body, {
    collection: textMember(64),
    field: textMember(64),
    type: anyMember,
    meta: orNull((value) => readObject(value, fieldMeta, 'meta')),
    schema: orNull((value) => readObject(value, columnMembers, 'schema')),
  });
  mustBe(payload, '', { collection, field: name });
  const [meta, schema] = [objectIn(payload, 'meta'), objectIn(payload, 'schema')];
  const { foreign_key_table: table = null, foreign_key_column: column = null } = found.schema;
  const { is_primary_key: key = false, is_generated: made = false, has_auto_increment: counts = false } = found.schema;
  mustBe(meta, 'meta.', { collection, field: name });
  mustBe(schema, 'schema.', {
    ...{ name: found.schema.name ?? name, table: found.schema.table ?? collection, is_generated: made },
    ...{ foreign_key_table: table, foreign_key_column: column, is_primary_key: key, has_auto_increment: counts },
  });
  const location = { collection, field: name };
  const type = payload.type ?? found.type;
  const typed = typeof type === 'string' && type !== found.type;
  const special = typed ? { special: [...(model.sql.specialOf(plainType(type)) ?? [])] } : {};
  const steps: readonly ModelStep[] = [
    ...enumSteps(model, found, meta),
    ...typeSteps(model, found, type, schema),
    ...(typed ? model.sql.dropEnums(model, collection, [found.column]) : []),
    ...constraintSteps(model, found, schema),
    ...commentSteps(model, found, schema),
  ];
  return {
    title: `change ${collection} ${name}`,
    steps: [...steps, ...saveRow(model, 'fields', location, { ...meta, ...special })],
    isIdle: steps.length === 0 && hasAll(modelField.meta, meta),
    ...outcome('update', 'fields', location),
  };
}

/** The field that an element of a list is about. */
export function namedField(body: JsonValue): string {
  const name = isObject(body) ? body.field : undefined;
  if (typeof name === 'string') return name;
  throw invalidPayload('Each element names its "field".');
}

/** Parts of a data type that have members of their own, as SQL has them. */
const limits: Readonly<Record<string, RegExp>> = {
  data_type: /^([^(]+)(?:\([\d,]+\)( (?:with|unsigned).*))?/,
  max_length: /(?:char|binary|bit)[\w ]*\((\d+)\)/,
  numeric_precision: /^(?:numeric|decimal|\w*time\w*)\((\d+)/,
  numeric_scale: /^(?:numeric|decimal)\(\d+,(\d+)/,
};

/** The part of a type in SQL; undefined where the type has none. */
const partOf = (typeSql: string, name: string): string | undefined => limits[name]?.exec(typeSql)?.slice(1).join('');

function limitsOf(typeSql: string): Omit<LimitedType, 'type'> {
  const numbers = [
    ['maxLength', 'max_length'],
    ['precision', 'numeric_precision'],
    ['scale', 'numeric_scale'],
  ] as const;
  return Object.fromEntries(
    numbers.flatMap(([limit, name]) => {
      const part = partOf(typeSql, name);
      return part === undefined ? [] : [[limit, Number(part)]];
    }),
  );
}

/** A type in SQL. Throws INVALID_PAYLOAD for a number that it does not have. */
function withLimits(typeSql: string, requested: Payload): string {
  const idle = Object.keys(limits).find(
    (name) => typeof requested[name] === 'number' && partOf(typeSql, name) !== String(requested[name]),
  );
  if (idle !== undefined) throw invalidPayload(`"schema.${idle}" is not for ${typeSql}.`);
  return typeSql;
}

/** A new type, and a default, which goes by the type. */
function typeSteps(model: KnownModel, found: FoundColumn, requested: JsonValue, schema: Payload): readonly ModelStep[] {
  const { sql, discard } = model;
  const { collection, field, column, schema: now } = found;
  const location = { collection, field };
  const names = Object.keys(limits);
  const parts = pick(schema, names);
  const changed = Object.fromEntries(Object.entries(parts).filter(([name, value]) => value !== now[name]));
  const isOther = requested !== found.type;
  const backfill = schema.default_value;
  const refilled = backfill !== undefined && backfill !== now.default_value;
  if (!isOther && !refilled && Object.keys(changed).length === 0) return [];
  if (now.is_generated === true) throw invalidPayload(`"${field}" is computed by the database.`);
  // Null is the usual limit here, and none in what is told.
  const stated = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null));
  const kept = names.filter((name) => parts[name] === undefined || parts[name] === now[name]);
  const combined = { ...(!isOther && pick(now, kept)), ...stated };
  const typeSql =
    isOther || Object.keys(changed).length > 0
      ? withLimits(sql.columnSql(plainType(requested), combined), changed)
      : undefined;
  // A data type has several names, and null stands for the usual one.
  const isSame = Object.keys(changed).every((name) => partOf(typeSql ?? '', name) === String(now[name]));
  if (typeSql === undefined || (!isOther && isSame)) {
    return refilled ? defaultSteps(model, found, { ...combined, default_value: backfill }) : [];
  }
  const type = plainType(requested);
  const withDefault = {
    ...combined,
    default_value: refilled ? backfill : respelled(found.type, type, now.default_value ?? null),
  };
  // Unless the type has the same one, a default that the database computes would become the text of its expression.
  const isComputed = now.default_value === column.fallback || (type === 'json' && !isOther);
  const stays = isComputed && !refilled && sql.computedDefault({ type }, now.default_value ?? null) === undefined;
  return sql.setType(found, {
    type,
    sql: typeSql,
    valueSource: stays ? undefined : defaultSql(model, { type, ...limitsOf(typeSql) }, withDefault, location),
    refusal: discard ? null : loses(`Values of "${field}" do not fit the new type`),
  });
}

/** Another default of a column that keeps its type. Some servers fill the decimal places and seconds of what they keep. */
function defaultSteps(model: KnownModel, found: FoundColumn, schema: Payload): readonly ModelStep[] {
  const { sql } = model;
  const { column, type } = found;
  const valueType = { ...column, type: columnType(type) };
  const next = defaultSql(model, valueType, schema, found);
  const [before, after] = [found.schema, schema].map(({ default_value: value = null }) => {
    if (value === null) return null;
    const decoded = decodeValue(valueType, value);
    const text = decoded.ok ? decoded.value : null;
    return sql.computedDefault(valueType, value) ?? (text === null ? undefined : oneSpelling(valueType, text));
  });
  return before === after ? [] : sql.setDefault(found, next);
}

/** A default as another type spells it: numbers, truths and JSON are texts there, and a text may be JSON. */
function respelled(from: string, type: PlainTypeName, value: JsonValue): JsonValue {
  if (value === null || from === type) return value;
  if (from === 'json') return JSON.stringify(value);
  if (type === 'json' && typeof value === 'string') {
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  }
  return typeof value !== 'string' && !decodeValue({ type }, value).ok ? String(value) : value;
}

/** Changes of constraints on values: required, unique. */
function constraintSteps(model: KnownModel, found: FoundColumn, schema: Payload): readonly ModelStep[] {
  const { sql } = model;
  const { collection, field, descriptor, column, schema: now } = found;
  const { table } = descriptor;
  const location = { collection, field };
  const steps: ModelStep[] = [];
  const { is_nullable: nullable, is_unique: unique } = schema;
  if (nullable === false && now.is_nullable !== false) {
    const key = findRelationOf(model, found)?.key;
    if (key !== undefined) mustTakeNull(field, key);
    const nulls = sql.isEmpty(table, `${column.column} IS NULL`);
    const refusal = failedValidation(
      { collection, index: undefined },
      field,
      'required',
      'is null in items that are there',
    );
    steps.push({ kind: 'check', sql: nulls, place: location, refusal }, ...sql.setRequired(found, true));
  }
  if (nullable === true && now.is_nullable === false) {
    if (descriptor.key.includes(field)) throw invalidPayload(`"${field}" belongs to the key of its items.`);
    steps.push(...sql.setRequired(found, false));
  }
  if (unique === true && now.is_unique !== true) steps.push(...sql.addUnique(found));
  if (unique === false && now.is_unique === true) {
    const isAlone = (names: readonly string[]): boolean => names.length === 1 && names[0] === field;
    if (isAlone(descriptor.key)) throw invalidPayload(`"${field}" is unique by the key of its items.`);
    const constraints = (descriptor.constraints ?? []).filter(
      ({ type, fields, incomplete }) => type === 'unique' && incomplete !== true && isAlone(fields),
    );
    steps.push(...constraints.flatMap(({ name }) => sql.dropUnique(found, name)));
  }
  return steps;
}

function commentSteps({ sql }: KnownModel, found: FoundColumn, { comment }: Payload): readonly ModelStep[] {
  // Databases take an empty comment for none.
  const text = typeof comment === 'string' && comment !== '' ? comment : null;
  return comment === undefined || text === found.schema.comment ? [] : sql.setComment(found, text);
}

function pick(from: Payload, names: readonly string[]): Payload {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name] ?? null]])));
}
