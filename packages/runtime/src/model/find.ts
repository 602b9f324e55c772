/** Names of a request looked up in the compiled model, and what may be changed of what they mean. */
import { hash } from 'node:crypto';
import { PlatformError } from '../errors.ts';
import { invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import {
  type JsonValue,
  type ModelCollection,
  type ModelField,
  type ModelRelation,
  reservedPrefix,
} from '../language/index.ts';
import type { FoundColumn, FoundMember, FoundTable, KnownModel, ModelPlace, NewForeignKey } from './model-sql.ts';
import { type Payload, textIn } from './payload.ts';

/** The collection, field or relation of a place; undefined where none is told. */
export function entryOf<Entry extends { readonly collection: string; readonly field?: string }>(
  entries: readonly Entry[],
  { collection, field }: ModelPlace,
): Entry | undefined {
  return entries.find((entry) => entry.collection === collection && (entry.field ?? null) === field);
}

/** Finds a collection that is told; FORBIDDEN for one that is not. */
export function findCollection({ document }: KnownModel, name: string): ModelCollection {
  const found = entryOf(document.collections, { collection: name, field: null });
  if (found === undefined) throw new PlatformError('FORBIDDEN');
  return found;
}

/** Finds one whose table may be changed: the platform's own stay as they are, and views are what their query says. */
export function findTable(model: KnownModel, name: string): FoundTable {
  const modelCollection = findCollection(model, name);
  const descriptor = model.api.collections.find((candidate) => candidate.name === name);
  if (descriptor === undefined) throw invalidPayload(`"${name}" is a folder and has no fields.`);
  mustBeOwn(name);
  if (schemaOf(modelCollection).kind !== 'table') {
    throw new PlatformError('UNPROCESSABLE_ENTITY', `"${name}" is a view: change its query in the database.`);
  }
  return { collection: name, modelCollection, descriptor };
}

/** Refuses the platform's own collections. */
export function mustBeOwn(name: string): void {
  if (name.startsWith(reservedPrefix)) throw new PlatformError('FORBIDDEN');
}

export function findField({ document }: KnownModel, collection: string, name: string): ModelField {
  const found = entryOf(document.fields, { collection, field: name });
  if (found === undefined) throw new PlatformError('FORBIDDEN');
  return found;
}

export function findColumn(model: KnownModel, collection: string, field: string): FoundColumn {
  const modelField = findField(model, collection, field);
  const table = findTable(model, collection);
  const column = table.descriptor.fields.find(({ name }) => name === field);
  if (column === undefined) {
    throw invalidPayload(`"${field}" has no column: it is the other side of a relation, which is what to change.`);
  }
  if (column.computed !== undefined) {
    throw invalidPayload(`"${field}" has no column: the configuration makes it of a function of the database.`);
  }
  return { ...table, field, column, schema: schemaOf(modelField), type: modelField.type };
}

/** The `schema` of what is told; empty where there is none. */
export function schemaOf({ schema }: { readonly schema: JsonValue }): Payload {
  return isObject(schema) ? schema : {};
}

/** The foreign key of a told relation; undefined where the database has none. */
export function foreignKeyOf(
  { api }: Pick<KnownModel, 'api'>,
  modelRelation: ModelRelation,
  { descriptor, field }: FoundMember,
): NewForeignKey | undefined {
  const relation = descriptor.relations.find((candidate) => candidate.kind === 'm2o' && candidate.name === field);
  const target = api.collections.find(({ name }) => name === relation?.target);
  const schema = schemaOf(modelRelation);
  const [onUpdate, onDelete] = [textIn(schema, 'on_update'), textIn(schema, 'on_delete')];
  if (relation?.kind !== 'm2o' || target === undefined || onUpdate === undefined || onDelete === undefined) return;
  return { target: target.table, on: relation.on, onUpdate, onDelete };
}

/** The foreign key of a field, with its name; undefined where the field has none of its own. */
export function findRelationOf(
  model: KnownModel,
  found: FoundColumn,
): { readonly name: string; readonly key: NewForeignKey | undefined } | undefined {
  const relation = entryOf(model.document.relations, found);
  const name = relation === undefined ? undefined : textIn(schemaOf(relation), 'constraint_name');
  return relation === undefined || name === undefined ? undefined : { name, key: foreignKeyOf(model, relation, found) };
}

/** Refuses that a foreign key sets a field to null which must have a value. */
export function mustTakeNull(
  field: string,
  { onUpdate, onDelete }: Pick<NewForeignKey, 'onUpdate' | 'onDelete'>,
): void {
  if (onUpdate !== 'SET NULL' && onDelete !== 'SET NULL') return;
  throw invalidPayload(`"${field}" must not be null where its foreign key has SET NULL: take another action.`);
}

/** Bytes of a name that the database keeps; longer ones would be cut. */
const longestName = 63;
const namePattern = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Takes the name of a table or column that is to be made. Throws INVALID_PAYLOAD for what cannot be one. */
export function newName(value: JsonValue | undefined, what: string): string {
  if (typeof value !== 'string' || !namePattern.test(value)) {
    throw invalidPayload(`The name of a ${what} must be a letter and then letters, digits and underscores.`);
  }
  if (value.length > longestName) throw invalidPayload(`The name of a ${what} has at most ${longestName} characters.`);
  return value;
}

/** A name of our own making for a constraint or index, not quoted. One that would be too long ends with a digest. */
export function madeName(parts: readonly string[], ending: string): string {
  const whole = [...parts, ending].join('_');
  if (Buffer.byteLength(whole) <= longestName) return whole;
  const end = `_${hash('sha256', whole).slice(0, 8)}_${ending}`;
  const kept = Buffer.from(whole).subarray(0, longestName - end.length);
  return `${kept.toString().replace(/\ufffd+$/, '')}${end}`;
}

/** Parts of a name for what belongs to a column: with a digest where the names of another one come to the same text. */
export function madeParts({ document }: KnownModel, parts: readonly [string, string]): readonly string[] {
  const [plain, apart] = bothParts(parts);
  const isShared = document.fields
    .flatMap((field) => [
      [field.collection, field.field],
      [textIn(schemaOf(field), 'table'), textIn(schemaOf(field), 'name')],
    ])
    .some(([table, column]) => table !== parts[0] && `${table}_${column}` === parts.join('_'));
  return isShared ? apart : plain;
}

/** The parts without the digest, and with it. */
export function bothParts(parts: readonly string[]): readonly [readonly string[], readonly string[]] {
  return [parts, [...parts, hash('sha256', JSON.stringify(parts)).slice(0, 8)]];
}

export function exists(what: string, name: string): PlatformError {
  return invalidPayload(`There is a ${what} "${name}" already.`);
}

export function loses(what: string): PlatformError {
  return new PlatformError('UNPROCESSABLE_ENTITY', `${what}, which would be lost: say so with ?data=discard.`);
}
