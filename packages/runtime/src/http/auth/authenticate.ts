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

/**
 * Finds the caller of a token; null stands for an anonymous request. At once if the token is cached, else by a promise.
 * A request is worth a turn of the event loop only when the database has to be asked.
 *
 * Throws or rejects with INVALID_TOKEN, TOKEN_EXPIRED, INVALID_CREDENTIALS or INVALID_IP, and with FORBIDDEN if a user
 * has to set up a second factor before anything else.
 */
export type Authenticate = (token: string | null, request: IncomingMessage, path: string) => Caller | Promise<Caller>;

/** Facts of a user that requests are checked by. */
export interface AuthenticatedUser {
  readonly caller: Caller;
  /** Addresses and CIDR blocks that requests may come from; empty: from any. */
  readonly ipAccess: readonly string[];
  /** True when nothing but setting up a second factor is open. */
  readonly confined: boolean;
}

/** Options for checking tokens. */
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

/** Makes the check of a server. */
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
    const found = identities.find(token, () => {
      const address = clientAddress(request);
      return address === null ? '' : subnetOf(address);
    });
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
    administrator: { accessClass: names.admin, ...withoutUser, ...rowContext({ role: null, admin: true, ...claimed }) },
  };
}

/** Reduces a user to the facts that requests are checked by. */
export function authenticatedUser(
  names: AccessNames,
  rowContext: FindRowContext,
  { account, session }: Identity,
): AuthenticatedUser {
  const { id, role, hasTfa, provider } = account;
  const claimed = { role: role?.name ?? null, admin: role?.adminAccess === true, user: id, roleKey: role?.id ?? null };
  return {
    caller: {
      ...{ accessClass: names.of(role), user: id, role: role?.id ?? null },
      ...(session !== null && { session }),
      ...rowContext(claimed),
    },
    ipAccess: role?.ipAccess ?? [],
    // A user of a provider has proven their identity there, and has no password that a second factor would complement.
    confined: role?.enforceTfa === true && !hasTfa && provider === 'default',
  };
}

const unchecked: ReadonlySet<string> = new Set(
  operations.flatMap(({ access, route }) => (access === 'unchecked' ? [route] : [])),
);

/** True if a request is answered without a look at its token. */
export function ignoresToken(method: string, path: string): boolean {
  return liesUnder(path, '/auth') || unchecked.has(`${method === 'HEAD' ? 'GET' : method} ${path}`);
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
