/** Queries whose names are checked against the facts of a collection. */
import type { AggregateSort, HavingOf } from './aggregate.ts';
import type { DeepOf, Only } from './deep.ts';
import type { Facts } from './facts.ts';
import type { OrderOperators } from './filter-types.ts';
import type { Everything } from './result.ts';
import type { Valid, ValidSort } from './valid.ts';

/** Inferred type of `fields`: its texts, or everything where there are none. */
export type Fields = readonly (string | Everything)[];

/** Type of `alias`: new names of fields and relations. */
export type AliasOf<Of> = Of extends { readonly row: infer Row; readonly relations: infer Relations }
  ? { readonly [name: string]: (keyof Row | keyof Relations | ComputedOf<Of>) & string }
  : never;

/** Names of computed fields; none where a client states none. */
type ComputedOf<Of> = Of extends { readonly computed: infer Names } ? Names : never;

/** How an item is answered. */
export interface ItemQuery<Schema, Of, F extends Fields, A, D> {
  /** Paths such as `author.name`, `*`, `year(created_at)` and `item:headings.text`. Default: `*`. */
  readonly fields?: readonly [...{ [Index in keyof F]: Valid<Schema, Of, F[Index], Said<A>> }];
  /** New names of fields and relations, for `fields` and `deep`. */
  readonly alias?: A;
  /** Archived items: with the live ones, or in their place. */
  readonly archived?: ArchivedOf<Of>;
  /** Parameters of relations, such as `{ comments: { _limit: 3 } }`. */
  readonly deep?: D & Only<D, DeepOf<Schema, Of, Said<A>>>;
}

/** Kinds of archived items that a class may ask for; none where it may not see which are archived. */
type ArchivedOf<Of> = Of extends { readonly archived: infer Kinds } ? Kinds : never;

/** Which items there are, and how each is answered. */
export interface ListQuery<Schema, Of, F extends Fields, S extends readonly string[], A, D>
  extends ItemQuery<Schema, Of, F, A, D> {
  /** Such as `{ title: { _starts_with: 'A' } }`. */
  readonly filter?: FilterOf<Of>;
  /** Text that some text field contains, in any case. */
  readonly search?: string;
  /** Paths through relations to one item; a minus before one turns its order round. */
  readonly sort?: readonly [...{ [Index in keyof S]: ValidSort<Schema, Of, S[Index]> }];
  /** How many items; the server's default is 100, and -1 means all. */
  readonly limit?: number;
  readonly offset?: number;
  /** Counts from 1. */
  readonly page?: number;
  /** Where to go on: a cursor that an answer gave; empty at the beginning. */
  readonly cursor?: string;
  readonly meta?: readonly ('total_count' | 'filter_count' | '*')[];
}

/** The one item that is read must match the filter. */
export interface OneQuery<Schema, Of, F extends Fields, A, D> extends ItemQuery<Schema, Of, F, A, D> {
  readonly filter?: FilterOf<Of>;
}

/** Which items are aggregated, and by what. */
export interface AggregateQuery<Of extends Facts, Group extends string, Functions> {
  /** Such as `{ count: '*', sum: ['views'] }`. */
  readonly aggregate?: Functions;
  /** Fields, functions of fields, and numbers of related items. */
  readonly groupBy?: readonly Group[];
  /** Conditions on rows, such as `{ count: { _gt: 2 } }`. */
  readonly having?: HavingOf<Of>;
  readonly filter?: Of['filter'];
  readonly search?: string;
  /** Groups, and values of functions such as `count` and `sum.views`. */
  readonly sort?: readonly AggregateSort<Of>[];
  readonly limit?: number;
  readonly offset?: number;
  readonly page?: number;
}

/** The items that a write by query is about. */
export interface WriteQueryOf<Of extends Facts> {
  readonly filter?: Of['filter'];
  readonly search?: string;
  readonly sort?: readonly string[];
  readonly limit?: number;
  readonly offset?: number;
  readonly page?: number;
}

type FilterOf<Of> = Of extends { readonly filter: infer Filter } ? Filter : never;

/** The inferred type, or `unknown` if nothing was inferred. */
export type Said<T> = [T] extends [never] ? unknown : T;

/** Conditions on a number: the results of a field's functions. */
export type NumberFilter = OrderOperators<number> | number | null;

/** The filter of the items of one collection. */
export interface NamedFilter<Name extends string, Filter> {
  readonly name: Name;
  readonly filter: Filter;
}

/** Link rows of a many-to-any: their own conditions, and those on the items behind them. */
export type LinkFilter<Filter, Items extends NamedFilter<string, unknown>> = Filter & {
  readonly [Item in Items as `item:${Item['name']}`]?: Item['filter'];
};
