/** Requests before they are written: handlers make them and the transport sends them. */
import type { Parameters, Query } from './query.ts';

/** A primary key; one of several fields is the list of their values, in the order of the key. */
export type Key = string | number | readonly (string | number)[];

/** A key of several fields as one text: in an address, and in bodies. */
export function keyText(key: readonly (string | number)[]): string {
  return key.map((part) => encodeURIComponent(part)).join(',');
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
  /** A status of failure that is an answer here. */
  readonly accepts?: number;
}
