/** A write as requests and extensions ask for it, and its payloads as hooks see them. */
import { isObject } from '../contract/filter-syntax.ts';
import type { JsonValue } from '../contract/index.ts';
import { toJson } from '../extensions/json.ts';
import { sentKeys } from '../extensions/keys.ts';
import { withNumberTexts } from '../json/exact-numbers.ts';
import { decodeKey, parseKeySegment } from '../query/keys.ts';
import type { CollectionScope } from '../query/scope.ts';
import { type Desk, type Job, type WriteRequest, writableOf } from './job.ts';
import { type Keys, namedKeys, oneKey } from './keys.ts';
import { prepareCreate } from './prepare-create.ts';
import { prepareDelete, prepareDeleteOne } from './prepare-delete.ts';
import { prepareUpdate, prepareUpdateOne, prepareUpdateSingleton } from './prepare-update.ts';

/** What a write does. */
export type Action = 'create' | 'update' | 'delete';

/** One write: its action, who asks, what names the items, and the body. */
export interface Ask {
  readonly action: Action;
  readonly request: WriteRequest;
  readonly body: JsonValue | undefined;
  /** The segment of the path that names one item, as it was sent. */
  readonly key?: string;
  readonly singleton?: true;
}

/** One payload of a write with the items that it is for; a hook runs once for each. */
export interface Portion {
  /** Undefined where items are removed. A hook may change it. */
  readonly payload: JsonValue | undefined;
  /** Null where they are not known before: new items, those of a query, and the one of a singleton. */
  readonly keys: readonly JsonValue[] | null;
}

/** Prepares a write with a body, which hooks may have changed. Throws for everything that is wrong with it. */
export async function prepareAsk(
  desk: Desk,
  { action, key, singleton }: Ask,
  body: JsonValue | undefined,
): Promise<Job> {
  if (action === 'create') return prepareCreate(desk, body);
  if (action === 'delete') return key === undefined ? prepareDelete(desk, body) : prepareDeleteOne(desk, key);
  if (singleton === true) return prepareUpdateSingleton(desk, body);
  return key === undefined ? prepareUpdate(desk, body) : prepareUpdateOne(desk, key, body);
}

/** The payloads of a write whose form was judged, each a copy for hooks to change. */
export function portionsOf(desk: Desk, ask: Ask): readonly Portion[] {
  const { collection } = writableOf(desk);
  const { action, body } = ask;
  if (action === 'delete') return [{ payload: undefined, keys: keysNamed(collection, ask) }];
  if (isList(body)) {
    return body.map((payload) => ({
      payload: copyFor(collection, payload),
      keys: action === 'create' ? null : ownKey(collection, payload),
    }));
  }
  const payload = isShared(ask) ? memberOf(body, 'data') : body;
  return [
    { payload: copyFor(collection, payload ?? {}), keys: action === 'create' ? null : keysNamed(collection, ask) },
  ];
}

/** The body with payloads that hooks have changed. Throws `TypeError` for what is no JSON. */
export function bodyOf(ask: Ask, portions: readonly Portion[]): JsonValue | undefined {
  const { action, body } = ask;
  if (action === 'delete') return body;
  const payloads = portions.map(({ payload }) => toJson(payload));
  if (isList(body)) return payloads;
  const [payload = {}] = payloads;
  return isShared(ask) && body !== undefined && isObject(body) ? { ...body, data: payload } : payload;
}

/** The portions of a write with the keys of what was written. */
export function writtenPortions(desk: Desk, portions: readonly Portion[], keys: Keys | null): readonly Portion[] {
  const { descriptor } = writableOf(desk).collection;
  const written = keys === null ? [] : sentKeys(descriptor, keys);
  const [only] = portions;
  if (portions.length === 1 && only !== undefined) return [{ ...only, keys: written }];
  return portions.map((portion, index) => ({ ...portion, keys: portion.keys ?? written.slice(index, index + 1) }));
}

/** Whether the body is `{keys | query, data}`. */
function isShared({ action, key, singleton }: Ask): boolean {
  return action === 'update' && key === undefined && singleton !== true;
}

function keysNamed(collection: CollectionScope, { key, singleton, body }: Ask): readonly JsonValue[] | null {
  if (singleton === true) return null;
  if (key !== undefined) return sentKeys(collection.descriptor, oneKey(parseKeySegment(collection, key)));
  const keys = isList(body) ? body : memberOf(body, 'keys');
  return isList(keys) ? sentKeys(collection.descriptor, namedKeys(collection, keys)) : null;
}

/** The key in a payload of a list of changes. */
function ownKey(collection: CollectionScope, payload: JsonValue): readonly JsonValue[] {
  const { descriptor } = collection;
  const parts = descriptor.key.map((name) => withNumberTexts(memberOf(payload, name) ?? null));
  return sentKeys(descriptor, oneKey(decodeKey(collection, parts)));
}

/** Numbers beyond those of JavaScript are texts, as the types say; within JSON they stay as they were written. */
function copyFor({ descriptor }: CollectionScope, payload: JsonValue): JsonValue {
  if (!isObject(payload)) return payload;
  const raw = new Set(descriptor.fields.filter(({ type }) => type === 'json').map(({ name }) => name));
  const members = Object.entries(payload).map(
    ([name, value]) => [name, raw.has(name) ? toJson(value) : toJson(withNumberTexts(value))] as const,
  );
  return Object.fromEntries(members);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** `Array.isArray` does not narrow readonly arrays. */
function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
