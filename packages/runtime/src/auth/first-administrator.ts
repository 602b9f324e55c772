/** The first user of a project, without whom nobody could sign in. Source: API specification, section 16 (ADMIN_EMAIL). */
import { randomBytes } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { firstRow } from '../write/own-rows.ts';
import { transactionNumber } from '../write/statement.ts';
import type { Passwords } from './passwords.ts';

/** Who the first administrator is to be. */
export interface AdministratorWish {
  readonly email: string;
  /** Null: one is made. */
  readonly password: string | null;
}

/** An administrator who was just made. */
export interface FirstAdministrator {
  readonly email: string;
  /** The password that was made, to be told once; null when it was given. */
  readonly madePassword: string | null;
}

/** Makes the administrator when there is no user at all; null when there is one. `schema` is quoted. */
export async function createFirstAdministrator(
  database: Pick<Database, 'query' | 'transaction'>,
  schema: string,
  passwords: Pick<Passwords, 'hash'>,
  { email, password }: AdministratorWish,
): Promise<FirstAdministrator | null> {
  const [somebody] = await database.query(`SELECT 1 FROM ${schema}.platform_users LIMIT 1`, []);
  if (somebody !== undefined) return null;
  const madePassword = password === null ? randomBytes(15).toString('base64url') : null;
  const hashed = await passwords.hash(password ?? madePassword ?? '');
  const made = await database.transaction(async (transaction) => {
    // Of several servers that start at once, the first one makes the user and the others see it.
    await firstRow(transaction, `LOCK TABLE ${schema}.platform_users IN SHARE ROW EXCLUSIVE MODE`, []);
    const [number = null] = (await firstRow(transaction, insertSql(schema), [email, hashed])) ?? [];
    if (number !== null) transaction.identify(number);
    return { value: number !== null };
  });
  return made ? { email, madePassword } : null;
}

/** A role with admin access is taken where there is one, and made where there is none. */
function insertSql(schema: string): string {
  const roles = `${schema}.platform_roles`;
  return `WITH found AS (
  SELECT id FROM ${roles} WHERE admin_access ORDER BY name = 'admin' DESC, name, id LIMIT 1
), made AS (
  INSERT INTO ${roles} (name, icon, description, admin_access)
  SELECT 'admin', 'verified', 'May do everything.', true
  WHERE NOT EXISTS (SELECT FROM found) AND NOT EXISTS (SELECT FROM ${schema}.platform_users)
  RETURNING id
)
INSERT INTO ${schema}.platform_users (email, password, role)
SELECT $1::text, $2::text, id FROM (SELECT id FROM found UNION ALL SELECT id FROM made) AS role
WHERE NOT EXISTS (SELECT FROM ${schema}.platform_users)
RETURNING ${transactionNumber}`;
}
