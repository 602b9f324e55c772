/** Queries of related rows. Source: API specification, section 5.4. */
import type { AggregateOf, GroupsOf, HavingOf } from './aggregate.ts';
import type { Facts, Links, One } from './facts.ts';

/** The parameters of one relation. */
export interface RowQuery<Filter = unknown, Aggregate = unknown, Group = unknown, Having = unknown> {
  readonly _filter?: Filter;
  readonly _search?: string;
  readonly _sort?: readonly string[];
  /** Number of rows of each item; -1 means all. */
  readonly _limit?: number;
  /** Archived rows: with the live ones, or in their place. */
  readonly _archived?: 'include' | 'only';
  readonly _offset?: number;
  readonly _page?: number;
  /** Aggregate rows of each item stand in the place of its rows. */
  readonly _aggregate?: Aggregate;
  readonly _group?: readonly Group[];
  readonly _having?: Having;
}

/** `deep` of a collection: relations by name, and by alias. */
export type DeepOf<Schema, Of, Alias = unknown> = Of extends { readonly relations: infer Relations }
  ? { readonly [Name in keyof Relations]?: DeepInto<Schema, Relations[Name]> } & (unknown extends Alias
      ? unknown
      : {
          readonly [Name in keyof Alias]?: Alias[Name] extends keyof Relations
            ? DeepInto<Schema, Relations[Alias[Name]]>
            : never;
        })
  : never;

type DeepInto<Schema, Relation> =
  Relation extends Links<infer Target, boolean, string, string, infer Linked>
    ? Target extends keyof Schema
      ? RowQueryOf<Schema[Target], LinkFilter<Schema, Linked>> &
          DeepOf<Schema, Schema[Target]> & { readonly [Name in Linked as `item:${Name}`]?: DeepItem<Schema, Name> }
      : never
    : Relation extends One<infer Target, boolean>
      ? DeepItem<Schema, Target>
      : Relation extends { readonly target: infer Target extends keyof Schema }
        ? RowQueryOf<Schema[Target], unknown> & DeepOf<Schema, Schema[Target]>
        : never;

type RowQueryOf<Of, More> = Of extends Facts
  ? RowQuery<Of['filter'] & More, AggregateOf<Of>, GroupsOf<Of>, HavingOf<Of>>
  : never;

/** A to-one relation takes only a filter. */
type DeepItem<Schema, Target> = Target extends keyof Schema
  ? Schema[Target] extends Pick<Facts, 'filter'>
    ? Pick<RowQuery<Schema[Target]['filter']>, '_filter' | '_search'> & DeepOf<Schema, Schema[Target]>
    : never
  : never;

type LinkFilter<Schema, Linked extends string> = {
  readonly [Name in Linked as `item:${Name}`]?: Name extends keyof Schema
    ? Schema[Name] extends Pick<Facts, 'filter'>
      ? Schema[Name]['filter']
      : never
    : never;
};

/** Refuses the names that a type does not have, at every level of relations. */
export type Only<Given, Possible> = {
  readonly [Name in keyof Given]: Name extends keyof Possible
    ? Name extends keyof RowQuery
      ? Given[Name]
      : Only<Given[Name], NonNullable<Possible[Name]>>
    : never;
};
