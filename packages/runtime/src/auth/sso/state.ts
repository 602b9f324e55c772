/**
 * State that a browser holds while its user is at a provider: a signed cookie with a random key. All values that the
 * provider is told or asked to repeat are derived from the key. Source: API specification, sections 2.2 and 2.8.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Database } from '../../database/database.ts';
import { createPurge, identifiedRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import { PlatformError } from '../../errors.ts';
import type { SystemPlace } from '../../system/place.ts';
import type { Tokens } from '../sessions/tokens.ts';

/** Time that a user may stay at a provider, in milliseconds. */
const stateTtl = 300_000;

/** Content of the cookie. */
interface SignInState {
  /** 256 random bits, base64url. */
  readonly key: string;
  /** Address that the browser goes on to afterwards; null: it is answered. */
  readonly redirect: string | null;
  /** Token of an invitation that the sign-in accepts; null: none. */
  readonly invitation: string | null;
}

export interface HeldState extends SignInState {
  readonly expired: boolean;
}

/** Secrets derived from the key; none of them reveals it. */
export interface StateSecrets {
  /** Travels through the browser, and comes back. */
  readonly state: string;
  /** Comes back in the identity token. */
  readonly nonce: string;
  /** Verifier of PKCE: its hash travels with the browser, the verifier itself only from server to server. */
  readonly verifier: string;
}

export function makeState(redirect: string | null, invitation: string | null = null): SignInState {
  return { key: randomBytes(32).toString('base64url'), redirect, invitation };
}

export function secretsOf({ key }: SignInState): StateSecrets {
  const derive = (purpose: string): string => createHmac('sha256', key).update(purpose).digest('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}

export function signState(tokens: Tokens, provider: string, { key, redirect, invitation }: SignInState): string {
  return tokens.sign('oauth_state', { provider, key, redirect, invitation }, stateTtl);
}

/** Reads the state of a cookie; null for one that we did not make for this provider. */
export function readState(tokens: Tokens, provider: string, cookie: string): HeldState | null {
  try {
    const { claims, expiresAt } = tokens.read('oauth_state', cookie);
    const { key, redirect, invitation } = claims;
    if (claims.provider !== provider || typeof key !== 'string') return null;
    return { key, redirect: textOf(redirect), invitation: textOf(invitation), expired: expiresAt <= Date.now() };
  } catch (error) {
    if (error instanceof PlatformError) return null;
    throw error;
  }
}

function textOf(claim: unknown): string | null {
  return typeof claim === 'string' ? claim : null;
}

/** True if a browser brought back the state that it was sent with. */
export function isStateOf(state: SignInState, presented: string | null): boolean {
  const expected = Buffer.from(secretsOf(state).state);
  const actual = Buffer.from(presented ?? '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Uses a state up; resolves to true if it had not been used before. */
export type UseState = (key: string) => Promise<boolean>;

/** Interval at which states that have expired are removed, in milliseconds, and how many at once. */
const purgeEveryMs = 600_000;
const maxPurged = 1_000;

export function createUseState(database: Pick<Database, 'transaction'>, location: SystemPlace): UseState {
  const { table, sha256, after, shifted, now, insertOnce, purge } = ownTables(location);
  const tokens = table('platform_single_use_tokens');
  const texts = {
    // Only we make keys, so a row is as good a mark of use as one that was there from the start and is changed.
    use: insertOnce(
      `${tokens} (hash, purpose, expires_at, used_at)`,
      'hash',
      `${sha256('$1')}, 'oauth_state', ${after('$2')}, ${now}`,
    ),
    // An hour later, so that no clock of a server is far enough behind to take one of them for valid.
    purge: purge({
      ...{ table: tokens, key: 'hash', by: 'expires_at', limit: maxPurged },
      where: `purpose = 'oauth_state' AND expires_at < ${shifted(-1, 'hour')}`,
    }),
  };
  const purgeOld = createPurge(texts.purge, purgeEveryMs);
  return function useState(key) {
    return database.transaction(async (transaction) => {
      const used = await identifiedRow(transaction, texts.use, [key, `${stateTtl} milliseconds`]);
      await purgeOld(transaction);
      return { value: used !== undefined };
    });
  };
}
