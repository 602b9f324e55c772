/** Aggregate rows, and what they are asked by. Source: API specification, section 5.5. */
import type { Call, Facts } from './facts.ts';
import type { OrderOperators } from './filter-types.ts';

/** The fields that each function takes. */
export type AggregateOf<Of> = Of extends {
  readonly counted: infer Counted;
  readonly summed: infer Summed;
  readonly ranged: infer Ranged;
}
  ? {
      readonly count?: '*' | readonly ['*'] | readonly Counted[];
      readonly countAll?: '*';
      readonly countDistinct?: readonly Counted[];
      readonly sum?: readonly Summed[];
      readonly sumDistinct?: readonly Summed[];
      readonly avg?: readonly Summed[];
      readonly avgDistinct?: readonly Summed[];
      readonly min?: readonly Ranged[];
      readonly max?: readonly Ranged[];
    }
  : never;

/** Names that `groupBy` takes. */
export type GroupsOf<Of> = Of extends { readonly groups: infer Groups } ? Groups : never;

/** Conditions on aggregate rows, whether their values are in the answer or not. */
export interface HavingOf<Of extends Pick<Facts, 'counted' | 'summed' | 'ranged' | 'filter'>> {
  readonly count?: NumberCondition | { readonly [Name in Of['counted']]?: NumberCondition };
  readonly countAll?: NumberCondition;
  readonly countDistinct?: { readonly [Name in Of['counted']]?: NumberCondition };
  readonly sum?: { readonly [Name in Of['summed']]?: NumberCondition };
  readonly sumDistinct?: { readonly [Name in Of['summed']]?: NumberCondition };
  readonly avg?: { readonly [Name in Of['summed']]?: NumberCondition };
  readonly avgDistinct?: { readonly [Name in Of['summed']]?: NumberCondition };
  readonly min?: Pick<Of['filter'], Extract<keyof Of['filter'], Of['ranged']>>;
  readonly max?: Pick<Of['filter'], Extract<keyof Of['filter'], Of['ranged']>>;
  readonly _and?: readonly HavingOf<Of>[];
  readonly _or?: readonly HavingOf<Of>[];
}

type NumberCondition = OrderOperators<number | string> | number | string | null;

/** Sort keys of aggregate rows: groups, and values of functions such as `count` and `sum.views`. */
export type AggregateSort<Of extends Pick<Facts, 'groups' | 'counted' | 'summed' | 'ranged'>> = `${'' | '-'}${
  | Of['groups']
  | 'count'
  | 'countAll'
  | `${'count' | 'countDistinct'}.${Of['counted']}`
  | `${'sum' | 'sumDistinct' | 'avg' | 'avgDistinct'}.${Of['summed']}`
  | `${'min' | 'max'}.${Of['ranged']}`}`;

/** One row: the values of its group, flat, and then those of functions. */
export type AggregateRow<Of, Group, Functions> = Of extends {
  readonly row: infer Row;
  readonly functions: infer Calls;
}
  ? Show<
      Pick<Row, Extract<keyof Row, Group>> & {
        [Name in Extract<keyof Calls, Group> as NameOf<Calls[Name]>]: ValueOf<Calls[Name]>;
      } & (unknown extends Functions
          ? unknown
          : { -readonly [Name in keyof Functions]: Values<Row, Calls, Name, Functions[Name]> })
    >
  : never;

type Show<T> = { [Name in keyof T]: T[Name] } & {};
type NameOf<Of> = Of extends Call<infer Name, unknown> ? Name : never;
type ValueOf<Of> = Of extends Call<string, infer Value> ? Value : never;

/** Values of all items, or by field, also a computed one. Without values a count is 0, other functions are null. */
type Values<Row, Calls, Name, Fields> = Fields extends '*' | readonly ['*']
  ? number
  : Fields extends readonly (infer Field)[]
    ? {
        [One in Field & (keyof Row | keyof Calls)]: Name extends 'count' | 'countDistinct'
          ? number
          : (One extends keyof Row ? Row[One] : ValueOf<Calls[One & keyof Calls]>) | null;
      }
    : never;
