/** The form of bodies that write, judged without a look at names. Source: API specification, section 4. */

import { invalidPayload } from '../../json/problems.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import { isList } from '../../language/values/parse-text.ts';

/** Selection of the items of a batch. */
type Named =
  | { readonly kind: 'keys'; readonly keys: readonly JsonValue[] }
  | { readonly kind: 'query'; readonly query: JsonValue };

/** Changes of several items: the same for all that are named, or of each item by its key. */
type UpdateBody =
  | { readonly kind: 'shared'; readonly named: Named; readonly data: FilterObject }
  | { readonly kind: 'each'; readonly items: readonly FilterObject[] };

export function parseCreate(body: JsonValue | undefined, maxItems: number | null) {
  if (isList(body)) return { many: true, items: parseItems(body, maxItems) };
  return { many: false, items: [parseObject(body)] };
}

/** Reads the body of a PATCH by key, or of a singleton. */
export function parseObject(body: JsonValue | undefined): FilterObject {
  if (body === undefined) throw invalidPayload('The body is empty.');
  if (!isObject(body)) throw invalidPayload('The body must be an object.');
  return body;
}

export function parseUpdate(body: JsonValue | undefined, maxItems: number | null): UpdateBody {
  if (isList(body)) return { kind: 'each', items: parseItems(body, maxItems) };
  const parts = parseObject(body);
  const { data } = parts;
  if (data === undefined || !isObject(data)) throw invalidPayload('The body needs an object "data".');
  return { kind: 'shared', named: parseNamed(parts, ['data'], maxItems), data };
}

export function parseDelete(body: JsonValue | undefined, maxItems: number | null): Named {
  if (isList(body)) return { kind: 'keys', keys: limited(body, maxItems) };
  return parseNamed(parseObject(body), [], maxItems);
}

function parseNamed(parts: FilterObject, others: readonly string[], maxItems: number | null): Named {
  const { keys, query } = parts;
  const names = ['keys', 'query', ...others];
  if (Object.keys(parts).some((name) => !names.includes(name))) {
    throw invalidPayload(`The body takes ${names.map((name) => `"${name}"`).join(', ')}.`);
  }
  if ((keys === undefined) === (query === undefined)) throw invalidPayload('The body needs one of "keys" and "query".');
  if (query !== undefined) return { kind: 'query', query };
  if (!isList(keys)) throw invalidPayload('"keys" must be an array.');
  return { kind: 'keys', keys: limited(keys, maxItems) };
}

function parseItems(items: readonly JsonValue[], maxItems: number | null): readonly FilterObject[] {
  return limited(items, maxItems).map((item) => {
    if (!isObject(item)) throw invalidPayload('The array must hold objects.');
    return item;
  });
}

function limited(elements: readonly JsonValue[], maxItems: number | null): readonly JsonValue[] {
  checkCount(elements.length, maxItems);
  return elements;
}

/** Throws INVALID_PAYLOAD for more items than one request may write. */
export function checkCount(count: number, maxItems: number | null): void {
  if (maxItems !== null && count > maxItems) throw invalidPayload(`One request writes at most ${maxItems} items.`);
}
