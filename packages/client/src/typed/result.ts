/** The items that a query answers, computed from the paths in its `fields`. Source: API specification, sections 5.1 and 5.4. */
import type { JsonObject } from '../call.ts';
import type { AggregateRow } from './aggregate.ts';
import type { RowQuery } from './deep.ts';
import type { Call, Links, Many, One } from './facts.ts';

/** Marks a query without `fields`, to distinguish it from one whose fields are not known yet. */
export interface Everything {
  readonly everything: never;
}

/**
 * An item of a collection. `Schema` has the facts of all collections, and `Of` those of this one. `Path` are the paths
 * of `fields`, `Alias` is `alias` and `Deep` is `deep` below here.
 */
export type Result<Schema, Of, Path, Alias = unknown, Deep = unknown> = Of extends {
  readonly row: infer Row;
  readonly relations: infer Relations;
  readonly functions: infer Functions;
}
  ? Everything extends Path
    ? unknown extends Alias & Deep
      ? Row
      : Cells<
          Schema,
          Row & Renamed<Row, Alias>,
          Relations & Renamed<Relations, Alias>,
          Functions & Recalled<Functions, Alias>,
          '*',
          Deep
        >
    : string extends Path
      ? JsonObject
      : unknown extends Alias & Deep
        ? [Path] extends ['*']
          ? Row
          : Cells<Schema, Row, Relations, Functions, Path, unknown>
        : Cells<
            Schema,
            Row & Renamed<Row, Alias>,
            Relations & Renamed<Relations, Alias>,
            Functions & Recalled<Functions, Alias>,
            Path,
            Deep
          >
  : never;

/** The rest after the dot of the paths that begin with a name. */
type Tail<Path, Head extends string> = Path extends `${Head}.${infer Rest}` ? Rest : never;

/** `Pick` keeps the comments of the members and the way to their definitions. */
type Cells<Schema, Row, Relations, Functions, Path, Deep> = unknown extends Deep
  ? Show<
      Pick<Row, Exclude<Plain<Row, Path>, Nested<Relations, Path>>> &
        Leading<Schema, Relations, Nested<Relations, Path>, Path> &
        CalledIn<Functions, Extract<keyof Functions, Path>>
    >
  : Show<
      Pick<Row, Exclude<Plain<Row, Path>, Nested<Relations, Path> | Aggregated<Deep>>> &
        Related<
          Schema,
          Relations,
          Nested<Relations, Path> | (Aggregated<Deep> & Selected<Relations, Path>),
          Path,
          Deep
        > &
        CalledIn<Functions, Extract<keyof Functions, Path>>
    >;

type Show<T> = { [Name in keyof T]: T[Name] } & {};

/** The names of a level itself. */
type Plain<Row, Path> = IsWild<Path> extends true ? keyof Row : Extract<keyof Row, Path>;

/** `*`, and `*.*`, which is `*` and what lies below. */
type IsWild<Path> = Extract<Path, '*' | `*.${string}`> extends never ? false : true;

/** The relations that something is selected of. */
type Nested<Relations, Path> = [Tail<Path, '*'>] extends [never]
  ? Extract<keyof Relations, Head<Path>>
  : keyof Relations;

type Head<Path> = Path extends `${infer First}.${string}` ? First : never;

/** The relations that are selected in any way. */
type Selected<Relations, Path> =
  IsWild<Path> extends true ? keyof Relations : Extract<keyof Relations, Path | Head<Path>>;

/** The relations whose rows are aggregated. */
type Aggregated<Deep> = unknown extends Deep
  ? never
  : { [Name in keyof Deep]: Deep[Name] extends Aggregating ? Name : never }[keyof Deep];

type Aggregating = { readonly _aggregate: object } | { readonly _group: readonly string[] };

type Related<Schema, Relations, Names extends keyof Relations, Path, Deep> = {
  [Name in Names]: RelatedTo<
    Schema,
    Relations[Name],
    Tail<Path, Name & string> | Tail<Path, '*'>,
    Name extends keyof Deep ? Deep[Name] : unknown
  >;
};

type CalledIn<Functions, Names extends keyof Functions> = [Names] extends [never]
  ? unknown
  : Called<Pick<Functions, Names>>;
type Called<Functions> = { [Name in keyof Functions as NameOf<Functions[Name]>]: ValueOf<Functions[Name]> };
type NameOf<Of> = Of extends Call<infer Name, unknown> ? Name : never;
type ValueOf<Of> = Of extends Call<string, infer Value> ? Value : never;

type Renamed<Of, Alias> = unknown extends Alias
  ? unknown
  : { -readonly [Name in keyof Alias as Alias[Name] extends keyof Of ? Name : never]: Of[Alias[Name] & keyof Of] };

/** Computed fields under their new names. */
type Recalled<Functions, Alias> = unknown extends Alias
  ? unknown
  : {
      [Name in keyof Alias as Alias[Name] extends keyof Functions ? Name : never]: Call<
        Name & string,
        ValueOf<Functions[Alias[Name] & keyof Functions]>
      >;
    };

