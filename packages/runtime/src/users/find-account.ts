/** Looks users up by a credential of a request: a static token, an e-mail address, a session. One statement each. */

import type { Database } from '../database/database.ts';
import { ask } from '../database/own-statements/own-rows.ts';
import type { OwnSql } from '../database/own-statements/script.ts';
import { ownTables } from '../dialects/index.ts';
import { accountColumns } from '../dialects/own-tables.ts';
import type { SystemPlace } from '../system/place.ts';
import { type Account, accountWidth, readAccount } from './account.ts';

/** A user who signs in, with the values to compare the request with. Never kept longer than for that. */
export interface SigningIn {
  readonly account: Account;
  /** Encoded hash; null for a user without a password. */
  readonly password: string | null;
  readonly tfaSecret: string | null;
}

/** A session that has not ended, and whose it is. */
export interface FoundSession {
  readonly account: Account;
  /** The user's security version when the session was last confirmed: an older one means that its tokens are outdated. */
  readonly securityVersion: number;
}

/** Look-ups in the tables of one location. All resolve to null when there is no such row. */
export interface AccountFinder {
  /** The user who has this static token. */
  byToken(token: string): Promise<Account | null>;
  /** The user with this address: without regard to case, after NFKC. */
  byEmail(email: string): Promise<SigningIn | null>;
  /** The user with this key. */
  byId(id: string): Promise<SigningIn | null>;
  /** The user whom a provider of single sign-on calls so, in exactly this spelling. */
  byIdentity(provider: string, identifier: string): Promise<Account | null>;
  /** The session of an access token. Null also when it has ended or is too old. */
  bySession(id: string): Promise<FoundSession | null>;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function lookUps(location: SystemPlace) {
  const sql = ownTables(location);
  const columns = accountColumns(sql);
  const withRole = `${sql.table('platform_users')} AS u LEFT JOIN ${sql.table('platform_roles')} AS r ON r.id = u.role`;
  const find = (where: string, more = '', joined = ''): OwnSql =>
    sql.rows(`SELECT ${columns}${more} FROM ${withRole}${joined} WHERE ${where}`);
  const secrets = ', u.password, u.tfa_secret';
  return {
    byToken: find('u.token = $1::text'),
    byEmail: find(sql.hasEmail('u', '$1'), secrets),
    byId: find('u.id = $1::uuid', secrets),
    byIdentity: find('u.provider = $1::text AND u.external_identifier = $2::text'),
    bySession: find(
      `s.id = $1::uuid AND s.expires_at > ${sql.now}`,
      `, ${sql.text('s.security_version')}`,
      ` JOIN ${sql.table('platform_sessions')} AS s ON s.user = u.id`,
    ),
  };
}

/** Makes the look-ups. */
export function createAccountFinder(database: Pick<Database, 'query'>, location: SystemPlace): AccountFinder {
  const texts = lookUps(location);

  async function find(text: OwnSql, value: string): Promise<readonly (string | null)[] | null> {
    // Such a text is never sent to the server, which may store none, so no user has it.
    if (value === '' || value.includes('\0') || !value.isWellFormed()) return null;
    const [row] = await ask(database, text, [value]);
    return row ?? null;
  }

  return {
    async byToken(token) {
      const row = await find(texts.byToken, token);
      return row && readAccount(row);
    },
    async byEmail(email) {
      return readSigningIn(await find(texts.byEmail, email));
    },
    async byId(id) {
      return uuid.test(id) ? readSigningIn(await find(texts.byId, id)) : null;
    },
    async byIdentity(provider, identifier) {
      const [row] = await ask(database, texts.byIdentity, [provider, identifier]);
      return row === undefined ? null : readAccount(row);
    },
    async bySession(id) {
      const row = uuid.test(id) ? await find(texts.bySession, id) : null;
      return row && { account: readAccount(row), securityVersion: Number(row[accountWidth]) };
    },
  };
}

function readSigningIn(row: readonly (string | null)[] | null): SigningIn | null {
  if (row === null) return null;
  const [password = null, tfaSecret = null] = row.slice(accountWidth);
  return { account: readAccount(row), password, tfaSecret };
}
