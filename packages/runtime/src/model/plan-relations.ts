/** Relations made, changed and dropped, from the side that holds the key. Source: API specification, section 12.3. */
import { PlatformError } from '../errors.ts';
import { invalidPayload } from '../json/problems.ts';
import type { JsonValue, ModelRelation } from '../language/index.ts';
import { type ModelChange, outcome } from './change.ts';
import {
  entryOf,
  exists,
  findCollection,
  findColumn,
  findTable,
  foreignKeyOf,
  madeParts,
  mustTakeNull,
  schemaOf,
} from './find.ts';
import { dropRow, hasAll, relationMeta, saveRow } from './meta.ts';
import type { FoundColumn, FoundMember, KnownModel, ModelStep } from './model-sql.ts';
import { mustBe, objectIn, oneOf, orNull, type Payload, readObject, textIn, textMember } from './payload.ts';
import { forgetSides, nameSide } from './plan-virtual-fields.ts';

const actions = ['NO ACTION', 'RESTRICT', 'CASCADE', 'SET NULL', 'SET DEFAULT'] as const;

const foreignKeyMembers = {
  table: textMember(64),
  column: textMember(64),
  foreign_key_table: textMember(64),
  foreign_key_column: textMember(64),
  constraint_name: orNull(textMember(64)),
  on_update: orNull(oneOf(...actions)),
  on_delete: orNull(oneOf(...actions)),
};

/** Metadata that only relations to items of several collections have. */
const ofOneCollection = { one_collection_field: null, one_allowed_collections: null };

function readRelation(body: JsonValue): Payload {
  return readObject(body, {
    collection: textMember(64),
    field: textMember(64),
    related_collection: orNull(textMember(64)),
    schema: orNull((value) => readObject(value, foreignKeyMembers, 'schema')),
    meta: orNull((value) => readObject(value, relationMeta, 'meta')),
  });
}

/** Plans a relation of a field that is there. */
export function createRelation(model: KnownModel, body: JsonValue): ModelChange {
  const payload = readRelation(body);
  const [collection, field] = [textIn(payload, 'collection'), textIn(payload, 'field')];
  if (collection === undefined || field === undefined)
    throw invalidPayload('A relation has a "collection" and a "field".');
  const found = findColumn(model, collection, field);
  if (entryOf(model.document.relations, found) !== undefined) throw exists('relation', `${collection}.${field}`);
  const { related_collection: related = null } = payload;
  const meta = objectIn(payload, 'meta');
  mustBe(meta, 'meta.', { many_collection: collection, many_field: field, ...(related !== null && ofOneCollection) });
  const steps = typeof related === 'string' ? addForeignKey(model, found, related, payload) : anyItem(found, payload);
  const side = typeof related === 'string' ? { one_collection: related } : {};
  return {
    title: `relate ${collection} ${field}`,
    steps: [
      ...steps,
      ...nameSide(model, textIn(payload, 'related_collection') ?? null, meta),
      ...saveMetadata(model, found, { ...meta, ...side }),
    ],
    ...outcome('create', 'relations', found),
  };
}

/** Writes the metadata of a relation; none where it only names the related collections. */
function saveMetadata(model: KnownModel, { collection, field }: FoundMember, meta: Payload): readonly ModelStep[] {
  const hasMetadata = Object.keys(meta).some(
    (name) => !['id', 'many_collection', 'many_field', 'one_collection'].includes(name),
  );
  return hasMetadata ? saveRow(model, 'relations', { collection, field }, meta) : [];
}

function addForeignKey(model: KnownModel, found: FoundColumn, related: string, payload: Payload): readonly ModelStep[] {
  const { column } = found;
  findCollection(model, related);
  const target = model.api.collections.find(({ name }) => name === related);
  const [key, ...others] = target?.key ?? [];
  const held = target?.fields.find(({ name }) => name === key);
  if (target === undefined || held === undefined || others.length > 0) {
    throw invalidPayload(`"${related}" has no key of one field.`);
  }
  if (payload.schema === null) throw invalidPayload('A relation to one collection has a foreign key.');
  const schema = objectIn(payload, 'schema');
  const { table, name } = found.schema;
  const keyField = entryOf(model.document.fields, { collection: related, field: key ?? null });
  mustBe(schema, 'schema.', {
    table: table ?? null,
    column: name ?? null,
    foreign_key_table: schemaOf(findCollection(model, related)).name ?? null,
    foreign_key_column: schemaOf(keyField ?? { schema: null }).name ?? null,
    constraint_name: null,
  });
  const onUpdate = textIn(schema, 'on_update') ?? 'NO ACTION';
  const onDelete = textIn(schema, 'on_delete') ?? (column.nullable ? 'SET NULL' : 'NO ACTION');
  if (!column.nullable) mustTakeNull(found.field, { onUpdate, onDelete });
  const on = [{ from: column.column, to: held.column }];
  const names = madeParts(model, [String(table), String(name)]);
  return model.sql.addForeignKey(found, names, { target: target.table, on, onUpdate, onDelete });
}

