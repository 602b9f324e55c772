/** The methods of collections, with the results that their queries give. Source: API specification, sections 4 and 15. */
import type { DeleteOptions, RequestOptions } from '../call.ts';
import type { Page } from '../requester.ts';
import type { AggregateOf, AggregateRow, GroupsOf } from './aggregate.ts';
import type { DeepOf } from './deep.ts';
import type { Facts, methods } from './facts.ts';
import type {
  AggregateQuery,
  AliasOf,
  CreateQuery,
  Fields,
  ItemQuery,
  ListQuery,
  OneQuery,
  Said,
  WriteQueryOf,
} from './queries.ts';
import type { Result } from './result.ts';

/** The methods of a collection that its caller may use: the others do not exist. */
export type Handler<Schema, Of extends Facts> = Pick<Methods<Schema, Of>, (typeof methods)[Of['rights']][number]>;

/** All methods of a collection. Those that resolve to null wrote something that may not be read. */
export interface Methods<Schema, Of extends Facts> {
  /**
   * The items that match: 100, unless `limit` says how many.
   * @example const { data } = await client.items('articles').readByQuery({ filter: { status: { _eq: 'published' } } });
   */
  readByQuery<
    const F extends Fields,
    const S extends readonly string[],
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    query?: ListQuery<Schema, Of, F, S, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * All items that match: no limit.
   * @example const { data } = await client.items('articles').readAll({ fields: ['id', 'title'] });
   */
  readAll<
    const F extends Fields,
    const S extends readonly string[],
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    query?: Omit<ListQuery<Schema, Of, F, S, A, D>, 'limit'>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Counts, sums and other values of the items that match.
   * @example const { data } = await client.items('articles').aggregate({ aggregate: { count: '*' }, groupBy: ['author'] });
   */
  aggregate<const G extends GroupsOf<Of> & string = never, const X extends AggregateOf<Of> = never>(
    query: AggregateQuery<Of, G, X>,
    options?: RequestOptions,
  ): Promise<Page<AggregateRow<Of, G, Said<X>>>>;
  /**
   * The item that has the key.
   * @example const article = await client.items('articles').readOne(1, { fields: ['title', 'author.name'] });
   */
  readOne<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    key: Of['key'],
    query?: OneQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>>>;
  /**
   * All items with one of the keys.
   * @example const { data } = await client.items('articles').readMany([1, 2, 3]);
   */
  readMany<
    const F extends Fields,
    const S extends readonly string[],
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    keys: readonly Of['key'][],
    query?: Omit<ListQuery<Schema, Of, F, S, A, D>, 'limit' | 'cursor'>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Makes an item, and the related ones that stand in it.
   * @example const article = await client.items('articles').createOne({ title: 'Hello', tags: [1, 2] });
   */
  createOne<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    data: Of['create'],
    query?: CreateQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>> | Of['unread']>;
  /**
   * Makes all of them, or none. With `on_conflict` those that are there by a unique key are changed.
   * @example await client.items('tags').createMany([{ name: 'red' }, { name: 'blue' }]);
   */
  createMany<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    data: readonly Of['create'][],
    query?: CreateQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Changes the fields that `data` has.
   * @example await client.items('articles').updateOne(1, { title: 'Hello again' });
   */
  updateOne<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    key: Of['key'],
    data: Of['update'],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>> | Of['unread']>;
  /**
   * Writes the same to every item with one of the keys.
   * @example await client.items('articles').updateMany([1, 2], { status: 'archived' });
   */
  updateMany<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    keys: readonly Of['key'][],
    data: Of['update'],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Writes to each item, which names its key, what stands beside.
   * @example await client.items('articles').updateBatch([{ id: 1, position: 2 }, { id: 2, position: 1 }]);
   */
  updateBatch<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    items: readonly Of['change'][],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Writes the same to every item that the query finds.
   * @example
   * await client.items('articles').updateByQuery({
   *   query: { filter: { status: { _eq: 'draft' } } },
   *   data: { status: 'published' },
   * });
   */
  updateByQuery<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    update: { readonly query: WriteQueryOf<Of>; readonly data: Of['update'] },
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /**
   * Deletes one item.
   * @example await client.items('articles').deleteOne(1);
   */
  deleteOne(key: Of['key'], options?: DeleteOptions): Promise<void>;
  /**
   * Deletes the items with these keys.
   * @example await client.items('articles').deleteMany([1, 2]);
   */
  deleteMany(keys: readonly Of['key'][], options?: DeleteOptions): Promise<void>;
  /**
   * Deletes every item that the query finds.
   * @example await client.items('articles').deleteByQuery({ filter: { status: { _eq: 'archived' } } });
   */
  deleteByQuery(query: WriteQueryOf<Of>, options?: DeleteOptions): Promise<void>;
  /**
   * The item of a collection that has one.
   * @example const about = await client.singleton('about').read({ fields: ['text'] });
   */
  read<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    query?: OneQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>>>;
  /**
   * Changes it; makes it when there is none yet.
   * @example await client.singleton('about').update({ text: 'Hello' });
   */
  update<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    data: Of['update'],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>> | Of['unread']>;
}
