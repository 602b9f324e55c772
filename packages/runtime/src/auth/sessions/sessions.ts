/**
 * Sessions and their refresh tokens, in transactions of the caller. A session is a row: it ends by being deleted, and
 * its tokens, used ones included, go with it. Source: API specification, sections 2.2 to 2.5.
 */
import { hash, randomBytes } from 'node:crypto';
import type { Transaction } from '../../database/database.ts';
import { firstRow, identifiedRow } from '../../database/own-statements.ts';
import { ownTables } from '../../dialects/index.ts';
import type { SystemPlace } from '../../system/place.ts';
import { type Account, readAccount } from '../../users/account.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { Tokens } from './tokens.ts';

/** Start of a session: the account as it was checked, the origin of the request, and the refresh token. */
interface Beginning {
  readonly account: Account;
  readonly sender: RequestOrigin;
  readonly refresh: RefreshToken;
  /** The password hashed anew; null: the stored hash stays. */
  readonly rehashed: string | null;
}

/** Result of presenting a refresh token. */
type Rotation =
  | { readonly kind: 'rotated'; readonly session: string; readonly account: Account }
  /** `ended` is the user whose session ended, because the token had been used before. */
  | { readonly kind: 'refused' | 'expired'; readonly ended: string | null };

/** Lifetimes of sessions and their tokens, in milliseconds. */
interface SessionLifetimes {
  readonly refreshTokenTtl: number;
  readonly sessionMaxTtl: number;
}

export type Sessions = ReturnType<typeof createSessions>;

function textsOf(location: SystemPlace) {
  const sql = ownTables(location);
  const sessions = `${sql.table('platform_sessions')} AS s`;
  const users = `${sql.table('platform_users')} AS u`;
  const tokens = sql.table('platform_refresh_tokens');
  const holder = {
    ...{ target: users, alias: 'u', where: `t.hash = ${sql.unhex('$1')}` },
    joined: { from: `(${sessions} JOIN ${tokens} AS t ON t.session = s.id)`, on: 's."user" = u.id' },
  };
  const ownSession = {
    ...{ target: sessions, alias: 's', where: 's.id = $1::uuid' },
    joined: { from: users, on: 'u.id = s."user"' },
  };
  const holding = {
    ...{ target: sessions, alias: 's', where: `t.hash = ${sql.unhex('$1')}` },
    joined: { from: `${tokens} AS t`, on: 't.session = s.id' },
  };
  const others = `s."user" = $1::uuid AND NOT (${sql.same('s.id', '$2::uuid')})`;
  return {
    ...sql.statements.sessions,
    /** Ends the session of a token: $1 its hash. */
    end: sql.writeReturning(holding, [sql.text('s."user"')], sql.remove(holding)),
    /** Outdates every session of the user who has a token: $1 its hash. */
    outdate: sql.writeReturning(
      holder,
      [sql.text('u.id')],
      sql.update(holder, { security_version: 'u.security_version + 1' }),
    ),
    /** Ends the sessions of a user ($1), but for one where $2 is its key. */
    endAll: sql.write(sql.remove({ target: sessions, alias: 's', where: others })),
    /** Lets a session ($1) carry on under the present security version of its user. */
    confirm: sql.write(sql.update(ownSession, { security_version: 'u.security_version' })),
  };
}

export function createSessions(location: SystemPlace, lifetimes: SessionLifetimes) {
  const texts = textsOf(location);
  const refreshTtl = `${lifetimes.refreshTokenTtl} milliseconds`;
  const sessionTtl = `${lifetimes.sessionMaxTtl} milliseconds`;

  async function endAll(transaction: Transaction, user: string, except: string | null): Promise<void> {
    await firstRow(transaction, texts.endAll, [user, except]);
    if (except !== null) await firstRow(transaction, texts.confirm, [except]);
  }

  return {
    /** Begins a session and returns its key; null if the user has changed since the check. */
    async begin(transaction: Transaction, { account, sender, refresh, rehashed }: Beginning): Promise<string | null> {
      const { id, securityVersion } = account;
      const { ip, userAgent, origin } = sender;
      const judged = [id, rehashed, String(securityVersion)];
      const values = [...judged, ip, userAgent, origin, sessionTtl, refreshTtl, refresh.hash];
      const [session = null] = (await identifiedRow(transaction, texts.begin, values)) ?? [];
      return session;
    },
    /** Exchanges the refresh token of that hash for another one. */
    async rotate(transaction: Transaction, used: string, next: RefreshToken): Promise<Rotation> {
      const rotated = await identifiedRow(transaction, texts.rotate, [used, next.hash, refreshTtl]);
      const [session, ...columns] = rotated ?? [];
      if (typeof session === 'string') return { kind: 'rotated', session, account: readAccount(columns) };
      const [ended = null, expired] = (await identifiedRow(transaction, texts.refuse, [used])) ?? [];
      return { kind: expired === 'true' ? 'expired' : 'refused', ended };
    },
    /** Ends the session of the refresh token of that hash, or all of its user; returns the user or null. */
    async end(transaction: Transaction, hash: string, all: boolean): Promise<string | null> {
      const [user = null] = (await identifiedRow(transaction, all ? texts.outdate : texts.end, [hash])) ?? [];
      if (all && user !== null) await endAll(transaction, user, null);
      return user;
    },
    /** Ends the sessions of a user but `except`. Must follow the statement that changes the user's row and waits for sign-ins under way. */
    endAll: (transaction: Transaction, user: string, except?: string): Promise<void> =>
      endAll(transaction, user, except ?? null),
  };
}

/** A token that was just made; `hash` is the stored form. */
type RefreshToken = ReturnType<typeof makeRefreshToken>;

/** Makes a token of 256 random bits. */
export function makeRefreshToken() {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: hashRefreshToken(token) };
}

/** SHA-256 of a token as a client presents it, hexadecimal. */
export function hashRefreshToken(token: string): string {
  return hash('sha256', token);
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

export type MakePair = (account: Account, session: string, refresh: RefreshToken) => TokenPair;

/** Makes the maker of pairs; `accessTokenTtl` is in milliseconds. Source: API specification, section 2.2. */
export function createPairs(tokens: Tokens, accessTokenTtl: number): MakePair {
  return function makePair({ id, role }, session, refresh) {
    const claims = {
      id,
      role: role?.id ?? null,
      app_access: role?.appAccess ?? false,
      admin_access: role?.adminAccess ?? false,
      sid: session,
    };
    return { accessToken: tokens.sign('access', claims, accessTokenTtl), refreshToken: refresh.token };
  };
}
