import { isObject } from '../language/filter-syntax.ts';
import { defaultQueryBounds, defaultQueryLimits, type JsonValue, type QueryLimits } from '../language/index.ts';
import { type Cursor, parseCursor } from './cursor.ts';
import { invalidQuery } from './invalid.ts';
import { type AggregateRequest, parseAggregate, parseBounds } from './parse-aggregate.ts';
import { parseAliases } from './parse-alias.ts';
import { type DeepRequest, parseDeep } from './parse-deep.ts';
import { checkJson } from './parse-json.ts';
import {
  parseExport,
  parseFields,
  parseFilterParameter,
  parseMeta,
  parseSearchText,
  parseSort,
} from './parse-parameters.ts';
import { parameterNames, type QueryParameter, type QueryTree } from './parse-query-string.ts';
import type { ExportFormat } from './plan.ts';

/** One term of `sort`: names that lead to a field. */
export interface SortTerm {
  readonly path: readonly string[];
  readonly descending: boolean;
}

/** A count that `meta` can ask for, in the order of the answer. */
export type MetaName = 'total_count' | 'filter_count';

/** A read as requested: well formed, but its names are not looked up yet. */
export interface ReadRequest {
  /** Paths of `fields`, without duplicates; never empty. */
  readonly fields: readonly (readonly string[])[];
  readonly filter: QueryParameter | undefined;
  /** Text that rows have to contain. */
  readonly search: string | undefined;
  readonly sort: readonly SortTerm[];
  /** Rows at most; -1 for all of them. */
  readonly limit: number;
  readonly offset: number;
  /** Set when the list is paged by cursor. */
  readonly cursor?: Cursor;
  readonly meta: readonly MetaName[];
  /** Names of the answer, and the fields or relations that they stand for. */
  readonly alias: ReadonlyMap<string, string>;
  /** Requests for nested rows, by relation or alias. */
  readonly deep: ReadonlyMap<string, DeepRequest>;
  /** Set when the rows are aggregated instead of listed. */
  readonly aggregate?: AggregateRequest;
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

/** The limits that hold when nothing is configured. */
export const defaultReadLimits: ReadLimits = {
  ...defaultQueryLimits,
  defaultLimit: 100,
  maxLimit: undefined,
  ...defaultQueryBounds,
};

/**
 * The syntax stage of a list: judges the form of every parameter and looks at no name.
 *
 * Throws INVALID_QUERY for the first malformed parameter.
 */
export function parseListRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  const aggregate = parseAggregate(tree, limits);
  const bounds = parseBounds(tree, limits, aggregate);
  const cursor = parseCursor(tree, bounds.limit);
  const exported = parseExport(tree);
  const meta = parseMeta(tree, limits);
  return {
    fields: parseFields(tree, limits),
    filter: parseFilterParameter(tree),
    search: parseSearchText(tree, limits),
    sort: parseSort(tree, limits),
    ...bounds,
    // A file has no place for counts.
    meta: exported === undefined ? meta : [],
    alias: parseAliases(tree, limits),
    deep: parseDeep(tree, limits),
    ...(cursor && { cursor }),
    ...(aggregate && { aggregate }),
    ...(exported && { exported }),
  };
}

/** The syntax stage of a read by key, to which only `fields`, `filter`, `deep` and `alias` apply. */
export function parseKeyRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  if (tree.has('cursor')) throw invalidQuery('"cursor" is for lists.');
  return {
    fields: parseFields(tree, limits),
    filter: parseFilterParameter(tree),
    search: undefined,
    sort: [],
    limit: 1,
    offset: 0,
    meta: [],
    alias: parseAliases(tree, limits),
    deep: parseDeep(tree, limits),
  };
}

/** Takes the parameters of a SEARCH body's `query`, which are native JSON. */
export function readBodyQuery(query: JsonValue): QueryTree {
  if (!isObject(query)) throw invalidQuery('"query" must be an object.');
  const tree = new Map<string, QueryParameter>();
  for (const [name, value] of Object.entries(query)) {
    if (!parameterNames.has(name)) continue;
    checkJson(value, name);
    if (value !== null) tree.set(name, { value, text: false });
  }
  return tree;
}
