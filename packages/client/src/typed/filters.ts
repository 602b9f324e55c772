/** Filters of items by the fields of a collection. Source: API specification, sections 5.2 and 5.3. */
import type { OrderOperators } from './filter-types.ts';

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
