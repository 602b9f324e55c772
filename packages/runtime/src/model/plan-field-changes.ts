/** Fields changed: their columns, and what is said about them. Source: API specification, section 12.2. */
import { failedValidation, invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../language/index.ts';
import type { ModelChange } from './change.ts';
import { columnMembers, columnType, defaultSql, enumSteps, plainType } from './columns.ts';
import { findColumn, findField, loses } from './find.ts';
import { fieldMeta, saveRow } from './meta.ts';
import type { FoundColumn, KnownModel, ModelStep } from './model-sql.ts';
import { anyMember, mustBe, objectIn, orNull, type Payload, readObject, textMember } from './payload.ts';
import { describeVirtualField } from './plan-virtual-fields.ts';

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
  const row = saveRow(model, 'platform_fields', { collection, field: name }, { ...meta, ...special });
  const steps: readonly ModelStep[] = [
    ...enumSteps(model, found, meta),
    ...typeSteps(model, found, type, schema),
    ...(typed ? model.sql.dropEnums(model, collection, [found.column]) : []),
    ...constraintSteps(model, found, schema),
    ...commentSteps(model, found, schema),
    ...(row === null ? [] : [{ kind: 'run', sql: row, place: location } as const]),
  ];
  return {
    title: `change ${collection} ${name}`,
    steps,
    activity: [{ action: 'update', collection: 'platform_fields', item: `${collection},${name}` }],
    respond: (next) => next.fields.find((candidate) => candidate.collection === collection && candidate.field === name),
  };
}

/** The field that an element of a list is about. */
export function namedField(body: JsonValue): string {
  const name = isObject(body) ? body.field : undefined;
  if (typeof name === 'string') return name;
  throw invalidPayload('Each element names its "field".');
}

const limits = ['data_type', 'max_length', 'numeric_precision', 'numeric_scale'];

/** A new type, and a default, which goes by the type. */
function typeSteps(
  { sql, discard }: KnownModel,
  found: FoundColumn,
  requested: JsonValue,
  schema: Payload,
): readonly ModelStep[] {
  const { collection, field, column, schema: now } = found;
  const location = { collection, field };
  const changes = limits.filter((name) => schema[name] !== undefined && schema[name] !== now[name]);
  const retyped = requested !== found.type || changes.length > 0;
  const backfill = schema.default_value;
  const refilled = backfill !== undefined && backfill !== now.default_value;
  if (!retyped && !refilled) return [];
  if (now.is_generated === true) throw invalidPayload(`"${field}" is computed by the database.`);
  const combined = {
    ...(requested === found.type && pick(now, limits)),
    ...pick(schema, limits),
    default_value: backfill ?? now.default_value ?? null,
  };
  if (!retyped) {
    const { values, element } = column;
    const valueType = { type: columnType(requested), ...(values && { values }), ...(element && { element }) };
    return sql.setDefault(found, backfill === null ? null : defaultSql(sql, valueType, combined, location));
  }
  const type = plainType(requested);
  return sql.setType(found, {
    type,
    sql: sql.columnSql(type, combined),
    valueSource: backfill === null ? null : defaultSql(sql, { type }, combined, location),
    refusal: discard ? null : loses(`Values of "${field}" do not fit the new type`),
  });
}

/** Changes of constraints on values: required, unique. */
function constraintSteps({ sql }: KnownModel, found: FoundColumn, schema: Payload): readonly ModelStep[] {
  const { collection, field, descriptor, column, schema: now } = found;
  const { table } = descriptor;
  const location = { collection, field };
  const steps: ModelStep[] = [];
  const { is_nullable: nullable, is_unique: unique } = schema;
  if (nullable === false && now.is_nullable !== false) {
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
    const constraint = (descriptor.constraints ?? []).find(
      ({ type, fields, incomplete }) =>
        type === 'unique' && incomplete !== true && fields.length === 1 && fields[0] === field,
    );
    if (constraint === undefined) throw invalidPayload(`"${field}" is unique by the key of its items.`);
    steps.push(...sql.dropUnique(found, constraint.name));
  }
  return steps;
}

function commentSteps({ sql }: KnownModel, found: FoundColumn, { comment }: Payload): readonly ModelStep[] {
  if (comment === undefined || comment === found.schema.comment) return [];
  return sql.setComment(found, typeof comment === 'string' ? comment : null);
}

function pick(from: Payload, names: readonly string[]): Payload {
  return Object.fromEntries(names.flatMap((name) => (from[name] === undefined ? [] : [[name, from[name] ?? null]])));
}
