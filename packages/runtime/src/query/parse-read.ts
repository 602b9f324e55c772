import { isObject } from '../contract/filter-syntax.ts';
import type { JsonValue, QueryLimits } from '../contract/index.ts';
import { invalidQuery } from './invalid.ts';
import { checkJson, parseJson } from './parse-json.ts';
import { parameterNames, type QueryParameter, type QueryTree } from './parse-query-string.ts';

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
  readonly sort: readonly SortTerm[];
  /** Rows at most; -1 for all of them. */
  readonly limit: number;
  readonly offset: number;
  readonly meta: readonly MetaName[];
}

/** What the operator sets for all reads. Source: API specification, section 16. */
export interface ReadLimits extends QueryLimits {
  /** QUERY_LIMIT_DEFAULT. */
  readonly defaultLimit: number;
  /** QUERY_LIMIT_MAX; undefined when there is none. */
  readonly maxLimit: number | undefined;
}

/** Parameters that are specified but not compiled into this version; using one is an error, never ignored. */
const unavailable = ['search', 'aggregate', 'groupBy', 'deep', 'alias', 'export'] as const;

/** Those of them that mean something on a read by key. */
const unavailableByKey: ReadonlySet<string> = new Set(['deep', 'alias']);

/**
 * The syntax stage of a list: judges the form of every parameter and looks at no name.
 *
 * Throws INVALID_QUERY for the first malformed parameter.
 */
export function parseListRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  for (const name of unavailable) refuseUnavailable(tree, name);
  const limit = parseLimit(tree, limits);
  return {
    fields: parseFields(tree, limits),
    filter: parseFilterParameter(tree),
    sort: parseSort(tree, limits),
    limit,
    offset: parseOffset(tree, limit),
    meta: parseMeta(tree, limits),
  };
}

/** The syntax stage of a read by key, to which only `fields` and `filter` (and `deep`, `alias`) apply. */
export function parseKeyRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  for (const name of unavailable) if (unavailableByKey.has(name)) refuseUnavailable(tree, name);
  const fields = parseFields(tree, limits);
  return { fields, filter: parseFilterParameter(tree), sort: [], limit: 1, offset: 0, meta: [] };
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

function refuseUnavailable(tree: QueryTree, name: string): void {
  const value = tree.get(name)?.value;
  if (value !== undefined && value !== '') throw invalidQuery(`"${name}" is not available.`);
}

function parseFields(tree: QueryTree, limits: ReadLimits): readonly (readonly string[])[] {
  const paths = new Map<string, readonly string[]>();
  const texts = parseList(tree, 'fields');
  if (texts.length > limits.arrayLimit) throw invalidQuery('"fields" has too many elements.');
  for (const text of texts) {
    const path = text.split('.');
    if (path.length > limits.relationalDepth) throw invalidQuery('"fields" names too many relations.');
    paths.set(text, path);
  }
  return paths.size === 0 ? [['*']] : [...paths.values()];
}

function parseSort(tree: QueryTree, limits: ReadLimits): readonly SortTerm[] {
  const terms = parseList(tree, 'sort').map((text): SortTerm => {
    const descending = text.startsWith('-');
    return { path: (descending ? text.slice(1) : text).split('.'), descending };
  });
  if (terms.length > limits.arrayLimit) throw invalidQuery('"sort" has too many elements.');
  for (const { path } of terms) {
    if (path.length > limits.relationalDepth) throw invalidQuery('"sort" names too many relations.');
    if (path.includes('')) throw invalidQuery('"sort" has an empty name.');
  }
  return terms;
}

function parseMeta(tree: QueryTree, limits: ReadLimits): readonly MetaName[] {
  const names = parseList(tree, 'meta');
  if (names.length > limits.arrayLimit) throw invalidQuery('"meta" has too many elements.');
  for (const name of names) {
    if (name !== 'total_count' && name !== 'filter_count' && name !== '*') {
      throw invalidQuery('"meta" takes total_count, filter_count and *.');
    }
  }
  const both = ['total_count', 'filter_count'] as const;
  return both.filter((name) => names.includes(name) || names.includes('*'));
}

/** A list in any of its forms: comma text, a JSON array as text, an array. Empty elements are dropped. */
function parseList(tree: QueryTree, name: string): readonly string[] {
  const parameter = tree.get(name);
  if (parameter === undefined) return [];
  const { value, text } = parameter;
  const elements = typeof value === 'string' ? splitText(value, name) : value;
  if (!Array.isArray(elements)) throw invalidQuery(`"${name}" must be a list.`);
  return elements.flatMap((element) => {
    if (typeof element !== 'string') throw invalidQuery(`"${name}" must be a list of names.`);
    return (text ? element.split(',').map((part) => part.trim()) : [element]).filter((part) => part !== '');
  });
}

function splitText(text: string, name: string): JsonValue {
  return text.startsWith('[') ? parseJson(text, name) : text.split(',').map((part) => part.trim());
}

function parseFilterParameter(tree: QueryTree): QueryParameter | undefined {
  const parameter = tree.get('filter');
  if (parameter === undefined || parameter.value === '') return undefined;
  if (typeof parameter.value !== 'string') return parameter;
  return { value: parseJson(parameter.value, 'filter'), text: false };
}

/** An integer parameter given once; undefined when absent or empty. */
function parseInteger(tree: QueryTree, name: string, least: number): number | undefined {
  const value = tree.get(name)?.value;
  if (value === undefined || value === '') return undefined;
  const written = typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}$/.test(value));
  const number = written ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number) || number < least) {
    throw invalidQuery(`"${name}" must be an integer of at least ${least}.`);
  }
  return number;
}

function parseLimit(tree: QueryTree, { defaultLimit, maxLimit }: ReadLimits): number {
  const limit = parseInteger(tree, 'limit', -1);
  if (limit === undefined) return Math.min(defaultLimit, maxLimit ?? defaultLimit);
  if (maxLimit === undefined) return limit;
  if (limit > maxLimit) throw invalidQuery(`"limit" must not be above ${maxLimit}.`);
  return limit === -1 ? maxLimit : limit;
}

function parseOffset(tree: QueryTree, limit: number): number {
  const offset = parseInteger(tree, 'offset', 0) ?? 0;
  const page = parseInteger(tree, 'page', 0);
  if (page === undefined) return offset;
  const skipped = limit === -1 ? 0 : Math.max(page - 1, 0) * limit;
  if (!Number.isSafeInteger(skipped)) throw invalidQuery('"page" is too large.');
  return skipped;
}
