/**
 * The user that a token stands for, cached for a few seconds. The end of a session, a token or a user's access is seen
 * by this process at once and by others within that time. Source: API specification, section 2.2.
 */
import { hash } from 'node:crypto';
import { isJwtShaped, isOversized } from '../environment/secrets.ts';
import { PlatformError } from '../errors.ts';
import { isStaticToken } from '../system/fields/field-rules.ts';
import type { Account, AccountFinder } from '../users/account.ts';
import { type Attempts, countFailures } from './attempts.ts';
import type { Tokens } from './sessions/tokens.ts';

/** Milliseconds for which a user is not read again: five seconds, less the time of a look-up in a busy process. */
const freshFor = 4_000;

/** Tokens that are remembered; beyond it the ones looked up longest ago are forgotten. */
const maxRemembered = 10_000;

/** User that a token stands for: active, with the session of a temporary token. */
export interface Identity {
  readonly account: Account;
  /** Null for a static token. */
  readonly session: string | null;
}

/** Finds users by token, each as the `T` that `describe` makes of it. */
export interface Identities<T> {
  /**
   * Returns the description of the token's user, at once if it is cached. Throws or rejects with INVALID_TOKEN,
   * TOKEN_EXPIRED or INVALID_CREDENTIALS, and with REQUESTS_EXCEEDED if too many static tokens were tried from the
   * address of `client`.
   */
  find(token: string, client: () => string): T | Promise<T>;
  /** Forgets a user whose rights, credentials or sessions have changed. Call it after the commit. */
  forget(user: string): void;
  forgetAll(): void;
}

interface IdentitiesOptions<T> {
  readonly tokens: Tokens;
  readonly finder: AccountFinder;
  readonly attempts: Pick<Attempts, 'token'>;
  /** Called once per look-up. */
  readonly describe: (identity: Identity) => T;
  /** Called with every user who was looked up. */
  readonly recordActivity: (user: string) => void;
}

interface Remembered<T> {
  readonly user: string;
  /** Milliseconds of the epoch; infinity for a static token. */
  readonly expiresAt: number;
  /** Session of a verified token; null for a static one. */
  readonly session: string | null;
  /** On the clock of `performance`. */
  readonly freshUntil: number;
  readonly described: T;
}

export function createIdentities<T>(options: IdentitiesOptions<T>): Identities<T> {
  const { tokens, finder, describe, recordActivity } = options;
  const remembered = new Map<string, Remembered<T>>();
  const looking = new Map<string, Promise<T>>();
  let changes = 0;

  function changed(): void {
    changes += 1;
    // Requests from now on must not get an answer that was read before the change.
    looking.clear();
  }

  async function look(key: string, token: string, client: () => string): Promise<T> {
    const start = performance.now();
    const before = changes;
    const cached = remembered.get(key);
    const proof = cached ?? proofOf(tokens, token);
    const account = await (proof.session === null
      ? staticAccount(options, token, cached === undefined, client)
      : accountOf(finder, proof.session));
    if (proof.session !== null && proof.user !== account.id) throw new PlatformError('INVALID_CREDENTIALS');
    const described = describe({ account, session: proof.session });
    recordActivity(account.id);
    // A change during the look-up may have outdated its result, which is then not cached.
    if (before === changes) {
      const { expiresAt, session } = proof;
      remember(remembered, key, { user: account.id, expiresAt, session, freshUntil: start + freshFor, described });
    }
    return described;
  }

  return {
    find(token, client) {
      if (isOversized(token)) throw new PlatformError(isJwtShaped(token) ? 'INVALID_TOKEN' : 'INVALID_CREDENTIALS');
      // The token itself is not kept.
      const key = hash('sha256', token, 'base64url');
      const cached = remembered.get(key);
      if (cached !== undefined) {
        if (cached.expiresAt <= Date.now()) throw new PlatformError('TOKEN_EXPIRED');
        if (cached.freshUntil > performance.now()) return cached.described;
      }
      const running = looking.get(key);
      if (running !== undefined) return running;
      const found = look(key, token, client).finally(() => {
        if (looking.get(key) === found) looking.delete(key);
      });
      looking.set(key, found);
      return found;
    },
    forgetAll() {
      changed();
      remembered.clear();
    },
    forget(user) {
      changed();
      for (const [key, entry] of remembered) if (entry.user === user) remembered.delete(key);
    },
  };
}

function remember<T>(remembered: Map<string, Remembered<T>>, key: string, entry: Remembered<T>): void {
  // Set anew, so that the order of the map is that of the look-ups.
  remembered.delete(key);
  remembered.set(key, entry);
  for (const [oldest] of remembered) {
    if (remembered.size <= maxRemembered) break;
    remembered.delete(oldest);
  }
}

/** The user of a static token. A token that was right before is no guess: it is accepted while others are tried. */
async function staticAccount(
  { finder, attempts }: Pick<IdentitiesOptions<unknown>, 'finder' | 'attempts'>,
  token: string,
  guessed: boolean,
  client: () => string,
): Promise<Account> {
  const find = async () => activeOf(isStaticToken(token) ? await finder.byToken(token) : null);
  return guessed ? countFailures(attempts.token('login', client()), ['INVALID_CREDENTIALS'], find) : find();
}

function proofOf(tokens: Tokens, token: string) {
  if (!isJwtShaped(token)) return { user: null, session: null, expiresAt: Number.POSITIVE_INFINITY };
  const { claims, expiresAt } = tokens.verify('access', token);
  const { id, sid } = claims;
  if (typeof id !== 'string' || typeof sid !== 'string') throw new PlatformError('INVALID_TOKEN');
  return { user: id, session: sid, expiresAt };
}

async function accountOf(finder: AccountFinder, session: string): Promise<Account> {
  const found = await finder.bySession(session);
  const account = activeOf(found?.account ?? null);
  if (found?.securityVersion !== account.securityVersion) throw new PlatformError('TOKEN_EXPIRED');
  return account;
}

function activeOf(account: Account | null): Account {
  if (account?.status !== 'active') throw new PlatformError('INVALID_CREDENTIALS');
  return account;
}
