/** Queries whose names are checked against the facts of a collection. */
import type { AggregateSort, HavingOf } from './aggregate.ts';
import type { ArchivedOf, DeepOf, Only, Single } from './deep.ts';
import type { Facts, Links, One } from './facts.ts';
import type { OrderOperators } from './filter-types.ts';
import type { Everything } from './result.ts';

/** Inferred type of `fields`: its texts, or everything where there are none. */
export type Fields = readonly (string | Everything)[];

/** Type of `alias`: new names of fields and relations. */
export type AliasOf<Of> = Of extends { readonly row: infer Row; readonly relations: infer Relations }
  ? { readonly [name: string]: (keyof Row | keyof Relations | ComputedOf<Of>) & string }
  : never;

/** Names of computed fields; none where a client states none. */
type ComputedOf<Of> = Of extends { readonly computed: infer Names } ? Names : never;

/** Form of the answer of an item. */
export interface ItemQuery<Schema, Of, F extends Fields, A, D> {
  /** Paths such as `author.name`, `*`, `year(created_at)` and `item:headings.text`. Default: `*`. */
  readonly fields?: readonly [...{ [Index in keyof F]: Valid<Schema, Of, F[Index], Said<A>> }];
  /** New names of fields and relations, for `fields` and `deep`. */
  readonly alias?: A;
  /** Archived items: with the live ones, or in their place. */
  readonly archived?: ArchivedOf<Of>;
  /** Parameters of relations, such as `{ comments: { _limit: 3 } }`. */
  readonly deep?: D & Only<D, DeepOf<Schema, Of, Said<A>, never>>;
}

/** Form of the answer of a written item, and the unique key by which an item may be there already. */
export interface CreateQuery<Schema, Of, F extends Fields, A, D> extends ItemQuery<Schema, Of, F, A, D> {
  /** Fields of a unique key: an item that is there by it is changed, any other made. */
  readonly on_conflict?: Of extends { readonly conflicts: infer Keys } ? Keys : never;
}

/** Choice of items, and the form of each. */
export interface ListQuery<Schema, Of, F extends Fields, S extends readonly string[], A, D>
  extends ItemQuery<Schema, Of, F, A, D> {
  /** Such as `{ title: { _starts_with: 'A' } }`. */
  readonly filter?: FilterOf<Of>;
  /** Text that some text field contains, in any case. */
  readonly search?: string;
  /** Paths through relations to one item; a minus before one turns its order round. */
  readonly sort?: readonly [...{ [Index in keyof S]: ValidSort<Schema, Of, S[Index]> }];
  /** Number of items; the server's default is 100, and -1 means all. */
  readonly limit?: number;
  readonly offset?: number;
  /** Counts from 1. */
  readonly page?: number;
  /** Cursor to go on from, as an answer gave it; empty at the beginning. */
  readonly cursor?: string;
  readonly meta?: readonly ('total_count' | 'filter_count' | '*')[];
}

/** The one item that is read must match the filter. */
export interface OneQuery<Schema, Of, F extends Fields, A, D> extends ItemQuery<Schema, Of, F, A, D> {
  readonly filter?: FilterOf<Of>;
}

/** Choice of the items that are aggregated, and their groups. */
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
  /** Counts items, not groups. */
  readonly meta?: readonly ('total_count' | 'filter_count' | '*')[];
  /** Archived items: with the live ones, or in their place. */
  readonly archived?: ArchivedOf<Of>;
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

/**
 * A valid path of `fields` as it is, or the union of valid ones. Text that is not known yet is valid.
 *
 * Checks paths: an invalid one becomes the union of the valid ones. So the error is short and names them, and an editor
 * completes by the same types.
 */
export type Valid<Schema, Of, Path, Alias = unknown> = Path extends string
  ? string extends Path
    ? string
    : Known<Path, Checked<Schema, Of, Path, Alias>>
  : never;

type Known<Path, Possible> = Path extends Possible ? Path : Possible;

type Checked<Schema, Of, Path extends string, Alias> = Of extends {
  readonly row: infer Row;
  readonly relations: infer Relations;
  readonly functions: infer Functions;
}
  ? CheckedIn<Schema, keyof Row & string, Relations, keyof Functions & string, Path, Alias>
  : never;

type CheckedIn<
  Schema,
  Names extends string,
  Relations,
  Calls extends string,
  Path extends string,
  Alias,
> = Path extends `${infer Head}.${infer Rest}`
  ? Head extends '*'
    ? Rest extends Wild
      ? Path
      : '*.*'
    : Head extends keyof Relations
      ? CheckedBelow<Schema, Relations[Head], Head, Rest>
      : Head extends keyof Alias
        ? Alias[Head] extends keyof Relations
          ? CheckedBelow<Schema, Relations[Alias[Head]], Head, Rest>
          : OfferedNames<Names, Relations, Calls, Alias>
        : OfferedNames<Names, Relations, Calls, Alias>
  : OfferedNames<Names, Relations, Calls, Alias>;

type Wild = '*' | `*.${string}`;

/** Names that a level offers. */
type OfferedNames<Names extends string, Relations, Calls extends string, Alias> =
  | Names
  | Calls
  | '*'
  | '*.*'
  | `${keyof Relations & string}.`
  | (unknown extends Alias ? never : keyof Alias & string);

type CheckedBelow<Schema, Relation, Head extends string, Rest extends string> =
  Relation extends Links<infer Target, boolean, string, infer Item, infer Linked>
    ? Target extends keyof Schema
      ? `${Head}.${CheckedLink<Schema, Schema[Target], Item, Linked, Rest>}`
      : never
    : Relation extends { readonly target: infer Target extends keyof Schema }
      ? `${Head}.${Checked<Schema, Schema[Target], Rest, unknown>}`
      : never;

/** Link rows have their own fields, and items of other collections. */
type CheckedLink<
  Schema,
  Of,
  Item extends string,
  Linked extends string,
  Path extends string,
> = Path extends `item:${infer Name}.${infer Rest}`
  ? Name extends Linked & keyof Schema
    ? `item:${Name}.${Checked<Schema, Schema[Name], Rest, unknown>}`
    : `item:${Linked}.`
  : Path extends `item:${string}`
    ? `item:${Linked}.`
    : Path extends `${Item | 'item'}.${Wild}`
      ? Path
      : Checked<Schema, Of, Path, unknown> | (Path extends `${string}.${string}` ? never : `item:${Linked}.`);

/** A term of `sort` as it is, or what could stand in its place. */
export type ValidSort<Schema, Of, Term> = Term extends string
  ? string extends Term
    ? string
    : Known<Term, Term extends `-${infer Path}` ? `-${Sorted<Schema, Of, Path>}` : Sorted<Schema, Of, Term>>
  : never;

type Sorted<Schema, Of, Path extends string> = Of extends {
  readonly sort: infer Names extends string;
  readonly relations: infer Relations;
}
  ? Path extends `${infer Head}.${infer Rest}`
    ? Head extends keyof Relations
      ? Relations[Head] extends One<infer Target, boolean>
        ? Target extends keyof Schema
          ? `${Head}.${Sorted<Schema, Schema[Target], Rest>}`
          : never
        : Names
      : Names
    : Names | Single<Relations>
  : never;
