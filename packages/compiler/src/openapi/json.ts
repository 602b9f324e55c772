import type { JsonValue } from '@tablewright/runtime/language';
import { createCache, type Lookup, type Watch } from '../cache/memo-cache.ts';
import { packChunk } from '../print/chunks.ts';
import { keepText, type Layout, onlyText, textAt } from '../print/json.ts';

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
function marked(deprecated: string | null): JsonObject {
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

/** Members of an object in a document, by their names. */
export type Parts = readonly (readonly [string, JsonObject])[];

export type PartText = readonly [name: string, text: string];

/** Layout of what stands at an indentation: paths, operations, components and properties have a line each. */
export function layoutAt(indent: number): Layout {
  return { levels: [0, 2, 4][indent / 2] ?? 3 };
}

/**
 * Remembers parts that stand in documents at one indentation, as objects or as texts.
 *
 * Where no other collection has parts of the same names (`apart`), there is one text for all. It stands under the name
 * of the first, and goes on with the others. `print` gives the texts where that takes less.
 */
export function createPartsCache(indent: number, apart: boolean) {
  const objects = createCache<Parts>();
  const printed = createCache<Parts>();
  return (
    key: object,
    sources: readonly Lookup<unknown>[],
    asText: boolean,
    create: (watch: Watch) => Parts,
    print = (watch: Watch): readonly PartText[] => textsOf(create(watch), indent, apart),
  ): Parts =>
    asText
      ? printed(key, sources, (watch) => print(watch).map(([name, text]) => [name, onlyText(packChunk(text), indent)]))
      : objects(key, sources, create);
}

/** Prints parts at an indentation; as one text, under the name of the first, where they stand `apart`. */
export function textsOf(parts: Parts, indent: number, apart: boolean): readonly PartText[] {
  const texts = parts.map(([name, part]) => [name, textAt(part, indent, layoutAt(indent))] as const);
  const [first, ...others] = texts;
  if (!apart || first === undefined) return texts;
  const more = others.map(([name, text]) => `,\n${' '.repeat(indent)}${JSON.stringify(name)}: ${text}`);
  return [[first[0], [first[1], ...more].join('')]];
}

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

/** A list, or the text of it with commas. */
export function listOrText(items: JsonObject): JsonObject {
  return { type: ['array', 'string'], items };
}

/** The object in which an answer stands, under `data`. */
export function envelope(data: JsonValue, others: JsonObject = {}): JsonObject {
  return { type: 'object', properties: { data, ...others }, required: ['data'] };
}

/** The member of an envelope that has the counts and cursors of a list. */
export const meta: JsonObject = { meta: reference('schemas', 'Meta') };
