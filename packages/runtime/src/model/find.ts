/** Names of a request looked up in the compiled model, and what may be changed of what they mean. */

import { PlatformError } from '../errors.ts';
import { invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import { type JsonValue, type ModelCollection, type ModelField, reservedPrefix } from '../language/index.ts';
import type { FoundColumn, FoundTable, KnownModel } from './model-sql.ts';
import type { Payload } from './payload.ts';

/** Finds a collection that is told; FORBIDDEN for one that is not. */
export function findCollection({ document }: KnownModel, name: string): ModelCollection {
  const found = document.collections.find(({ collection }) => collection === name);
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

/** Finds a field as it is told. */
export function findField({ document }: KnownModel, collection: string, name: string): ModelField {
  const found = document.fields.find((candidate) => candidate.collection === collection && candidate.field === name);
  if (found === undefined) throw new PlatformError('FORBIDDEN');
  return found;
}

/** Finds a field that has a column. */
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
