/**
 * Checks paths: an invalid one becomes the union of the valid ones. So the error is short and names them, and an editor
 * completes by the same types.
 */
import type { Links, One } from './facts.ts';

/** A valid path of `fields` as it is, or the union of valid ones. Text that is not known yet is valid. */
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

type Single<Relations> = {
  [Name in keyof Relations]: Relations[Name] extends One<string, boolean> ? `${Name & string}.` : never;
}[keyof Relations];
