import { invalidQuery, PlatformError } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../../language/index.ts';
import type { QueryTree } from './parse-query-string.ts';
import { parseListRequest, readBodyQuery } from './parse-read.ts';
import type { ReadLimits, ReadRequest } from './request.ts';

/** The body of a SEARCH: a query, and the keys that were named. */
export interface SearchRequest {
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