/** The same without `deep`: most queries have none. */
type Leading<Schema, Relations, Names extends keyof Relations, Path> = {
  [Name in Names]: LeadingTo<Schema, Relations[Name], Tail<Path, (Name & string) | '*'>>;
};

type LeadingTo<Schema, Relation, Path> =
  Relation extends One<infer Target, infer Nullable>
    ? Result<Schema, FactsOf<Schema, Target>, Path> | (Nullable extends true ? null : never)
    : Relation extends Many<infer Target, infer Nullable>
      ? Result<Schema, FactsOf<Schema, Target>, Path>[] | (Nullable extends true ? null : never)
      : RelatedTo<Schema, Relation, Path, unknown>;

type RelatedTo<Schema, Relation, Path, Deep> =
  Relation extends One<infer Target, infer Nullable>
    ?
        | Result<Schema, FactsOf<Schema, Target>, Path, unknown, Below<Deep>>
        | (true extends Nullable | Narrowed<Deep> ? null : never)
    : Relation extends Many<infer Target, infer Nullable>
      ? Items<
          Result<Schema, FactsOf<Schema, Target>, Path, unknown, Below<Deep>>,
          FactsOf<Schema, Target>,
          Nullable,
          Deep
        >
      : Relation extends Links<infer Target, infer Nullable, infer Type, infer Item, infer Linked>
        ? Items<
            LinkRow<Schema, FactsOf<Schema, Target>, Type, Item, Linked, Path, Below<Deep>>,
            FactsOf<Schema, Target>,
            Nullable,
            Deep
          >
        : never;

type FactsOf<Schema, Name> = Name extends keyof Schema ? Schema[Name] : never;

/** Queries in `deep` of relations further down. */
type Below<Deep> = unknown extends Deep ? unknown : Omit<Deep, keyof RowQuery>;

/** A relation to one item is null where it does not match. */
type Narrowed<Deep> = unknown extends Deep
  ? false
  : Deep extends { readonly _filter: unknown } | { readonly _search: unknown }
    ? true
    : false;

type Items<Item, Of, Nullable, Deep> =
  | (unknown extends Deep
      ? Item[]
      : Deep extends Aggregating
        ? AggregateRow<Of, Groups<Deep>, Functions<Deep>>[]
        : Item[])
  | (Nullable extends true ? null : never);

type Groups<Deep> = Deep extends { readonly _group: readonly (infer Name)[] } ? Name : never;
type Functions<Deep> = Deep extends { readonly _aggregate: infer Named } ? Named : unknown;

/** A link row, told apart by its collection where that is selected. */
type LinkRow<Schema, Of, Type extends string, Item extends string, Linked extends string, Path, Deep> = Of extends {
  readonly row: infer Row;
  readonly relations: infer Relations;
  readonly functions: infer Functions;
}
  ? [ItemTail<Path, Item, Linked>] extends [never]
    ? Result<Schema, Of, Path, unknown, Deep>
    : IsSelected<Type, Path> extends true
      ?
          | (Linked extends string
              ? Show<
                  Cells<Schema, Omit<Row, Item | Type>, Relations, Functions, Path, Deep> & {
                    [Name in Type]: Linked;
                  } & {
                    [Name in Item]: LinkedItem<Schema, Row, Item, Linked, Path, Deep> | null;
                  }
                >
              : never)
          | ([Exclude<Cell<Row, Type>, Linked>] extends [never]
              ? never
              : Show<
                  Cells<Schema, Omit<Row, Item | Type>, Relations, Functions, Path, Deep> & {
                    [Name in Type]: Exclude<Cell<Row, Type>, Linked>;
                  } & { [Name in Item]: OwnKey<Row, Item, Path> | null }
                >)
      : Show<
          Cells<Schema, Omit<Row, Item>, Relations, Functions, Path, Deep> & {
            [Name in Item]: LinkedItem<Schema, Row, Item, Linked, Path, Deep> | OwnKey<Row, Item, Path> | null;
          }
        >
  : never;

type IsSelected<Name, Path> = Name extends Path ? true : IsWild<Path>;

type Cell<Row, Name> = Name extends keyof Row ? Row[Name] : never;

type ItemTail<Path, Item extends string, Linked extends string> = Tail<Path, `item:${Linked}` | 'item' | Item | '*'>;

/** The item of a link row, of each collection: its key where nothing is selected. It can be missing at any time. */
type LinkedItem<Schema, Row, Item extends string, Linked extends string, Path, Deep> = Linked extends string
  ? [ItemTail<Path, Item, Linked>] extends [never]
    ? OwnKey<Row, Item, Path>
    : Result<
        Schema,
        FactsOf<Schema, Linked>,
        ItemTail<Path, Item, Linked>,
        unknown,
        `item:${Linked}` extends keyof Deep ? Below<Deep[`item:${Linked}`]> : unknown
      >
  : never;

/** The key stands where the item was named too. */
type OwnKey<Row, Item extends string, Path> =
  IsWild<Path> extends true ? Cell<Row, Item> : Extract<Path, 'item' | Item> extends never ? never : Cell<Row, Item>;
