/** Routes of a server's own code. Source: API specification, section 1; docs/extensions.md. */
import type { RequestOptions } from '../call.ts';
import type { Parameters } from '../query.ts';
import type { Requester } from '../requester.ts';

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
  const response = await send({ method, path: completed, search, body, options });
  const text = await response.text();
  return text === '' ? undefined : JSON.parse(text);
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value);
}
