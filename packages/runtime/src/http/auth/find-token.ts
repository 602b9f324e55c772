/** Reads the access token of a request. Source: API specification, section 2.1. */
import type { IncomingMessage } from 'node:http';
import { PlatformError } from '../../errors.ts';

/**
 * Finds the access token of a request, or null for an anonymous one.
 *
 * `query` is the raw text after the question mark. Throws INVALID_QUERY when the request carries two different tokens.
 */
export function findToken(request: IncomingMessage, query: string): string | null {
  const tokens = new Set<string>();
  if (request.headers.authorization !== undefined) collectHeaderTokens(request.rawHeaders, tokens);
  if (query !== '') collectQueryTokens(query, tokens);
  if (tokens.size > 1) throw new PlatformError('INVALID_QUERY', 'The request carries two different access tokens.');
  const [token] = tokens;
  return token ?? null;
}

/**
 * Reads every Authorization line: Node keeps only the first in `headers`, and a proxy may believe the second.
 */
function collectHeaderTokens(rawHeaders: readonly string[], tokens: Set<string>): void {
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name === undefined || name.length !== 13 || name.toLowerCase() !== 'authorization') continue;
    const token = /^bearer +([^ ].*)$/i.exec(rawHeaders[index + 1]?.trim() ?? '')?.[1];
    if (token !== undefined) tokens.add(token);
  }
}

/** A name that can be read as `access_token`, by its first two letters. */
const possibleName = /(?:^|&)(?:a|%61)(?:c|%63)/;

/** True unless a query string can be seen to hold no token, not even an empty one. */
export function mayHoldToken(query: string): boolean {
  return possibleName.test(query);
}

function collectQueryTokens(query: string, tokens: Set<string>): void {
  // Most query strings can be seen to hold no token without being split.
  if (!mayHoldToken(query)) return;
  for (const part of query.split('&')) {
    const equals = part.indexOf('=');
    if (equals < 'access_token'.length || decodeQueryText(part.slice(0, equals)) !== 'access_token') continue;
    const token = decodeQueryText(part.slice(equals + 1));
    if (token === null) throw new PlatformError('INVALID_QUERY', 'The access token is not valid percent-encoding.');
    if (token !== '') tokens.add(token);
  }
}

function decodeQueryText(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
