/** The pattern of the route of a request, as lines and metrics name it: never a key. */
import type { IncomingMessage } from 'node:http';
import type { RequestRecord } from './request-record.ts';

/** The pattern; undefined if there is no such route. Requests on the fast path have met no router. */
export function routePattern(record: RequestRecord, { url = '' }: IncomingMessage): string | undefined {
  if (record.route !== null) return record.route === '' ? undefined : record.route;
  if (record.call?.item) return record.call.item.key === null ? itemRoutes.many : itemRoutes.byKey;
  const path = pathOf(url);
  if (path === '/graphql' || path === '/graphql/system') return path;
  // The token of such a request was refused before its path was read.
  return path.startsWith('/items/') ? itemRoutes[path.indexOf('/', 7) === -1 ? 'many' : 'byKey'] : undefined;
}

/** Methods that labels and spans name; OpenTelemetry calls all others `_OTHER`. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'SEARCH']);

/** The method of a request, as metrics and spans name it. */
export function requestMethod({ method = '' }: Pick<IncomingMessage, 'method'>): string {
  return methods.has(method) ? method : '_OTHER';
}

const itemRoutes = { many: '/items/:collection', byKey: '/items/:collection/:key' } as const;

/** The path of an address, without its query. */
export function pathOf(url: string): string {
  const query = url.indexOf('?');
  const path = query === -1 ? url : url.slice(0, query);
  const fragment = path.indexOf('#');
  return fragment === -1 ? path : path.slice(0, fragment);
}
