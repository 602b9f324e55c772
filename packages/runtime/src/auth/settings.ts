/** Settings of a project for signing in. Source: API specification, section 10.12. */
import type { Database } from '../database/database.ts';
import { ask } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import type { SystemPlace } from '../system/place.ts';
import { productName } from '../version.ts';

/** The settings that accounts need; defaults before the first write. */
interface AccountSettings {
  readonly projectName: string;
  /** Consecutive failed sign-ins of one account from one client after which it is refused there; null: never. */
  readonly loginAttempts: number | null;
  /** Text of a regular expression that new passwords must match; null: none. */
  readonly passwordPolicy: string | null;
}

/** Reads them, at most so many milliseconds old; rejects when the database does. */
export type ReadAccountSettings = () => Promise<AccountSettings>;

const freshMs = 5_000;

/** Makes the reader. Concurrent calls share one read. */
export function createAccountSettings(database: Pick<Database, 'query'>, location: SystemPlace): ReadAccountSettings {
  const { table, text: textOf, rows } = ownTables(location);
  const columns = `project_name, ${textOf('auth_login_attempts')}, auth_password_policy`;
  const text = rows(`SELECT ${columns} FROM ${table('platform_settings')}`);
  let cached: Promise<AccountSettings> | undefined;
  let until = Number.NEGATIVE_INFINITY;

  async function read(): Promise<AccountSettings> {
    const [row] = await ask(database, text, []);
    const [name, attempts, policy] = row ?? [productName, '25', null];
    return {
      projectName: name ?? productName,
      loginAttempts: typeof attempts === 'string' ? Number(attempts) : null,
      passwordPolicy: policy ?? null,
    };
  }

  return function readSettings() {
    if (cached !== undefined && performance.now() < until) return cached;
    const reading = read();
    cached = reading;
    until = performance.now() + freshMs;
    reading.catch(() => {
      if (cached === reading) cached = undefined;
    });
    return reading;
  };
}
