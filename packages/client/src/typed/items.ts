/** The methods of collections, with the results that their queries give. Source: API specification, sections 4 and 15. */
import type { RequestOptions } from '../call.ts';
import type { Page } from '../requester.ts';
import type { AggregateOf, AggregateRow, GroupsOf } from './aggregate.ts';
import type { DeepOf } from './deep.ts';
import type { Facts, methods } from './facts.ts';
import type { AggregateQuery, AliasOf, Fields, ItemQuery, ListQuery, OneQuery, Said, WriteQueryOf } from './queries.ts';
import type { Result } from './result.ts';

/** The methods of a collection that its caller may use: the others do not exist. */
export type Handler<Schema, Of extends Facts> = Pick<Methods<Schema, Of>, (typeof methods)[Of['rights']][number]>;

/** All methods of a collection. Those that resolve to null wrote something that may not be read. */
export interface Methods<Schema, Of extends Facts> {
  /** The items that match: 100, unless `limit` says how many. */
  readByQuery<
    const F extends Fields,
    const S extends readonly string[],
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    query?: ListQuery<Schema, Of, F, S, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /** All items that match: no limit. */
  readAll<
    const F extends Fields,
    const S extends readonly string[],
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    query?: Omit<ListQuery<Schema, Of, F, S, A, D>, 'limit'>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /** Counts, sums and other values of the items that match. */
  aggregate<const G extends GroupsOf<Of> & string = never, const X extends AggregateOf<Of> = never>(
    query: AggregateQuery<Of, G, X>,
    options?: RequestOptions,
  ): Promise<Page<AggregateRow<Of, G, Said<X>>>>;
  /** The item that has the key. */
  readOne<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    key: Of['key'],
    query?: OneQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>>>;
  /** All items with one of the keys. */
  readMany<
    const F extends Fields,
    const S extends readonly string[],
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    keys: readonly Of['key'][],
    query?: ListQuery<Schema, Of, F, S, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /** Makes an item, and the related ones that stand in it. */
  createOne<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    data: Of['create'],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>> | Of['unread']>;
  /** Makes all of them, or none. */
  createMany<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    data: readonly Of['create'][],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /** Changes the fields that `data` has. */
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
  /** Writes the same to every item with one of the keys. */
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
  /** Writes to each item, which names its key, what stands beside. */
  updateBatch<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    items: readonly Of['change'][],
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  /** Writes the same to every item that the query finds. */
  updateByQuery<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    update: { readonly query: WriteQueryOf<Of>; readonly data: Of['update'] },
    query?: ItemQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Page<Result<Schema, Of, F[number], Said<A>, Said<D>>>>;
  deleteOne(key: Of['key'], options?: RequestOptions): Promise<void>;
  deleteMany(keys: readonly Of['key'][], options?: RequestOptions): Promise<void>;
  /** Deletes every item that the query finds. */
  deleteByQuery(query: WriteQueryOf<Of>, options?: RequestOptions): Promise<void>;
  /** The item of a collection that has one. */
  read<
    const F extends Fields,
    const A extends AliasOf<Of> = never,
    const D extends DeepOf<Schema, Of, Said<A>> = never,
  >(
    query?: OneQuery<Schema, Of, F, A, D>,
    options?: RequestOptions,
  ): Promise<Result<Schema, Of, F[number], Said<A>, Said<D>>>;
  /** Changes it; makes it when there is none yet. */
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
