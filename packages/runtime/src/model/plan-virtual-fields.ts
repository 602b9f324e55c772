/**
 * Fields without a column: sides of relations, which come and go with these, and fields that only structure a form.
 * Their metadata lies in `platform_fields`. Source: API specification, sections 6 and 12.2.
 */
import { invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import {
  type CollectionDescriptor,
  type JsonValue,
  type ModelField,
  type ModelRelation,
  plainSpecials,
  type RelationDescriptor,
  relationSpecialIn,
  relationSpecials,
} from '../language/index.ts';
import { type ModelChange, outcome } from './change.ts';
import { entryOf, exists, findCollection, mustBeOwn, newName } from './find.ts';
import { dropRow, fieldMeta, hasAll, saveRow } from './meta.ts';
import type { KnownModel, ModelStep } from './model-sql.ts';
import {
  anyMember,
  mustBe,
  namesMember,
  objectIn,
  orNull,
  type Payload,
  type ReadMember,
  readObject,
  textIn,
  textMember,
} from './payload.ts';

/** Members of their `meta` that can be chosen; no others can. */
const optionalMembers: ReadonlySet<string> = new Set([
  ...['hidden', 'interface', 'display', 'group', 'options', 'display_options', 'translations', 'conditions', 'sort'],
  ...['width', 'note'],
]);

const allSpecials: readonly string[] = [...relationSpecials, ...plainSpecials];

const special: ReadMember = (value, path) => {
  const list = namesMember(value, path);
  const names = Array.isArray(list) ? list.map(String) : [];
  const side = relationSpecialIn(names);
  const fits = side === undefined ? allSpecials : ['alias', side];
  if (names.every((name) => fits.includes(name))) return names;
  throw invalidPayload(`"${path}" takes one of ${relationSpecials.join(', ')}, or of ${plainSpecials.join(', ')}.`);
};

const members = {
  collection: textMember(64),
  field: anyMember,
  type: anyMember,
  meta: orNull((value) => readObject(value, { ...fieldMeta, special: orNull(special) }, 'meta')),
  schema: anyMember,
};

/** A field without a column that is to be made. */
type NewVirtualField = ReturnType<typeof readVirtualField>;

export function readVirtualField(model: KnownModel, body: JsonValue, collection: string) {
  const payload = readObject(body, members);
  const field = newName(payload.field, 'field');
  const meta = objectIn(payload, 'meta');
  mustBe(payload, '', { collection, schema: null });
  const none = { required: false, readonly: false, validation: null, validation_message: null };
  mustBe(meta, 'meta.', { ...none, id: null, collection, field });
  const specials = Array.isArray(meta.special) ? meta.special.map(String) : [];
  const names = specials.length === 0 ? ['alias', 'no-data'] : specials;
  const metadata = { ...chosenMembers(meta), special: names };
  return { field, special: names, steps: saveRow(model, 'fields', { collection, field }, metadata) };
}

function chosenMembers(meta: Payload): Payload {
  return Object.fromEntries(Object.entries(meta).filter(([member]) => optionalMembers.has(member)));
}

/** True if a payload is about a field without a column. */
export function isVirtualField(body: JsonValue): boolean {
  return isObject(body) && body.type === 'alias';
}

/** Plans a field without a column. The side of a relation may be declared before its relation or after. */
export function createVirtualField(model: KnownModel, collection: string, body: JsonValue): ModelChange {
  const { schema } = findCollection(model, collection);
  mustBeOwn(collection);
  if (schema === null) throw invalidPayload(`"${collection}" is a folder and has no fields.`);
  const made = readVirtualField(model, body, collection);
  const { field } = made;
  const location = { collection, field };
  const refusal = exists('field', field);
  const present = entryOf(model.document.fields, location);
  if (present !== undefined && !isSide(model, present, made)) throw refusal;
  const unsaid = model.sql.hasNoRow(model.systemSchema, 'platform_fields', location);
  return {
    title: `add ${collection} ${field}`,
    steps: [{ kind: 'check', sql: unsaid, place: location, refusal }, ...made.steps],
    ...outcome('create', 'fields', location),
  };
}

/** True if a field is the side of a relation that a payload means. */
function isSide(model: KnownModel, present: ModelField, { special: requested }: NewVirtualField): boolean {
  const [now, meant] = [specialsOf(present), requested].map((names) => kinds.get(relationSpecialIn(names) ?? ''));
  return isRelation(model, present) && now !== undefined && now === meant;
}

/** Translations and files are relations of a kind with others. */
const kinds: ReadonlyMap<string, string> = new Map([
  ...relationSpecials.map((name) => [name, name] as const),
  ['translations', 'o2m'],
  ['files', 'm2m'],
]);

function specialsOf({ meta }: ModelField): readonly string[] {
  return isObject(meta) && Array.isArray(meta.special) ? meta.special.map(String) : [];
}

function isRelation({ api }: KnownModel, { collection, field }: Pick<ModelField, 'collection' | 'field'>): boolean {
  const relations = api.collections.find(({ name }) => name === collection)?.relations ?? [];
  return relations.some(({ name }) => name === field);
}

/** Plans what is said about one. */
export function describeVirtualField(model: KnownModel, modelField: ModelField, body: JsonValue): ModelChange {
  const { collection, field } = modelField;
  mustBeOwn(collection);
  const isSideOf = isRelation(model, modelField);
  const reader = isSideOf ? anyMember : special;
  const payload = readObject(body, {
    ...members,
    meta: orNull((value) => readObject(value, { ...fieldMeta, special: reader }, 'meta')),
  });
  mustBe(payload, '', { collection, field, type: modelField.type, schema: null });
  const meta = objectIn(payload, 'meta');
  const now = isObject(modelField.meta) ? modelField.meta : {};
  const isFixed = ([member]: readonly [string, JsonValue]): boolean =>
    !optionalMembers.has(member) && (isSideOf || member !== 'special');
  mustBe(meta, 'meta.', Object.fromEntries(Object.entries(now).filter(isFixed)));
  const named = !isSideOf && meta.special !== undefined ? { special: meta.special } : {};
  const metadata = { ...chosenMembers(meta), ...named };
  return {
    title: `describe ${collection} ${field}`,
    steps: saveRow(model, 'fields', { collection, field }, metadata),
    isIdle: hasAll(now, metadata),
    ...outcome('update', 'fields', { collection, field }),
  };
}

/** Plans that one goes; fields that lay in it lie in none then. */
export function deleteVirtualField(model: KnownModel, modelField: ModelField): ModelChange {
  const { collection, field } = modelField;
  mustBeOwn(collection);
  if (isRelation(model, modelField)) {
    throw invalidPayload(`"${field}" has no column: it is the other side of a relation, which is what to change.`);
  }
  const inside = model.document.fields.filter(
    (candidate) => candidate.collection === collection && isObject(candidate.meta) && candidate.meta.group === field,
  );
  const location = { collection, field };
  return {
    title: `drop ${collection} ${field}`,
    steps: [
      ...inside.flatMap((member) => saveRow(model, 'fields', { collection, field: member.field }, { group: null })),
      dropRow(model, 'fields', location),
    ],
    ...outcome('delete', 'fields', location),
  };
}

/** Removes the metadata of relations whose keys a collection holds; with `field`, of those that it is part of. */
export function forgetSides(model: KnownModel, collection: string, field?: string): readonly ModelStep[] {
  const { api } = model;
  const holder = api.collections.find(({ name }) => name === collection);
  if (holder === undefined) return [];
  const named = holder.fields.filter(({ name }) => name === field).map(({ column }) => column);
  const relation = holder.relations.find(({ name }) => name === field);
  const columns = named.length === 0 && relation?.kind === 'm2o' ? relation.on.map(({ from }) => from) : named;
  return api.collections
    .filter(({ system }) => system !== true)
    .flatMap(({ name, relations }) =>
      relations
        .filter(
          (relation) => isHeld(relation, holder) && (field === undefined || goesThrough(relation, columns, field)),
        )
        .map((relation) => dropRow(model, 'fields', { collection: name, field: relation.name })),
    );
}

function isHeld(relation: RelationDescriptor, { name }: CollectionDescriptor): boolean {
  if (relation.kind === 'm2o') return false;
  return (relation.kind === 'm2m' ? relation.junction : relation.target) === name;
}

function goesThrough(relation: RelationDescriptor, columns: readonly string[], field: string): boolean {
  const isAmong = (held: readonly string[]): boolean =>
    columns.length > 0 && columns.every((column) => held.includes(column));
  if (relation.kind === 'm2m') {
    return isAmong(relation.near.map(({ to }) => to)) || isAmong(relation.far.map(({ from }) => from));
  }
  const any = relation.kind === 'm2a' && [relation.itemField, relation.collectionField].includes(field);
  return any || isAmong(relation.on.map(({ to }) => to));
}

/** Steps that follow from the name that a relation gives to its other side; `before` is the relation as it is now. */
export function nameSide(
  model: KnownModel,
  related: string | null,
  meta: Payload,
  before?: ModelRelation,
): readonly ModelStep[] {
  const field = textIn(meta, 'one_field');
  const was = before === undefined ? undefined : textIn(objectIn({ meta: before.meta }, 'meta'), 'one_field');
  if (field === undefined || field === was) return [];
  newName(field, 'field');
  if (related === null) return [];
  const taken = entryOf(model.document.fields, { collection: related, field });
  if (taken !== undefined && isPlain(taken)) throw exists('field', field);
  if (was === undefined) return [];
  const location = { collection: related, field: was };
  // Metadata that the new name already has stays.
  if (taken !== undefined) return [dropRow(model, 'fields', location)];
  return [{ kind: 'run', sql: model.sql.renameField(model.systemSchema, location, field), place: location }];
}

/** True if a field only structures a form. */
function isPlain({ type, meta }: ModelField): boolean {
  const { special = null } = objectIn({ meta }, 'meta');
  return type === 'alias' && Array.isArray(special) && relationSpecialIn(special.map(String)) === undefined;
}
