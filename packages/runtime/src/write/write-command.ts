/** A write as requests and extensions ask for it, and its payloads as hooks see them. */

import { toJson } from '../extensions/shapes.ts';
import { earlierOf } from '../json/problems.ts';
import { type FilterObject, isObject } from '../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../language/index.ts';
import { isList } from '../language/values/parse-text.ts';
import { decodeKey, parseKeySegment } from '../query/parse/keys.ts';
import type { CollectionScope } from '../sql/scope.ts';
import type { WritableCollection } from './access/scope.ts';
import { type Keys, keyedItems, namedKeys, oneKey } from './decode/keys.ts';
import { parseCreate, parseObject, parseUpdate } from './decode/parse-body.ts';
import type { TransactionBody } from './execute/transaction-body.ts';
import { copyPayload, sentKeys } from './hooks/copy-payload.ts';
import { prepareDelete, prepareDeleteOne } from './prepare-delete.ts';
import { prepareUpdate, prepareUpdateOne, prepareUpdateSingleton, singletonFinder } from './prepare-update.ts';
import type { Entry } from './tree/parse/nested-write.ts';
import { changedEntries, isTree, newEntries } from './tree/prepare-tree.ts';
import { preparePost } from './upsert/prepare-upsert.ts';
import {
  type Guard,
  guardOf,
  guardOfSingleton,
  returningOf,
  type WriteContext,
  type WritePlan,
  type WriteRequest,
  writableOf,
} from './write-plan.ts';

export type Action = 'create' | 'update' | 'delete';

/** One write: its action, who asks, what names the items, and the body. */
export interface WriteCommand {
  readonly action: Action;
  readonly request: WriteRequest;
  readonly body: JsonValue | undefined;
  /** The segment of the path that names one item, as it was sent. */
  readonly item?: string;
  readonly singleton?: true;
}

/** A part of a transaction that is no write of items. */
export interface PreparedCommand {
  readonly prepare: () => Promise<TransactionBody>;
}

/** One payload of a write with the items that it is for; a hook runs once for each. */
export interface HookPayload {
  /** Undefined where items are removed. A hook may change it. */
  readonly payload: JsonValue | undefined;
  /** Null where they are not known before: new items, those of a query, and the one of a singleton. */
  readonly keys: readonly JsonValue[] | null;
}

/** Prepares a write with a body. Throws for everything wrong with it, in the order of API section 1.5. */
export async function prepareCommand(
  context: WriteContext,
  command: WriteCommand,
  body: JsonValue | undefined,
): Promise<WritePlan> {
  const { complaints } = context;
  let plan: WritePlan;
  try {
    plan = await prepareAction(context, command, body);
  } catch (error) {
    const [complaint = error] = complaints;
    throw earlierOf(error, complaint);
  }
  const [complaint] = complaints;
  if (complaint !== undefined) throw complaint;
  return plan;
}

function prepareAction(
  context: WriteContext,
  { action, item, singleton }: WriteCommand,
  body: JsonValue | undefined,
): WritePlan | Promise<WritePlan> {
  if (action === 'create') return preparePost(context, body);
  if (action === 'delete') return item === undefined ? prepareDelete(context, body) : prepareDeleteOne(context, item);
  if (singleton === true) return prepareUpdateSingleton(context, body);
  return item === undefined ? prepareUpdate(context, body) : prepareUpdateOne(context, item, body);
}

/** Condition that the item of a write must meet before anything runs (If-Match); undefined if the request sets none. */
export function guardOfCommand(context: WriteContext, { item, singleton }: WriteCommand): Guard | undefined {
  if (context.ifMatch === undefined) return undefined;
  const writable = writableOf(context);
  const { collection } = writable;
  if (singleton === true) return guardOfSingleton(context, collection, singletonFinder(context, writable)).guard;
  if (item === undefined) return undefined;
  const keys = oneKey(parseKeySegment(collection, item));
  return guardOf(context, collection, keys, () => returningOf(context, 'one')).guard;
}