/** A field whose keys are of several collections has no foreign key: its row says all. */
function anyItem({ collection }: FoundColumn, { meta, schema }: Payload): readonly ModelStep[] {
  const metadata = objectIn({ meta: meta ?? null }, 'meta');
  const complete = ['one_collection_field', 'one_allowed_collections', 'junction_field', 'one_field'].every(
    (name) => (metadata[name] ?? null) !== null,
  );
  if (complete && (schema ?? null) === null) return [];
  throw invalidPayload(
    `Items of several collections need "meta" with one_collection_field, one_allowed_collections, junction_field (the key of "${collection}" to the owner) and one_field.`,
  );
}

/** Plans changes of a relation; every part of the payload may be absent. */
export function updateRelation(model: KnownModel, collection: string, field: string, body: JsonValue): ModelChange {
  const modelRelation = findRelation(model, collection, field);
  const found = { ...findTable(model, collection), field };
  const payload = readRelation(body);
  mustBe(payload, '', { collection, field, related_collection: modelRelation.related_collection });
  const meta = objectIn(payload, 'meta');
  mustBe(meta, 'meta.', {
    many_collection: collection,
    many_field: field,
    one_collection: modelRelation.related_collection,
    ...(modelRelation.related_collection !== null && ofOneCollection),
  });
  const side = modelRelation.related_collection === null ? {} : { one_collection: modelRelation.related_collection };
  // Not all that is kept is told, so members that are sent back as they were read change nothing.
  const changed = Object.fromEntries(
    Object.entries(meta).filter(([name, value]) => !hasAll(modelRelation.meta, { [name]: value })),
  );
  return {
    title: `change ${collection} ${field}`,
    steps: [
      ...changeForeignKey(model, modelRelation, found, payload),
      ...nameSide(model, modelRelation.related_collection, changed, modelRelation),
      ...saveMetadata(model, found, { ...changed, ...side }),
    ],
    ...outcome('update', 'relations', found),
  };
}

function changeForeignKey(
  model: KnownModel,
  modelRelation: ModelRelation,
  found: FoundMember,
  payload: Payload,
): readonly ModelStep[] {
  const now = schemaOf(modelRelation);
  const schema = objectIn(payload, 'schema');
  const { on_update: _, on_delete: __, ...others } = now;
  mustBe(schema, 'schema.', others);
  const requested = { on_update: textIn(schema, 'on_update'), on_delete: textIn(schema, 'on_delete') };
  const onUpdate = requested.on_update ?? textIn(now, 'on_update');
  const onDelete = requested.on_delete ?? textIn(now, 'on_delete');
  const name = textIn(now, 'constraint_name');
  if (name === undefined || (onUpdate === now.on_update && onDelete === now.on_delete)) return [];
  const before = foreignKeyOf(model, modelRelation, found);
  if (before === undefined) throw new PlatformError('FORBIDDEN');
  // It may match in ways that are not read, which a new one would lose.
  if (before.on.length > 1) throw invalidPayload('The actions of a key of several fields are changed in the database.');
  const key = { ...before, onUpdate: onUpdate ?? before.onUpdate, onDelete: onDelete ?? before.onDelete };
  const isRequired = found.descriptor.fields.some((field) => field.name === found.field && !field.nullable);
  if (isRequired) mustTakeNull(found.field, key);
  return model.sql.replaceForeignKey(found, name, key, before);
}

/** Plans that a relation goes; the column and what is in it stay. */
export function deleteRelation(model: KnownModel, collection: string, field: string): ModelChange {
  const modelRelation = findRelation(model, collection, field);
  const found = { ...findTable(model, collection), field };
  const name = textIn(schemaOf(modelRelation), 'constraint_name');
  const location = { collection, field };
  return {
    title: `unrelate ${collection} ${field}`,
    steps: [
      ...(name === undefined ? [] : model.sql.dropForeignKey(found, name, foreignKeyOf(model, modelRelation, found))),
      dropRow(model, 'relations', location),
      ...forgetSides(model, collection, field),
    ],
    ...outcome('delete', 'relations', location),
  };
}

function findRelation({ document }: KnownModel, collection: string, field: string): ModelRelation {
  const found = entryOf(document.relations, { collection, field });
  if (found === undefined) throw new PlatformError('FORBIDDEN');
  return found;
}
