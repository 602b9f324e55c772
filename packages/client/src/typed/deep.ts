/** Queries of related rows. Source: API specification, section 5.4. */
import type { AggregateOf, AggregateSort, GroupsOf, HavingOf } from './aggregate.ts';
import type { Facts, Links, One } from './facts.ts';

/** The parameters of one relation. */
export interface RowQuery<
  Filter = unknown,
  Aggregate = unknown,
  Group = unknown,
  Having = unknown,
  Sort = string,
  Archived = 'include' | 'only',
> {
  readonly _filter?: Filter;
  readonly _search?: string;
  readonly _sort?: readonly Sort[];
  /** Number of rows of each item; -1 means all. */
  readonly _limit?: number;
  /** Archived rows: with the live ones, or in their place. */
  readonly _archived?: Archived;
  readonly _offset?: number;
  readonly _page?: number;
  /** Aggregate rows of each item stand in the place of its rows. */
  readonly _aggregate?: Aggregate;
  readonly _group?: readonly Group[];
  readonly _having?: Having;
}

/** `deep` of a collection: relations by name, and by alias. `Term` is what `_sort` takes beside known terms. */
export type DeepOf<Schema, Of, Alias = unknown, Term = string> = Of extends { readonly relations: infer Relations }
  ? { readonly [Name in keyof Relations]?: DeepInto<Schema, Relations[Name], Term> } & (unknown extends Alias
      ? unknown
      : {
          readonly [Name in keyof Alias]?: Alias[Name] extends keyof Relations
            ? DeepInto<Schema, Relations[Alias[Name]], Term>
            : never;
        })
  : never;

type DeepInto<Schema, Relation, Term> =
  Relation extends Links<infer Target, boolean, string, string, infer Linked>
    ? Target extends keyof Schema
      ? RowQueryOf<Schema[Target], LinkFilter<Schema, Linked>, Term> &
          DeepOf<Schema, Schema[Target], unknown, Term> & {
            readonly [Name in Linked as `item:${Name}`]?: DeepItem<Schema, Name, Term>;
          }
      : never
    : Relation extends One<infer Target, boolean>
      ? DeepItem<Schema, Target, Term>
      : Relation extends { readonly target: infer Target extends keyof Schema }
        ? RowQueryOf<Schema[Target], unknown, Term> & DeepOf<Schema, Schema[Target], unknown, Term>
        : never;

type RowQueryOf<Of, More, Term> = Of extends Facts
  ? RowQuery<
      Of['filter'] & More,
      AggregateOf<Of>,
      GroupsOf<Of>,
      HavingOf<Of>,
      SortOf<Of> | AggregateSort<Of> | Term,
      ArchivedOf<Of>
    >
  : never;

/** A to-one relation takes only a filter. */
type DeepItem<Schema, Target, Term> = Target extends keyof Schema
  ? Schema[Target] extends Pick<Facts, 'filter'>
    ? Pick<RowQuery<Schema[Target]['filter']>, '_filter' | '_search'> & DeepOf<Schema, Schema[Target], unknown, Term>
    : never
  : never;

type LinkFilter<Schema, Linked extends string> = {
  readonly [Name in Linked as `item:${Name}`]?: Name extends keyof Schema
    ? Schema[Name] extends Pick<Facts, 'filter'>
      ? Schema[Name]['filter']
      : never
    : never;
};

/** Refuses the names that a type does not have, at every level of relations, and unknown terms of `_sort`. */
export type Only<Given, Possible> = {
  readonly [Name in keyof Given]: Name extends keyof Possible
    ? Name extends '_sort'
      ? Terms<Given[Name], NonNullable<Possible[Name]>>
      : Name extends keyof RowQuery
        ? Given[Name]
        : Only<Given[Name], NonNullable<Possible[Name]>>
    : never;
};

type Terms<Given, Possible> = { readonly [Index in keyof Given]: Term<Given[Index], Possible> };

/** A term as it is, or what could stand in its place; text that is not known yet is valid. */
type Term<Given, Possible> = string extends Given
  ? Given
  : Possible extends readonly (infer Each)[]
    ? Given extends Each
      ? Given
      : Each
    : never;

/** Kinds of archived items that a class may ask for; none where it may not see which are archived. */
export type ArchivedOf<Of> = Of extends { readonly archived: infer Kinds } ? Kinds : never;

/** Terms of `_sort`; paths are checked no further than their first relation. */
type SortOf<Of> = Of extends { readonly sort: infer Names extends string; readonly relations: infer Relations }
  ? `${'' | '-'}${Names | `${Single<Relations>}${string}`}`
  : never;

/** The relations to one item, each with its dot. */
export type Single<Relations> = {
  [Name in keyof Relations]: Relations[Name] extends One<string, boolean> ? `${Name & string}.` : never;
}[keyof Relations];
