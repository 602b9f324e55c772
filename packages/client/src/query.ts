/** Query of a request, and its form in a URL. Source: API specification, sections 5 and 15. */
import type { JsonObject, JsonValue } from './json.ts';

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
  /** How many items; the server's default is 100, and -1 means all. */
  readonly limit?: number;
  readonly offset?: number;
  /** Counts from 1. */
  readonly page?: number;
  /** Where to go on: a cursor that an answer gave. */
  readonly cursor?: string;
  /** Parameters of to-many relations, such as `{ comments: { _limit: 3 } }`. */
  readonly deep?: JsonObject;
  /** New names of fields. */
  readonly alias?: Readonly<Record<string, string>>;
  /** Fields by function, such as `{ count: '*', sum: ['views'] }`. */
  readonly aggregate?: JsonObject;
  readonly groupBy?: readonly string[] | string;
  readonly having?: JsonObject;
  /** `total_count`, `filter_count` or `*`. */
  readonly meta?: readonly string[] | string;
}

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
