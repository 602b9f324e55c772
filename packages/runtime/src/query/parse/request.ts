import type { AggregateFunction } from '../../language/descriptors/aggregates.ts';
import type { QueryLimits } from '../../language/index.ts';
import type { Archived } from '../../sql/archived/rows-by-state.ts';
import type { Cursor } from './cursor.ts';
import type { QueryParameter } from './parse-query-string.ts';

/** Rows of a list at most, -1 for all of them, and rows that it skips. */
export interface Bounds {
  readonly limit: number;
  readonly offset: number;
  /** Rows to read beyond the limit, which only tell that there are more. Default 0. */
  readonly beyond?: number;
}

/** One value that an aggregation asks for: a function of a field, or of the rows themselves (null, written `*`). */
export interface NamedAggregate {
  readonly function: AggregateFunction;
  readonly field: string | null;
}

/** One term of the order of aggregate rows. */
export interface NamedOrder {
  readonly name: string;
  readonly descending: boolean;
}

/** An aggregation as requested: well formed, but its names are not looked up yet. */
export interface AggregateRequest {
  /** Without duplicates, in the order of the answer; may be empty when there are groups. */
  readonly values: readonly NamedAggregate[];
  /** Fields and function calls that group the rows, without duplicates. */
  readonly groups: readonly string[];
  readonly having: QueryParameter | undefined;
  readonly sort: readonly NamedOrder[];
}

/** One term of `sort`: names that lead to a field. */
export interface SortTerm {
  readonly path: readonly string[];
  readonly descending: boolean;
}

/** A count that `meta` can ask for, in the order of the answer. */
export type MetaName = 'total_count' | 'filter_count';

/** A read as requested: well formed, but its names are not looked up yet. */
export interface ReadRequest extends Omit<DeepRequest, 'below'> {
  /** Paths of `fields`, without duplicates; never empty. */
  readonly fields: readonly (readonly string[])[];
  /** Set when the list is paged by cursor. */
  readonly cursor?: Cursor;
  readonly meta: readonly MetaName[];
  /** Names of the answer, and the fields or relations that they stand for. */
  readonly alias: ReadonlyMap<string, string>;
  /** Requests for nested rows, by relation or alias. */
  readonly deep: ReadonlyMap<string, DeepRequest>;
  /** Set when the list is wanted as a file. */
  readonly exported?: ExportFormat;
}

/** Limits that the operator sets for all reads. Source: API specification, section 16. */
export interface ReadLimits extends QueryLimits {
  /** QUERY_LIMIT_DEFAULT. */
  readonly defaultLimit: number;
  /** QUERY_LIMIT_MAX; undefined when there is none. */
  readonly maxLimit: number | undefined;
  /** QUERY_ROWS_MAX: rows that a nested list may have at most over all its parents, by the limits on the way to it. */
  readonly maxRows: number;
  /** QUERY_COST_MAX: see `cost.ts`. */
  readonly maxCost: number;
}

/** Rows of a list whose limit no parameter says. */
export function usualLimit({ defaultLimit, maxLimit }: ReadLimits): number {
  return Math.min(defaultLimit, maxLimit ?? defaultLimit);
}

/** Formats in which a list can be had as a file (API specification, section 5.6; `ndjson` is an addition). */
export const exportFormats = ['csv', 'json', 'xml', 'yaml', 'ndjson'] as const;

/** One of `exportFormats`; also the ending of the file's name. */
export type ExportFormat = (typeof exportFormats)[number];

/** A list as a file: its format, and its name without the extension. */
export interface Exported {
  readonly format: ExportFormat;
  readonly name: string;
}

/** Request for the nested rows of one relation (API specification, 5.4): well formed, names not looked up yet. */
export interface DeepRequest {
  readonly filter: QueryParameter | undefined;
  /** Text that rows have to contain. */
  readonly search: string | undefined;
  readonly sort: readonly SortTerm[];
  /** Rows at most, of each parent; -1 for all of them. */
  readonly limit: number;
  readonly offset: number;
  /** Set when the rows are aggregated instead of listed. */
  readonly aggregate?: AggregateRequest;
  /** Set where archived rows are asked for. */
  readonly archived?: Archived;
  readonly below: ReadonlyMap<string, DeepRequest>;
}
