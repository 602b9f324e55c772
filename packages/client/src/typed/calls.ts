/** Functions and procedures of the server's database, and routes of its own code. Source: API specification, section 1; docs/extensions.md. */
import {
  type Call,
  type JsonValue,
  longestUrl,
  type Parameters,
  type Query,
  type RequestOptions,
  serialiseQuery,
} from '../call.ts';
import { readJson } from '../errors.ts';
import type { Requester } from '../requester.ts';
import type { DeepOf } from './deep.ts';
import type { Facts } from './facts.ts';
import type { AliasOf, Fields, ListQuery, Said } from './queries.ts';
import type { Result } from './result.ts';

/** Arguments may be left out where none is needed. */
type Rest<Args, Query> =
  Record<never, never> extends Args
    ? [args?: Args, query?: Query, options?: RequestOptions]
    : [args: Args, query?: Query, options?: RequestOptions];

/** Calls a function that gives a value, objects, or nothing. */
export type ValueCall<Name, Args, Output> = (
  name: Name,
  ...rest: Rest<Args, Output extends readonly unknown[] ? { limit?: number; offset?: number } : Record<string, never>>
) => Promise<Output>;

/** Calls a function that gives items of a collection: a list, or one item. */
export type ItemsCall<Name, Args, Schema, Of extends Facts, Many extends boolean> = <
  const F extends Fields,
  const S extends readonly string[],
  const A extends AliasOf<Of> = never,
  const D extends DeepOf<Schema, Of, Said<A>> = never,
>(
  name: Name,
  ...rest: Rest<Args, ListQuery<Schema, Of, F, S, A, D>>
) => Promise<
  Many extends true
    ? Result<Schema, Of, F[number], Said<A>, Said<D>>[]
    : Result<Schema, Of, F[number], Said<A>, Said<D>> | null
>;

/** The calls of all functions, by their names. */
export type CallFunction<Functions> = (
  Functions[keyof Functions] extends infer Each
    ? Each extends unknown
      ? (each: Each) => void
      : never
    : never
) extends (all: infer All) => void
  ? All
  : never;

/** Names of functions: those that only read, and the others, of which some give lists of items. */
export interface FunctionNames {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly lists?: readonly string[];
}

/** Arguments by their names. */
export type Arguments = Readonly<Record<string, JsonValue | undefined>>;

/** Calls a function; undefined where it gives nothing. */
export async function callFunction(
  requester: Requester,
  { read = [], write = [], lists = [] }: FunctionNames,
  name: string,
  args: Arguments,
  query: Query,
  options: RequestOptions,
): Promise<unknown> {
  if (!read.includes(name) && !write.includes(name))
    throw new TypeError(`There is no function "${name}" for this client.`);
  const path = ['functions', name];
  const search = searchOf(args);
  const fitsAddress = Object.values(args).every(isPlain) && serialiseQuery(query, search).length <= longestUrl;
  const call: Call = write.includes(name)
    ? { method: 'POST', path, query, body: args, options }
    : fitsAddress
      ? { method: 'GET', path, query, search, options }
      : { method: 'SEARCH', path, body: { args, query }, options };
  const body = await readJson<{ readonly data: unknown }>(await requester.send(call));
  if (body !== undefined) return body.data;
  return lists.includes(name) ? [] : undefined;
}

/** True if a value is the same as text, for arguments of any type. */
function isPlain(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return !/^\s*(?:["[{\d-]|true|false|null)/.test(value);
  return value === undefined || typeof value === 'number' || typeof value === 'boolean';
}

function searchOf(args: Arguments): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) if (value !== undefined) search.append(name, String(value));
  return search;
}

/** Input of a route. Times are `Date`s or text of ISO 8601. */
export interface RouteInput {
  /** The parts of the path that begin with a colon, by name. */
  readonly params?: Parameters;
  readonly query?: Parameters;
  readonly body?: unknown;
}

/** Asks a route, named by method and path; undefined where it gives nothing. */
export async function callRoute(
  { send }: Requester,
  route: string,
  { params = {}, query = {}, body }: RouteInput,
  options: RequestOptions,
): Promise<unknown> {
  const [method = 'GET', path = ''] = route.split(' ');
  const segments = path.slice(1).split('/');
  const completed = segments.map((part) => (part.startsWith(':') ? textOf(params[part.slice(1)]) : part));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const element of [value].flat()) if (element !== undefined) search.append(name, textOf(element));
  }
  return readJson(await send({ method, path: completed, search, body, options, isOnce: method === 'POST' }));
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
