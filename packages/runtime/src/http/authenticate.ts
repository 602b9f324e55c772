/** From a token to a caller. Source: API specification, sections 2.1 and 2.2. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { Caller } from '../caller.ts';
import type { AccessClass, CompiledApi } from '../contract/index.ts';
import { PlatformError } from '../errors.ts';
import { liesUnder } from './target.ts';
import { isJwtShaped, isOversized } from './token.ts';

/**
 * Names the caller behind a token; null stands for an anonymous request.
 *
 * Throws INVALID_TOKEN for everything of the form of a JSON web token, because no sessions exist that could have issued
 * one, and INVALID_CREDENTIALS for every other token that nobody owns.
 */
export type Authenticate = (token: string | null) => Caller;

/** Makes the check of a server. Throws when the compiled API lacks one of the two built-in roles. */
export function createAuthenticator(api: CompiledApi, adminToken: string | null): Authenticate {
  const anonymous: Caller = { accessClass: classOfRole(api, 'public').name, user: null, role: null };
  const admin: Caller = { accessClass: classOfRole(api, 'admin').name, user: null, role: null };
  const adminHash = adminToken === null ? null : digest(adminToken);

  return function authenticate(token) {
    if (token === null) return anonymous;
    if (isJwtShaped(token)) throw new PlatformError('INVALID_TOKEN');
    // Hashes have one length and betray nothing of the token, so comparing them takes the same time for all.
    if (adminHash !== null && !isOversized(token) && timingSafeEqual(digest(token), adminHash)) return admin;
    throw new PlatformError('INVALID_CREDENTIALS');
  };
}

/** Tells whether a request is answered without a look at its token. */
export function ignoresToken(method: string, path: string): boolean {
  return liesUnder(path, '/auth') || (path === '/server/ping' && (method === 'GET' || method === 'HEAD'));
}

function classOfRole(api: CompiledApi, role: string): AccessClass {
  const found = api.access.find((accessClass) => accessClass.roles.includes(role));
  if (found === undefined) throw new Error(`The compiled API has no access class for the role "${role}".`);
  return found;
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
