/** A query in the forms in which requests carry it (API specification, sections 1.4 and 5.1). */
import { isObject } from './conditions.ts';
import { type Form, parametersOf, type Query } from './query.ts';
import type { Json, JsonObject } from './world.ts';

/** The body of a SEARCH. */
export function searchBody(query: Query): JsonObject {
  const given: JsonObject = { query: toJson(parametersOf(query)) };
  return query.keys === undefined ? given : { ...given, keys: query.keys };
}

function toJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** The query string of a GET; what brackets cannot say is written as JSON text. */
export function queryString(query: Query, form: Form): string {
  return Object.entries(toJson(parametersOf(query)))
    .flatMap(([name, value]) => parameter(name, value, form))
    .join('&');
}

function parameter(name: string, value: Json, form: Form): readonly string[] {
  const pair = (key: string, text: string): string => `${encodeURIComponent(key)}=${encodeURIComponent(text)}`;
  if (!isObject(value)) {
    if (!Array.isArray(value)) return [pair(name, String(value))];
    return form === 'brackets' ? value.map((one) => pair(`${name}[]`, String(one))) : [pair(name, value.join(','))];
  }
  const brackets = form === 'brackets' ? inBrackets(name, value, 0) : undefined;
  return brackets === undefined ? [pair(name, JSON.stringify(value))] : brackets.map(([key, text]) => pair(key, text));
}

type Pairs = readonly (readonly [string, string])[];

/** Undefined for what brackets cannot say: nothing, null, and what nests too deep. */
function inBrackets(name: string, value: Json, depth: number): Pairs | undefined {
  if (value === null || depth > 10) return undefined;
  if (typeof value !== 'object') return isTelling(value) ? [[name, String(value)]] : undefined;
  const entries = Array.isArray(value)
    ? value.map((one, index): readonly [string, Json] => [String(index), one])
    : Object.entries(value);
  if (entries.length === 0) return undefined;
  const parts = entries.map(([key, one]) => inBrackets(`${name}[${key}]`, one, depth + 1));
  return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
}

/** A list of one empty text, or of texts with commas, would be read as another list. */
function isTelling(value: Json): boolean {
  return value !== '' && value !== 'null' && !String(value).includes(',');
}
