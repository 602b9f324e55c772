/** Collections made, described and dropped. Source: API specification, section 12.1. */
import { invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import { type JsonValue, reservedPrefix } from '../language/index.ts';
import { type ModelChange, outcome } from './change.ts';
import { entryOf, exists, findCollection, findTable, loses, mustBeOwn, newName } from './find.ts';
import { collectionMeta, hasAll, saveRow } from './meta.ts';
import type { FoundTable, KnownModel, ModelStep } from './model-sql.ts';
import { anyMember, mustBe, objectIn, orNull, type Payload, readList, readObject, textMember } from './payload.ts';
import { plannedColumn, readNewField } from './plan-fields.ts';
import { forgetSides, isVirtualField, readVirtualField } from './plan-virtual-fields.ts';

const tableMembers = {
  name: textMember(64),
  schema: textMember(64),
  comment: orNull(textMember()),
  kind: textMember(64),
};

/** Plans a new collection: a table, or a folder where `schema` is null. */
export function createCollection(model: KnownModel, body: JsonValue): ModelChange {
  const { document } = model;
  const payload = readObject(body, {
    collection: anyMember,
    schema: anyMember,
    meta: orNull((value) => readObject(value, collectionMeta, 'meta')),
    fields: (value, name) => [...readList(value, `"${name}"`)],
  });
  const collection = newName(payload.collection, 'collection');
  const location = { collection, field: null };
  if (collection.toLowerCase().startsWith(reservedPrefix)) {
    throw invalidPayload(`Names that begin with "${reservedPrefix}" are the platform's own.`);
  }
  if (entryOf(document.collections, location) !== undefined) throw exists('collection', collection);
  if (payload.schema === undefined && payload.meta === undefined) {
    throw invalidPayload('A collection has a "schema", a "meta", or both.');
  }
  const { schema: requested = null } = payload;
  if (requested === null && payload.fields !== undefined) throw invalidPayload('A folder has no fields.');
  const table = requested === null ? [] : createTable(model, collection, requested, payload);
  const meta = objectIn(payload, 'meta');
  mustBe(meta, 'meta.', { collection });
  // A folder is nothing but its row.
  const metadata = requested === null ? { hidden: false, ...meta } : meta;
  return {
    title: `create ${collection}`,
    steps: [...table, ...saveRow(model, 'collections', location, metadata)],
    ...outcome('create', 'collections', location),
  };
}

function createTable(
  model: KnownModel,
  collection: string,
  requested: JsonValue,
  { fields }: Payload,
): readonly ModelStep[] {
  const schema = readObject(requested, tableMembers, 'schema');
  mustBe(schema, 'schema.', { name: collection, schema: model.schema, kind: 'table' });
  const { sql } = model;
  const table = sql.tableName(model.schema, collection);
  const location = { collection, field: null };
  const bodies = Array.isArray(fields) ? fields : [];
  const columns = bodies.filter((body) => !isVirtualField(body)).map((body) => readNewField(model, body, collection));
  const virtualFields = bodies.filter(isVirtualField).map((body) => readVirtualField(model, body, collection));
  if (columns.length === 0 && virtualFields.length > 0) throw invalidPayload('A table has a field with a column.');
  const names = [...columns, ...virtualFields].map(({ field }) => field);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw exists('field', twice);
  const key = columns
    .filter(({ schema: columnSchema }) => columnSchema.is_primary_key === true)
    .map(({ field }) => field);
  const planned = columns.map((column) => sql.column(plannedColumn(model, column)));
  const { comment = null } = schema;
  return [
    ...columns.flatMap(({ before }) => before),
    ...sql.createTable(
      {
        table,
        columns: fields === undefined ? null : planned,
        key,
        comment: typeof comment === 'string' ? comment : null,
      },
      location,
    ),
    ...columns.flatMap((column) => column.beside(table)),
    ...virtualFields.flatMap(({ steps }) => steps),
  ];
}

export function updateCollection(model: KnownModel, collection: string, body: JsonValue): ModelChange {
  mustBeOwn(collection);
  const modelCollection = findCollection(model, collection);
  const payload = readObject(body, {
    collection: textMember(64),
    schema: anyMember,
    meta: (value) => readObject(value, collectionMeta, 'meta'),
  });
  mustBe(payload, '', { collection, schema: modelCollection.schema });
  const meta = objectIn(payload, 'meta');
  mustBe(meta, 'meta.', { collection });
  const location = { collection, field: null };
  return {
    title: `describe ${collection}`,
    steps: saveRow(model, 'collections', location, meta),
    isIdle: hasAll(modelCollection.meta, meta),
    ...outcome('update', 'collections', location),
  };
}

/** The collection that an element of a list is about. */
export function namedCollection(body: JsonValue): string {
  const name = isObject(body) ? body.collection : undefined;
  if (typeof name === 'string') return name;
  throw invalidPayload('Each element names its "collection".');
}

/** Plans that a collection goes, with its table and all that is said about it. */
export function deleteCollection(model: KnownModel, collection: string): ModelChange {
  mustBeOwn(collection);
  const { systemSchema, api, sql } = model;
  const location = { collection, field: null };
  const isFolder = findCollection(model, collection).schema === null;
  const run = (text: string): ModelStep => ({ kind: 'run', sql: text, place: location });
  const drop = isFolder ? [] : dropTable(model, findTable(model, collection));
  const about = [
    'platform_collections',
    'platform_fields',
    ...(api.permissionsDigest === undefined ? [] : ['platform_permissions']),
  ];
  return {
    title: `drop ${collection}`,
    steps: [
      ...drop,
      ...about.map((table) => run(sql.dropRows(systemSchema, table, { collection }))),
      run(sql.dropRows(systemSchema, 'platform_relations', { many_collection: collection })),
      run(sql.dropRows(systemSchema, 'platform_relations', { one_collection: collection })),
      ...forgetSides(model, collection),
    ],
    ...outcome('delete', 'collections', location),
  };
}

function dropTable(model: KnownModel, { descriptor, collection }: FoundTable): readonly ModelStep[] {
  const { table, fields } = descriptor;
  const { sql } = model;
  const location = { collection, field: null };
  const refusal = loses(`"${collection}" has items`);
  return [
    ...(model.discard ? [] : [{ kind: 'check', sql: sql.isEmpty(table), place: location, refusal } as const]),
    ...sql.dropTable(table, location),
    ...sql.dropEnums(model, collection, fields),
  ];
}
