/** Looks users up by a credential of a request: a static token, an e-mail address, a session. One statement each. */

import type { Database } from '../database/database.ts';
import { ask } from '../database/own-statements/own-rows.ts';
import { createScript, type OwnSql, returnRows } from '../database/own-statements/script.ts';
import { byFamily } from '../dialects/by-family.ts';
import { mysqlAccountColumns } from '../dialects/mysql/own-tables/account-columns.ts';
import type { MysqlTables } from '../dialects/mysql/own-tables/tables.ts';
import { accountColumns } from '../dialects/postgres/own-tables/account-columns.ts';
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

interface LookUps {
  readonly byToken: OwnSql;
  readonly byEmail: OwnSql;
  readonly byId: OwnSql;
  readonly byIdentity: OwnSql;
  readonly bySession: OwnSql;
}

function postgresLookUps(schema: string): LookUps {
  const withRole = `${schema}.platform_users AS u LEFT JOIN ${schema}.platform_roles AS r ON r.id = u.role`;
  return {
    byToken: `SELECT ${accountColumns} FROM ${withRole} WHERE u.token = $1::text`,
    byEmail: `SELECT ${accountColumns}, u.password, u.tfa_secret FROM ${withRole}
WHERE ${schema}.platform_normal_email(u.email) = ${schema}.platform_normal_email($1::text)`,
    byId: `SELECT ${accountColumns}, u.password, u.tfa_secret FROM ${withRole} WHERE u.id = $1::uuid`,
    byIdentity: `SELECT ${accountColumns} FROM ${withRole}
WHERE u.provider = $1::text AND u.external_identifier = $2::text`,
    bySession: `SELECT ${accountColumns}, s.security_version FROM ${withRole}
JOIN ${schema}.platform_sessions AS s ON s."user" = u.id
WHERE s.id = $1::uuid AND s.expires_at > pg_catalog.now()`,
  };
}

function mysqlLookUps({ table }: MysqlTables): LookUps {
  const withRole = `${table('platform_users')} AS u LEFT JOIN ${table('platform_roles')} AS r ON r.id = u.role`;
  const look = (more: string, rest: string): OwnSql =>
    createScript(returnRows(`SELECT ${mysqlAccountColumns}${more} FROM ${withRole} ${rest}`));
  return {
    byToken: look('', 'WHERE u.token = $1'),
    byEmail: look(', u.password, u.tfa_secret', 'WHERE u.email_key = $1:email'),
    byId: look(', u.password, u.tfa_secret', 'WHERE u.id = $1'),
    byIdentity: look('', 'WHERE u.provider = $1 AND u.external_identifier = $2'),
    bySession: look(
      ', CAST(s.security_version AS CHAR)',
      `JOIN ${table('platform_sessions')} AS s ON s."user" = u.id WHERE s.id = $1 AND s.expires_at > NOW(6)`,
    ),
  };
}

/** Makes the look-ups. */
export function createAccountFinder(database: Pick<Database, 'query'>, location: SystemPlace): AccountFinder {
  const texts = byFamily(location, { postgres: postgresLookUps, mysql: mysqlLookUps });

  async function find(text: OwnSql, value: string): Promise<readonly (string | null)[] | null> {
    // Such a text is never sent to the server, and PostgreSQL stores none, so no user has it.
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
