/** Facts of a user that a request needs, read in one statement. Source: API specification, sections 2.2, 3.2 and 10. */

import type { Caller } from '../caller.ts';
import type { Database } from '../database/database.ts';
import { ask, type OwnSql } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { accountColumns } from '../dialects/own-tables.ts';
import type { AccessNames } from '../language/descriptors/access-names.ts';
import { isUuid } from '../language/types/uuid.ts';
import type { FindRowContext } from '../row-security/contexts.ts';
import type { SystemPlace } from '../system/place.ts';

/** A user of any status: the reader decides what the status means. */
export type Account = ReturnType<typeof readAccount>;

interface AccountRole {
  readonly id: string;
  readonly name: string;
  readonly adminAccess: boolean;
  readonly appAccess: boolean;
  readonly enforceTfa: boolean;
  /** Addresses and CIDR blocks that the role may be used from; empty: from any. */
  readonly ipAccess: readonly string[];
}

export function callerOf(names: AccessNames, rowContext: FindRowContext, { id, role }: Account): Caller {
  const claimed = { role: role?.name ?? null, admin: role?.adminAccess === true, user: id, roleKey: role?.id ?? null };
  return {
    ...{ accessClass: names.of(role), user: id, role: role?.id ?? null },
    ...(claimed.admin && { administrator: true as const }),
    ...rowContext(claimed),
  };
}

/** Number of columns in `accountColumns`; other columns of a statement stand after them. */
export const accountWidth = 12;

export function readAccount(row: readonly (string | null)[]) {
  const [id, email, status, provider, version, tfa] = row;
  return {
    id: id ?? '',
    email: email ?? null,
    status: status ?? '',
    /** `default` for users with a password. */
    provider: provider ?? '',
    /** Counts the events that end sessions. */
    securityVersion: Number(version),
    hasTfa: tfa === 'true',
    /** Null: the user has the permissions of the public role. */
    role: readRole(row.slice(6, accountWidth)),
  } as const;
}

function readRole([id, name, admin, app, tfa, addresses]: readonly (string | null | undefined)[]): AccountRole | null {
  if (typeof id !== 'string') return null;
  return {
    id,
    name: name ?? '',
    adminAccess: admin === 'true',
    appAccess: app === 'true',
    enforceTfa: tfa === 'true',
    ipAccess: (addresses ?? '')
      .split(',')
      .map((address) => address.trim())
      .filter((address) => address !== ''),
  };
}

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
export type AccountFinder = ReturnType<typeof createAccountFinder>;

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

export function createAccountFinder(database: Pick<Database, 'query'>, location: SystemPlace) {
  const texts = lookUps(location);

  async function find(text: OwnSql, value: string): Promise<readonly (string | null)[] | null> {
    // Such a text is never sent to the server, which may store none, so no user has it.
    if (value === '' || value.includes('\0') || !value.isWellFormed()) return null;
    const [row] = await ask(database, text, [value]);
    return row ?? null;
  }

  return {
    async byToken(token: string): Promise<Account | null> {
      const row = await find(texts.byToken, token);
      return row && readAccount(row);
    },
    /** The user with this address: without regard to case, after NFKC. */
    async byEmail(email: string): Promise<SigningIn | null> {
      return readSigningIn(await find(texts.byEmail, email));
    },
    async byId(id: string): Promise<SigningIn | null> {
      return isUuid(id) ? readSigningIn(await find(texts.byId, id)) : null;
    },
    /** The user whom a provider of single sign-on calls so, in exactly this spelling. */
    async byIdentity(provider: string, identifier: string): Promise<Account | null> {
      const [row] = await ask(database, texts.byIdentity, [provider, identifier]);
      return row === undefined ? null : readAccount(row);
    },
    /** The session of an access token. Null also when it has ended or is too old. */
    async bySession(id: string): Promise<FoundSession | null> {
      const row = isUuid(id) ? await find(texts.bySession, id) : null;
      return row && { account: readAccount(row), securityVersion: Number(row[accountWidth]) };
    },
  };
}

function readSigningIn(row: readonly (string | null)[] | null): SigningIn | null {
  if (row === null) return null;
  const [password = null, tfaSecret = null] = row.slice(accountWidth);
  return { account: readAccount(row), password, tfaSecret };
}
