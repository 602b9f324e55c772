/** From a token to a caller. Source: API specification, sections 2.1, 2.2 and 3.4. */
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Identities, Identity } from '../../auth/identities.ts';
import { mayUseFrom } from '../../auth/ip-access.ts';
import type { Caller } from '../../caller.ts';
import { subnetOf } from '../../environment/networks.ts';
import { isJwtShaped, isOversized } from '../../environment/secrets.ts';
import { PlatformError } from '../../errors.ts';
import type { AccessNames } from '../../language/descriptors/access-names.ts';
import { operations } from '../../language/operations/index.ts';
import type { Audit, AuditOrigin } from '../../operate/audit.ts';
import type { FindClientAddress } from '../../operate/client-address.ts';
import { parameterNames } from '../../query/parse/parse-query-string.ts';
import { liesUnder, splitTarget } from '../../query/parse/target.ts';
import type { FindRowContext } from '../../row-security/contexts.ts';
import { callerOf } from '../../users/account.ts';

/**
 * Finds the caller of a token; null stands for an anonymous request. At once if the token is cached, else by a promise.
 * A request is worth a turn of the event loop only when the database has to be asked.
 *
 * Throws or rejects with INVALID_TOKEN, TOKEN_EXPIRED, INVALID_CREDENTIALS or INVALID_IP, and with FORBIDDEN if a user
 * has to set up a second factor before anything else.
 */
export type Authenticate = (token: string | null, request: IncomingMessage, path: string) => Caller | Promise<Caller>;

export type AuthenticatedUser = ReturnType<typeof authenticatedUser>;

interface AuthenticatorOptions {
  readonly names: AccessNames;
  readonly rowContext: FindRowContext;
  /** Static token of the built-in role admin; null: there is none. */
  readonly adminToken: string | null;
  /** Null where the platform's own tables are not installed, so that there are no users. */
  readonly identities: Pick<Identities<AuthenticatedUser>, 'find'> | null;
  readonly clientAddress: FindClientAddress;
  readonly audit: Audit;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { names, rowContext, adminToken, identities, clientAddress, audit } = options;
  const { anonymous, administrator: admin } = callersWithoutUser(names, rowContext);
  const adminHash = adminToken === null ? null : digest(adminToken);

  function admit({ caller, ipAccess, confined }: AuthenticatedUser, request: IncomingMessage, path: string): Caller {
    if (ipAccess.length > 0 && !mayUseFrom(ipAccess, clientAddress(request))) {
      audit('ip-refused', originOf(request), { user: caller.user ?? undefined });
      throw new PlatformError('INVALID_IP');
    }
    if (confined && !isOpenToConfined(request, path)) throw new PlatformError('FORBIDDEN');
    return caller;
  }

  function originOf(request: IncomingMessage): AuditOrigin {
    return { ip: clientAddress(request)?.text ?? null };
  }

  return function authenticate(token, request, path) {
    if (token === null) return anonymous;
    // Hashes have one length and betray nothing of the token, so comparing them takes the same time for all.
    if (adminHash !== null && !isOversized(token) && timingSafeEqual(digest(token), adminHash)) {
      audit('admin-token-used', originOf(request), {});
      return admin;
    }
    if (identities === null) throw new PlatformError(isJwtShaped(token) ? 'INVALID_TOKEN' : 'INVALID_CREDENTIALS');
    const found = identities.find(token, () => subnetOf(clientAddress(request)));
    return found instanceof Promise
      ? found.then((authenticated) => admit(authenticated, request, path))
      : admit(found, request, path);
  };
}

/** Callers that no user stands for: those without a token, and the one of the server's own token. */
export function callersWithoutUser(
  names: AccessNames,
  rowContext: FindRowContext,
): { readonly anonymous: Caller; readonly administrator: Caller } {
  const withoutUser = { user: null, role: null };
  const claimed = { user: null, roleKey: null };
  return {
    anonymous: { accessClass: names.public, ...withoutUser, ...rowContext({ role: null, admin: false, ...claimed }) },
    administrator: {
      ...{ accessClass: names.admin, administrator: true, ...withoutUser },
      ...rowContext({ role: null, admin: true, ...claimed }),
    },
  };
}

/** Reduces a user to the facts that requests are checked by. */
export function authenticatedUser(names: AccessNames, rowContext: FindRowContext, { account, session }: Identity) {
  const { role, hasTfa, provider } = account;
  return {
    caller: { ...callerOf(names, rowContext, account), ...(session !== null && { session }) },
    /** Addresses and CIDR blocks that requests may come from; empty: from any. */
    ipAccess: role?.ipAccess ?? [],
    // A user of a provider has proven their identity there, and has no password that a second factor would complement.
    /** True when nothing but setting up a second factor is open. */
    confined: role?.enforceTfa === true && !hasTfa && provider === 'default',
  } as const;
}

/** Routes by paths: a text that is joined of both costs more than its look-up. */
const unchecked: ReadonlyMap<string, readonly string[]> = Map.groupBy(
  operations.flatMap(({ access, route }) => (access === 'unchecked' ? [route] : [])),
  (route) => route.slice(route.indexOf(' ') + 1),
);

/** True if a request is answered without a look at its token. */
export function ignoresToken(method: string, path: string): boolean {
  return (
    liesUnder(path, '/auth') || unchecked.get(path)?.includes(`${method === 'HEAD' ? 'GET' : method} ${path}`) === true
  );
}

/** Below `/users/me` open are reads of the user's own fields, and the second factor; nothing else. */
function isOpenToConfined({ method = '', url = '' }: IncomingMessage, path: string): boolean {
  if (liesUnder(path, '/server') || liesUnder(path, '/users/me/tfa')) return true;
  if (path !== '/users/me' || !['GET', 'HEAD', 'OPTIONS'].includes(method)) return false;
  return [...new URLSearchParams(splitTarget(url).query)].every(([name, text]) => isOwn(name, text));
}

/** True if a parameter leads only to fields of the user itself. */
function isOwn(name: string, text: string): boolean {
  const [plain = ''] = name.split('[', 1);
  return plain === 'fields' ? !/[.(]/.test(text) : !parameterNames.has(plain);
}

function digest(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/**
 * Finds the access token of a request, or null for an anonymous one.
 *
 * `query` is the raw text after the question mark. Throws INVALID_QUERY when the request carries two different tokens.
 */
export function findToken(request: IncomingMessage, query: string): string | null {
  const inHeaders = request.headers.authorization !== undefined;
  // Most query strings can be seen to hold no token without being split.
  const inQuery = query !== '' && mayHoldToken(query);
  if (!inHeaders && !inQuery) return null;
  const tokens = new Set<string>();
  if (inHeaders) collectHeaderTokens(request.rawHeaders, tokens);
  if (inQuery) collectQueryTokens(query, tokens);
  if (tokens.size > 1) throw new PlatformError('INVALID_QUERY', 'The request carries two different access tokens.');
  const [token] = tokens;
  return token ?? null;
}

/** Reads every Authorization line: Node keeps the first in `headers`, and a proxy may believe the second. */
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
