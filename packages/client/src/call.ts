/** Requests before they are written: handlers make them and the transport sends them. */

/** A primary key; one of several fields is the list of their values, in the order of the key. */
export type Key = string | number | readonly (string | number)[];

/** A key of several fields as one text: in an address, and in bodies. */
export function keyText(key: readonly (string | number)[]): string {
  return key.map((part) => encodeURIComponent(part)).join(',');
}

/** False for a key that no address leads to: browsers resolve `.` and `..` in every spelling. Such a key goes in bodies. */
export function hasAddress(key: Key): boolean {
  return typeof key === 'object' || !/^\.{0,2}$/.test(String(key));
}

/** Options of a single request. */
export interface RequestOptions {
  /** Gives the request up. */
  readonly signal?: AbortSignal;
  /** Headers of this request alone. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Makes a POST happen once however often it is sent, and with that repeatable. */
  readonly idempotencyKey?: string;
}

/** Options of a request that deletes. */
export interface DeleteOptions extends RequestOptions {
  /** Removes for good what would be archived, and what is. */
  readonly purge?: true;
}

/** A request. */
export interface Call {
  readonly method: string;
  /** Segments of the path, not encoded. */
  readonly path: readonly Key[];
  readonly query?: Query | Parameters | undefined;
  /** A query string as it is, beside `query`. */
  readonly search?: URLSearchParams;
  /** Sent as JSON, or as a form when it is one. */
  readonly body?: unknown;
  readonly options?: RequestOptions | undefined;
  /** A GET that SEARCH can replace. */
  readonly isList?: true;
  /** Goes without a token. */
  readonly isAnonymous?: true;
  /** Never sent again: its effect would be another one, and no key of a request is kept for it. */
  readonly isOnce?: boolean;
  /** A status of failure that is an answer here. */
  readonly accepts?: number;
}

/** The global parameters. A list may also be written as text with commas. */
export interface Query {
  /** Paths such as `author.name`, `*`, `year(created_at)` and `item:headings.text`. */
  readonly fields?: readonly string[] | string;
  /** Such as `{ title: { _starts_with: 'A' } }`. */
  readonly filter?: JsonObject;
  readonly search?: string;
  /** Archived items: with the live ones, or in their place. */
  readonly archived?: 'include' | 'only';
  /** Paths; a minus before one turns its order round. */
  readonly sort?: readonly string[] | string;
  /** Number of items; the server's default is 100, and -1 means all. */
  readonly limit?: number;
  readonly offset?: number;
  /** Counts from 1. */
  readonly page?: number;
  /** Cursor to go on from, as an answer gave it. */
  readonly cursor?: string;
  /** Parameters of to-many relations, such as `{ comments: { _limit: 3 } }`. */
  readonly deep?: JsonObject;
  /** New names of fields. */
  readonly alias?: Readonly<Record<string, string>>;
  /** Fields by function, such as `{ count: '*', sum: ['views'] }`. */
  readonly aggregate?: JsonObject;
  readonly groupBy?: readonly string[] | string;
  readonly having?: JsonObject;
  /** Fields of a unique key, for those that create: an item that is there by it is changed. */
  readonly on_conflict?: readonly string[] | string;
  /** `total_count`, `filter_count` or `*`. */
  readonly meta?: readonly string[] | string;
}

/** Bytes of an address beyond which a query travels in the body. */
export const longestUrl = 8192;

/** Parameters of any name. */
export type Parameters = Readonly<Record<string, unknown>>;

/** Writes parameters as a query string: lists as `name[]=…`, objects as JSON text; undefined values are left out. */
export function serialiseQuery(...groups: readonly (Query | Parameters | URLSearchParams | undefined)[]): string {
  const pairs = groups.flatMap((group) => {
    if (group instanceof URLSearchParams) return [...group].map(([name, value]) => pair(name, value));
    return Object.entries(group ?? {}).flatMap(([name, value]) => pairsOf(name, value));
  });
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function pairsOf(name: string, value: JsonValue | unknown): readonly string[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((element) => pair(`${name}[]`, element));
  return [pair(name, value)];
}

function pair(name: string, value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return `${encodeURIComponent(name)}=${encodeURIComponent(text)}`;
}

/** Any value of JSON. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[];

/** An object of JSON. */
export interface JsonObject {
  readonly [name: string]: JsonValue | undefined;
}
