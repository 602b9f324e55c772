/** Methods on the items of a collection. Source: API specification, sections 4 and 15. */
import {
  type Call,
  type DeleteOptions,
  hasAddress,
  type JsonObject,
  type JsonValue,
  type Key,
  keyText,
  longestUrl,
  type Query,
  type RequestOptions,
  serialiseQuery,
} from './call.ts';
import { PlatformError } from './errors.ts';
import type { Page, Requester } from './requester.ts';

/** Payload of an item: its fields, and for relations also objects and lists as the nested forms have them. */
export type Payload<Item> = {
  readonly [Field in keyof Item]?: Item[Field] | JsonObject | readonly JsonValue[] | undefined;
};

/** The query of a write by query. */
export type WriteQuery = Pick<Query, 'filter' | 'search' | 'sort' | 'limit' | 'offset' | 'page'>;

/** The methods of a collection. Those that resolve to null wrote something that may not be read. */
export interface ItemHandler<Item> {
  /**
   * Creates an item.
   * @example const article = await client.items('articles').createOne({ title: 'Hello', tags: [1, 2] });
   */
  createOne(data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Item | null>;
  /**
   * Creates several items.
   * @example await client.items('tags').createMany([{ name: 'red' }, { name: 'blue' }]);
   */
  createMany(data: readonly Payload<Item>[], query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /**
   * Reads the items that a query finds.
   * @example const { data } = await client.items('articles').readByQuery({ filter: { status: { _eq: 'published' } } });
   */
  readByQuery(query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /**
   * Every item, or as many as the server lets a request read (`QUERY_LIMIT_MAX`).
   * @example const { data } = await client.items('articles').readAll({ fields: ['id', 'title'] });
   */
  readAll(query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /**
   * Values of many items, such as `{ aggregate: { count: '*' }, groupBy: ['author'] }`.
   * @example const { data } = await client.items('articles').aggregate({ aggregate: { count: '*' }, groupBy: ['author'] });
   */
  aggregate(query: Query, options?: RequestOptions): Promise<Page<JsonObject>>;
  /**
   * Reads one item.
   * @example const article = await client.items('articles').readOne(1, { fields: ['title', 'author.name'] });
   */
  readOne(key: Key, query?: Query, options?: RequestOptions): Promise<Item>;
  /**
   * All items with one of the keys, in the same bounds.
   * @example const { data } = await client.items('articles').readMany([1, 2, 3]);
   */
  readMany(keys: readonly Key[], query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /**
   * Changes one item.
   * @example await client.items('articles').updateOne(1, { title: 'Hello again' });
   */
  updateOne(key: Key, data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Item | null>;
  /**
   * Writes the same to every item with one of the keys.
   * @example await client.items('articles').updateMany([1, 2], { status: 'archived' });
   */
  updateMany(keys: readonly Key[], data: Payload<Item>, query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /**
   * Writes to each item, which names its key, what stands beside.
   * @example await client.items('articles').updateBatch([{ id: 1, position: 2 }, { id: 2, position: 1 }]);
   */
  updateBatch(items: readonly Payload<Item>[], query?: Query, options?: RequestOptions): Promise<Page<Item>>;
  /**
   * Writes the same to every item that the query finds.
   * @example
   * await client.items('articles').updateByQuery({
   *   query: { filter: { status: { _eq: 'draft' } } },
   *   data: { status: 'published' },
   * });
   */
  updateByQuery(
    update: { readonly query: WriteQuery; readonly data: Payload<Item> },
    query?: Query,
    options?: RequestOptions,
  ): Promise<Page<Item>>;
  /**
   * Deletes one item.
   * @example await client.items('articles').deleteOne(1);
   */
  deleteOne(key: Key, options?: DeleteOptions): Promise<void>;
  /**
   * Deletes the items with these keys.
   * @example await client.items('articles').deleteMany([1, 2]);
   */
  deleteMany(keys: readonly Key[], options?: DeleteOptions): Promise<void>;
  /**
   * Deletes every item that the query finds.
   * @example await client.items('articles').deleteByQuery({ filter: { status: { _eq: 'archived' } } });
   */
  deleteByQuery(query: WriteQuery, options?: DeleteOptions): Promise<void>;
}

/** Makes the handler of the collection at a path. */
export function createItemHandler<Item>(requester: Requester, path: readonly Key[]): ItemHandler<Item> {
  const { data, written, page, nothing } = requester;
  const read: ItemHandler<Item>['readByQuery'] = (query, options) =>
    page({ method: 'GET', path, query, options, isList: true });
  const readMany: ItemHandler<Item>['readMany'] = (keys, query, options) =>
    page({ method: 'SEARCH', path, body: { keys: bodyKeys(keys), query: { ...query, limit: -1 } }, options });
  const updateMany: ItemHandler<Item>['updateMany'] = (keys, values, query, options) =>
    page({ method: 'PATCH', path, query, body: { keys: bodyKeys(keys), data: values }, options });
  const deleteMany: ItemHandler<Item>['deleteMany'] = (keys, options) =>
    nothing({ method: 'DELETE', path, body: bodyKeys(keys), options, ...purged(options) });
  return {
    createOne: (body, query, options) => written({ method: 'POST', path, query, body, options }),
    createMany: (body, query, options) => page({ method: 'POST', path, query, body, options }),
    readByQuery: read,
    readAll: (query, options) => read({ ...query, limit: -1 }, options),
    aggregate: (query, options) => page({ method: 'GET', path, query, options, isList: true }),
    readOne: async (key, query, options) => {
      const isShort = serialiseQuery(query).length <= longestUrl;
      if (hasAddress(key) && isShort) return data<Item>({ method: 'GET', path: [...path, key], query, options });
      const [item] = (await readMany([key], query, options)).data;
      if (item === undefined) throw notFound();
      return item;
    },
    readMany,
    updateOne: async (key, body, query, options) => {
      if (hasAddress(key)) return written<Item>({ method: 'PATCH', path: [...path, key], query, body, options });
      return (await updateMany([key], body, query, options)).data[0] ?? null;
    },
    updateMany,
    updateBatch: (body, query, options) => page({ method: 'PATCH', path, query, body, options }),
    updateByQuery: async (body, query, options) => {
      refuseLost(body.query);
      return page({ method: 'PATCH', path, query, body, options });
    },
    deleteOne: (key, options) =>
      hasAddress(key)
        ? nothing({ method: 'DELETE', path: [...path, key], options, ...purged(options) })
        : deleteMany([key], options),
    deleteMany,
    deleteByQuery: async (query, options) => {
      refuseLost(query);
      // Some of those that are found: the next time these are others.
      const { limit = -1, offset, page } = query;
      const isOnce = limit !== -1 || [offset, page].some((number) => number !== undefined);
      return nothing({ method: 'DELETE', path, body: { query }, options, ...purged(options), isOnce });
    },
  };
}

/** Throws a TypeError for values that JSON leaves out or makes null, so that a write would find items that are not meant. */
function refuseLost(query: WriteQuery): void {
  JSON.stringify(query, function keep(this: Readonly<Record<string, unknown>>, name, value: unknown) {
    const { [name]: meant } = this;
    // A date that is none becomes null before it comes here.
    const isNull = value === null && meant !== null;
    const isLost = isNull || value === undefined || (typeof value === 'number' && !Number.isFinite(value));
    if (isLost) throw new TypeError(`The query is not sent: its "${name}" is ${isNull ? meant : value}.`);
    return value;
  });
}

/** The server's answer for a key of no item. */
function notFound(): PlatformError {
  const message = 'Not found, or you do not have permission.';
  return new PlatformError([{ message, extensions: { code: 'FORBIDDEN' } }], new Response(null, { status: 403 }));
}

function bodyKeys(keys: readonly Key[]): readonly (string | number)[] {
  return keys.map((key) => (typeof key === 'object' ? keyText(key) : key));
}

/** The methods of a collection of one item. */
export interface SingletonHandler<Item> {
  /**
   * Reads the item.
   * @example const about = await client.singleton('about').read({ fields: ['text'] });
   */
  read(query?: Query, options?: RequestOptions): Promise<Item>;
  /**
   * Changes the item.
   * @example await client.singleton('about').update({ text: 'Hello' });
   */
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

function purged(options: DeleteOptions | undefined): Pick<Call, 'search'> {
  return options?.purge === true ? { search: new URLSearchParams({ purge: 'true' }) } : {};
}
