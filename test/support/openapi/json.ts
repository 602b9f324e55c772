/** JSON of a document that nobody has looked at yet. */
export type Json = unknown;

/** An object of it. */
export type JsonObject = { readonly [key: string]: Json };

/** Tells objects from lists and scalars. */
export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member of an object; undefined where there is none. */
export function member(value: Json, name: string): Json {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** The same, or an element of a list by its number. */
export function memberOrElement(value: Json, name: string): Json {
  return Array.isArray(value) ? value[Number(name)] : member(value, name);
}

/** The members of an object; none of anything else. */
export function members(value: Json): readonly (readonly [string, Json])[] {
  return isObject(value) ? Object.entries(value) : [];
}

/** A list; an empty one of anything else. */
export function elements(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
