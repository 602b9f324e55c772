/** Variables of requests: general limits, GraphQL, and shared caches in front of the server. Source: API specification, section 16. */
import { type Read, type Reading, readBoolean, readDuration, readInteger, readNames, readUrls } from './values.ts';

export type RequestLimits = ReturnType<typeof readRequestLimits>;

/** So many requests in so many milliseconds. */
export interface RequestLimit {
  readonly points: number;
  readonly duration: number;
}

export function readRequestLimits(read: Read) {
  return {
    /** Per client address; null: no limit. */
    client: readLimit(read, 'RATE_LIMITER', 50),
    /** Limit of all clients together; null: no limit. */
    global: readLimit(read, 'RATE_LIMITER_GLOBAL', 1000),
    /** Redis in which several processes count together; null: each counts on its own. */
    redis: read<string | null>('REDIS', readRedisUrl, null),
  } as const;
}

/** Reports an invalid limit even if it is off. */
function readLimit(read: Read, name: string, defaultPoints: number): RequestLimit | null {
  const limit = {
    points: read(`${name}_POINTS`, readInteger(1), defaultPoints),
    duration: read(`${name}_DURATION`, readDuration, 1000),
  };
  return read(`${name}_ENABLED`, readBoolean, false) ? limit : null;
}

function readRedisUrl(text: string): Reading<string> {
  // The value can hold a password, so the sentence never repeats it.
  return /^rediss?:\/\//.test(text) && URL.canParse(text)
    ? { value: text }
    : { problem: 'must be an address such as "redis://user:password@host:6379/0".' };
}

export interface OperationLimits {
  /** GRAPHQL_MAX_DEPTH: fields within fields. Introspection does not count. */
  readonly depth: number;
  readonly rootFields: number;
  /** GRAPHQL_MAX_ALIASES. */
  readonly aliases: number;
  /** QUERY_COST_MAX: see `measureIn`. */
  readonly cost: number;
}

export interface DocumentLimits extends OperationLimits {
  /** GRAPHQL_QUERY_TOKEN_LIMIT: tokens of a document. */
  readonly tokens: number;
  /** GRAPHQL_INTROSPECTION: true if the schema may be queried. */
  readonly introspection: boolean;
}

/** Limits of GraphQL requests, and pages for browsers. */
export type GraphqlEnvironment = ReturnType<typeof readGraphql>;

/** Reads the variables; `cost` is the bound of every request. */
export function readGraphql(read: Read, cost: number) {
  return {
    limits: {
      introspection: read('GRAPHQL_INTROSPECTION', readBoolean, true),
      tokens: read('GRAPHQL_QUERY_TOKEN_LIMIT', readInteger(1, 1_000_000), 5_000),
      depth: read('GRAPHQL_MAX_DEPTH', readInteger(1, 1_000), 15),
      rootFields: read('GRAPHQL_MAX_ROOT_FIELDS', readInteger(1), 20),
      aliases: read('GRAPHQL_MAX_ALIASES', readInteger(0), 100),
      cost,
    },
    /** GRAPHIQL: true if `GET /graphql` shows browsers a page for queries. */
    graphiql: read('GRAPHIQL', readBoolean, false),
  } as const;
}

/** Settings of shared caches, which are told of changes. */
export type CacheEnvironment = ReturnType<typeof readCache>;

export function readCache(read: Read) {
  return {
    /** CACHE_TAG_HEADER: header of answers, and of purges, that holds the tags. */
    tagHeader: read('CACHE_TAG_HEADER', readTagHeader, 'Surrogate-Key'),
    /** CACHE_PURGE_URL: addresses that are sent PURGE after changes. */
    purgeUrls: read<readonly string[]>('CACHE_PURGE_URL', readUrls, []),
  } as const;
}

/** Headers of answers that are something else. */
const taken = /^(?:content-.*|cache-control|vary|etag|set-cookie|connection|transfer-encoding|date|location)$/i;

function readTagHeader(text: string): Reading<string> {
  const reading = readNames('header names')(text);
  const [name = '', ...others] = 'value' in reading ? reading.value : [];
  const isName = name !== '' && others.length === 0 && !taken.test(name);
  return isName ? { value: name } : { problem: 'must be the name of a header that answers do not have otherwise.' };
}
