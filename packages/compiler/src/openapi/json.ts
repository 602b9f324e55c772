import type { JsonValue } from '@tablewright/runtime/language';
import { keepText } from '../print/only-text.ts';

/** A JSON object: a schema, an operation, any part of the document. */
export type JsonObject = { readonly [key: string]: JsonValue };

/** Tells objects from lists and scalars. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Makes an object of pairs. Names from outside may stand as keys: `__proto__` becomes a property as any other. */
export function objectOf(entries: Iterable<readonly [string, JsonValue]>): JsonObject {
  return Object.fromEntries(entries);
}

/** Refers to a component that many schemas refer to, so that the text is kept. */
export function oftenReferred(name: string): JsonObject {
  return keepText(reference('schemas', name));
}

/** Refers to a part of the document's components. */
export function reference(
  kind: 'schemas' | 'responses' | 'parameters' | 'requestBodies' | 'headers',
  name: string,
): JsonObject {
  return { $ref: `#/components/${kind}/${name}` };
}

/** `{ description }` when there is one, to be spread. */
export function described(description: string | null): JsonObject {
  return description === null || description === '' ? {} : { description };
}

/** `{ deprecated: true }` where there is a reason, to be spread. */
export function marked(deprecated: string | null): JsonObject {
  return deprecated === null ? {} : { deprecated: true };
}

/** A schema with what is said about it. */
export function about(schema: JsonObject, note: string | null, deprecated: string | null): JsonObject {
  if ((note === null || note === '') && deprecated === null) return schema;
  return { ...schema, ...described(note), ...marked(deprecated) };
}

/** An object with any members. Said so, because generators take an object that names none for one that has none. */
export function anyObject(description: string | null = null): JsonObject {
  return { type: 'object', ...described(description), additionalProperties: true };
}

/** Any of several schemas; the only one as it is. */
export function anyOf(...schemas: readonly JsonObject[]): JsonObject {
  const [only, ...more] = schemas;
  if (only === undefined) return anyObject();
  return more.length === 0 ? only : { anyOf: schemas };
}