/** The top of a write whose payloads hold related items; null for any other. Throws for what is wrong with its form. */
export function entriesOf(
  context: WriteContext,
  { action, item, singleton }: WriteCommand,
  body: JsonValue | undefined,
): readonly Entry[] | null {
  if (action === 'delete') return null;
  const writable = writableOf(context);
  const { collection } = writable;
  const { name } = collection.descriptor;
  const unnamed = (form: Entry['form'], payload: FilterObject): readonly Entry[] => [
    { form, key: null, payload, place: { collection: name, index: undefined } },
  ];
  const trees = (payloads: readonly FilterObject[], enter: () => readonly Entry[]) =>
    isTree(writable, payloads) ? enter() : null;
  if (action === 'create') {
    const { items, many } = parseCreate(body, context.maxItems);
    return trees(items, () => newEntries(writable, items, many));
  }
  if (singleton === true || item !== undefined) {
    const data = parseObject(body);
    const keys = item === undefined ? null : oneKey(parseKeySegment(collection, item));
    return trees([data], () =>
      keys === null ? unnamed('either', data) : changedEntries(writable, keys, [data], null),
    );
  }
  const parsed = parseUpdate(body, context.maxItems);
  if (parsed.kind === 'each') {
    const { keys, items, places } = keyedItems(writable, parsed.items);
    return trees(items, () => changedEntries(writable, keys, items, places));
  }
  const { named, data } = parsed;
  if (named.kind === 'query') return trees([data], () => unnamed('update', data));
  return trees([data], () => changedEntries(writable, namedKeys(writable, named.keys), [data], null));
}

/** The payloads of a write whose form was judged, each a copy for hooks to change. */
export function hookPayloadsOf(context: WriteContext, command: WriteCommand): readonly HookPayload[] {
  const writable = writableOf(context);
  const { collection } = writable;
  const { action, body } = command;
  const copyFor = (payload: JsonValue) => copyPayload(context.scope.open, collection, payload);
  if (action === 'delete') return [{ payload: undefined, keys: keysNamed(writable, command) }];
  if (isList(body)) {
    return body.map((payload) => ({
      payload: copyFor(payload),
      keys: action === 'create' ? null : ownKey(collection, payload),
    }));
  }
  const payload = isShared(command) ? memberOf(body, 'data') : body;
  return [{ payload: copyFor(payload ?? {}), keys: action === 'create' ? null : keysNamed(writable, command) }];
}

/** The body with payloads that hooks have changed. Throws `TypeError` for what is no JSON. */
export function bodyOf(command: WriteCommand, hookPayloads: readonly HookPayload[]): JsonValue | undefined {
  const { action, body } = command;
  if (action === 'delete') return body;
  const payloads = hookPayloads.map(({ payload }) => toJson(payload, command.request.collection));
  if (isList(body)) return payloads;
  const [payload = {}] = payloads;
  return isShared(command) && body !== undefined && isObject(body) ? { ...body, data: payload } : payload;
}

/** The payloads of a write with the keys of what was written. */
export function writtenPayloads(
  context: WriteContext,
  hookPayloads: readonly HookPayload[],
  keys: Keys | null,
): readonly HookPayload[] {
  const { descriptor } = writableOf(context).collection;
  const written = keys === null ? [] : sentKeys(descriptor, keys);
  const [only] = hookPayloads;
  if (hookPayloads.length === 1 && only !== undefined) return [{ ...only, keys: written }];
  return hookPayloads.map((hookPayload, index) => ({
    ...hookPayload,
    keys: hookPayload.keys ?? written.slice(index, index + 1),
  }));
}

/** True if the body is `{keys | query, data}`. */
function isShared({ action, item, singleton }: WriteCommand): boolean {
  return action === 'update' && item === undefined && singleton !== true;
}

function keysNamed(writable: WritableCollection, { item, singleton, body }: WriteCommand): readonly JsonValue[] | null {
  const { collection } = writable;
  if (singleton === true) return null;
  if (item !== undefined) return sentKeys(collection.descriptor, oneKey(parseKeySegment(collection, item)));
  const keys = isList(body) ? body : memberOf(body, 'keys');
  return isList(keys) ? sentKeys(collection.descriptor, namedKeys(writable, keys)) : null;
}

/** The key in a payload of a list of changes. */
function ownKey(collection: CollectionScope, payload: JsonValue): readonly JsonValue[] {
  const { descriptor } = collection;
  const parts = descriptor.key.map((name) => memberOf(payload, name) ?? null);
  return sentKeys(descriptor, oneKey(decodeKey(collection, parts)));
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return value !== undefined && isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
