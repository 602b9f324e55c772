/** Methods on the items of a collection. Source: API specification, sections 4 and 15. */
import { type Key, keyText, type RequestOptions } from './call.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { Query } from './query.ts';
import type { Page, Requester } from './requester.ts';

/** Payload of an item: its fields, and for relations also objects and lists as the nested forms have them. */
export type Payload<Item> = {
  readonly [Field in keyof Item]?: Item[Field] | JsonObject | readonly JsonValue[] | undefined;
};

/** The query of a write by query. */
export type WriteQuery = Pick<Query, 'filter' | 'search' | 'sort' | 'limit' | 'offset' | 'page'>;

/** The methods of a collection. Those that resolve to null wrote something that may not be read. */
export interface ItemHandler<Item> {
  createOne(data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Item | null>;
  createMany(data: readonly Payload<Item>[], query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  readByQuery(query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /** Every item: no limit. */
  readAll(query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /** Values of many items, such as `{ aggregate: { count: '*' }, groupBy: ['author'] }`. */
  aggregate(query: Query, options?: RequestOptions): Promise<Page<JsonObject>>;
  readOne(key: Key, query?: Query, options?: RequestOptions): Promise<Item>;
  /** All items with one of the keys. */
  readMany(keys: readonly Key[], query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  updateOne(key: Key, data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Item | null>;
  /** Writes the same to every item with one of the keys. */
  updateMany(keys: readonly Key[], data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /** Writes to each item, which names its key, what stands beside. */
  updateBatch(items: readonly Payload<Item>[], query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /** Writes the same to every item that the query finds. */
  updateByQuery(
    update: { readonly query: WriteQuery; readonly data: Payload<Item> },
    query?: Query,
    options?: RequestOptions,
  ): Promise<Page<Item>>;
  deleteOne(key: Key, options?: RequestOptions): Promise<void>;
  deleteMany(keys: readonly Key[], options?: RequestOptions): Promise<void>;
  /** Deletes every item that the query finds. */
  deleteByQuery(query: WriteQuery, options?: RequestOptions): Promise<void>;
}

/** Makes the handler of the collection at a path. */
export function createItemHandler<Item>(requester: Requester, path: readonly Key[]): ItemHandler<Item> {
  const { data, written, page, nothing } = requester;
  const read: ItemHandler<Item>['readByQuery'] = (query, options) =>
    page({ method: 'GET', path, query, options, isList: true });
  return {
    createOne: (body, query, options) => written({ method: 'POST', path, query, body, options }),
    createMany: (body, query, options) => page({ method: 'POST', path, query, body, options }),
    readByQuery: read,
    readAll: (query, options) => read({ ...query, limit: -1 }, options),
    aggregate: (query, options) => page({ method: 'GET', path, query, options, isList: true }),
    readOne: (key, query, options) => data({ method: 'GET', path: [...path, key], query, options }),
    readMany: (keys, query, options) =>
      page({ method: 'SEARCH', path, body: { keys: bodyKeys(keys), query: { ...query, limit: -1 } }, options }),
    updateOne: (key, body, query, options) => written({ method: 'PATCH', path: [...path, key], query, body, options }),
    updateMany: (keys, values, query, options) =>
      page({ method: 'PATCH', path, query, body: { keys: bodyKeys(keys), data: values }, options }),
    updateBatch: (body, query, options) => page({ method: 'PATCH', path, query, body, options }),
    updateByQuery: (body, query, options) => page({ method: 'PATCH', path, query, body, options }),
    deleteOne: (key, options) => nothing({ method: 'DELETE', path: [...path, key], options }),
    deleteMany: (keys, options) => nothing({ method: 'DELETE', path, body: bodyKeys(keys), options }),
    deleteByQuery: (query, options) => nothing({ method: 'DELETE', path, body: { query }, options }),
  };
}

function bodyKeys(keys: readonly Key[]): readonly (string | number)[] {
  return keys.map((key) => (typeof key === 'object' ? keyText(key) : key));
}

/** The methods of a collection of one item. */
export interface SingletonHandler<Item> {
  read(query?: Query, options?: RequestOptions): Promise<Item>;
  update(data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Item | null>;
}

/** Makes the handler of the singleton at a path. */
export function createSingletonHandler<Item>(requester: Requester, path: readonly Key[]): SingletonHandler<Item> {
  return {
    read: (query, options) => requester.data({ method: 'GET', path, query, options }),
    update: (body, query, options) => requester.written({ method: 'PATCH', path, query, body, options }),
  };
}

/** The settings: a singleton that has the methods of a collection too, where keys are ignored. */
export function createSettingsHandler<Item>(requester: Requester): SingletonHandler<Item> & ItemHandler<Item> {
  const path = ['settings'];
  const handler = createSingletonHandler<Item>(requester, path);
  return {
    ...createItemHandler<Item>(requester, path),
    ...handler,
    readOne: (_key, query, options) => handler.read(query, options),
    updateOne: (_key, data, query, options) => handler.update(data, query, options),
  };
}
