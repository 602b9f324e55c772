import { invalidQuery, PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import { defaultQueryBounds, defaultQueryLimits, type JsonValue } from '../../language/index.ts';
import { parseCursor } from './cursor.ts';
import { parseAggregate, parseBounds } from './parse-aggregate.ts';
import { parseAliases, parseDeep } from './parse-deep.ts';
import { checkJson } from './parse-json.ts';
import {
  parseArchived,
  parseExport,
  parseFields,
  parseFilterParameter,
  parseMeta,
  parseSearchText,
  parseSort,
} from './parse-parameters.ts';
import { parameterNames, type QueryParameter, type QueryTree } from './parse-query-string.ts';
import type { ReadLimits, ReadRequest } from './request.ts';

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
  const archived = parseArchived(tree);
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
    ...(archived && { archived }),
  };
}

/** The syntax stage of a read by key, to which only `fields`, `filter`, `deep` and `alias` apply. */
export function parseKeyRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  if (tree.has('cursor')) throw invalidQuery('"cursor" is for lists.');
  const archived = parseArchived(tree);
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
    ...(archived && { archived }),
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

/** The body of a SEARCH: a query, and the keys that were named. */
interface SearchRequest {
  readonly request: ReadRequest;
  readonly keys: readonly JsonValue[] | undefined;
}

/**
 * The syntax stage of a SEARCH (API specification, 1.4). An absent body is the plain list.
 *
 * Throws INVALID_PAYLOAD for a body of another form, INVALID_QUERY for a query that is malformed. Named keys are all
 * wanted unless the query has a limit of its own.
 */
export function parseSearch(body: JsonValue | undefined, limits: ReadLimits): SearchRequest {
  const parts = body ?? {};
  if (!isObject(parts)) throw new PlatformError('INVALID_PAYLOAD', 'The body must be an object.');
  if (Object.keys(parts).some((name) => name !== 'query' && name !== 'keys')) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body takes "query" and "keys".');
  }
  const { keys } = parts;
  if (keys !== undefined && !Array.isArray(keys))
    throw new PlatformError('INVALID_PAYLOAD', '"keys" must be an array.');
  const query: QueryTree = readBodyQuery(parts.query ?? {});
  const request = parseListRequest(query, limits);
  if (keys !== undefined && request.cursor !== undefined) throw invalidQuery('"cursor" cannot stand beside "keys".');
  return { request: keys === undefined || query.has('limit') ? request : { ...request, limit: -1 }, keys };
}
