/** First user of a project: it alone can sign in to an empty one. Source: API specification, section 16 (ADMIN_EMAIL). */
import { randomBytes } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { ask, firstRow, identifiedRow } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { SystemPlace } from '../system/place.ts';

/** E-mail address and password of the first administrator. */
interface AdministratorWish {
  readonly email: string;
  /** Null: one is made. */
  readonly password: string | null;
}

/** An administrator who was just made. */
export interface FirstAdministrator {
  readonly email: string;
  /** The generated password, to be shown once; null if a password was given. */
  readonly madePassword: string | null;
}

export async function hasNoUser(database: Pick<Database, 'query'>, location: SystemPlace): Promise<boolean> {
  const { table, rows } = ownTables(location);
  return (await ask(database, rows(`SELECT '1' FROM ${table('platform_users')} LIMIT 1`), [])).length === 0;
}

/** Makes the administrator when there is no user at all; null when there is one. */
export async function createFirstAdministrator(
  database: Pick<Database, 'query' | 'transaction'>,
  location: SystemPlace,
  passwords: Pick<Passwords, 'hash'>,
  { email, password }: AdministratorWish,
): Promise<FirstAdministrator | null> {
  if (!(await hasNoUser(database, location))) return null;
  const texts = ownTables(location).statements.firstUser;
  const madePassword = password === null ? randomBytes(15).toString('base64url') : null;
  const hashed = await passwords.hash(password ?? madePassword ?? '');
  const made = await database.transaction(async (transaction) => {
    // If several servers start at once, the first one makes the user and the others see it.
    await firstRow(transaction, texts.lock, []);
    return { value: (await identifiedRow(transaction, texts.insert, [email, hashed])) !== undefined };
  });
  return made ? { email, madePassword } : null;
}
