/**
 * Cross-origin headers. Off unless configured; an origin that is not listed gets none.
 *
 * Source: API specification, sections 1.2 and 16. Header lists are flat: name, value, name, value.
 */
import type { IncomingMessage } from 'node:http';
import type { CorsEnvironment } from '../../environment.ts';

const none: readonly string[] = [];

/** Headers of every answer to a page of another origin. `*` is never combined with credentials. */
export function corsHeaders(cors: CorsEnvironment | null, origin: string | undefined): readonly string[] {
  if (cors === null || origin === undefined) return none;
  const exposed = cors.exposedHeaders.length === 0 ? none : [exposeHeaders, cors.exposedHeaders.join(',')];
  if (cors.origins.includes(origin) && origin !== '*') {
    const credentials = cors.credentials ? ['Access-Control-Allow-Credentials', 'true'] : none;
    return ['Access-Control-Allow-Origin', origin, ...credentials, ...exposed];
  }
  return cors.origins.includes('*') ? ['Access-Control-Allow-Origin', '*', ...exposed] : none;
}

const exposeHeaders = 'Access-Control-Expose-Headers';

/** Headers that answer a preflight beside those of `corsHeaders`; none when the request is no preflight. */
export function preflightHeaders(cors: CorsEnvironment | null, request: IncomingMessage): readonly string[] {
  const { origin } = request.headers;
  const requested = request.headers['access-control-request-method'];
  if (cors === null || requested === undefined || corsHeaders(cors, origin).length === 0) return none;
  return [
    'Access-Control-Allow-Methods',
    cors.methods.join(','),
    'Access-Control-Allow-Headers',
    cors.allowedHeaders.join(','),
    'Access-Control-Max-Age',
    String(cors.maxAge),
  ];
}
