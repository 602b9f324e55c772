import { createFirstAdministrator, type FirstAdministrator, hasNoUser } from '../auth/first-administrator.ts';
import type { Database } from '../database/database.ts';
import { ask } from '../database/own-statements.ts';
import { ownTables } from '../dialects/index.ts';
import { keepSecret } from '../environment/secrets.ts';
import type { Environment } from '../environment.ts';
import type { CompiledApi } from '../language/index.ts';
import { describeCause, type Log } from '../operate/log.ts';
import { isCommonPassword } from '../passwords/password-policy.ts';
import { createPasswords } from '../passwords/passwords.ts';
import { isStaticToken } from '../system/fields/field-rules.ts';
import { type SystemPlace, systemPlaceOf } from '../system/place.ts';

interface WelcomeOptions {
  readonly api: Pick<CompiledApi, 'collections' | 'dialect'>;
  readonly database: Pick<Database, 'query' | 'transaction'>;
  readonly environment: Environment;
  readonly log: Pick<Log, 'warn'>;
  /** Default: prints to the standard output. */
  readonly report?: ((administrator: FirstAdministrator) => void | Promise<void>) | undefined;
}

/** Makes sure that at least one user can sign in. */
export interface Welcome {
  /** Makes the first administrator when there is no user; does nothing once it came so far. Never rejects. */
  greet(): Promise<void>;
}

/** Users whose tokens are looked at, and keys of users that a line of the log names. */
const maxTokens = 10_000;
const maxReported = 20;

/** Makes it. Without the platform's own tables, or without sign-in by password, there is nothing to do. */
export function createWelcome({ api, database, environment, log, report = print }: WelcomeOptions): Welcome {
  const location = systemPlaceOf(api);
  const { disableDefault, administrator } = environment.auth;
  let greeting: Promise<void> | null = null;

  async function greet(systemLocation: SystemPlace): Promise<void> {
    try {
      // A password that is printed stays in the log.
      if (environment.production && administrator.password === null && (await hasNoUser(database, systemLocation))) {
        log.warn({}, 'There is no user yet. Run `platform users create`, or set ADMIN_EMAIL and ADMIN_PASSWORD.');
        return;
      }
      const made = await createFirstAdministrator(database, systemLocation, createPasswords(), administrator);
      if (made === null) {
        await reportRefusedTokens(systemLocation);
        return;
      }
      await report(made);
      if (isCommonPassword(administrator.password ?? '')) {
        log.warn(
          {},
          'ADMIN_PASSWORD is one of the passwords that everybody tries first. Change that of the administrator.',
        );
      }
    } catch (error) {
      log.warn({ cause: describeCause(error) }, 'Could not find out whether there is an administrator.');
      greeting = null;
    }
  }

  /** Earlier versions took every text for a static token. */
  async function reportRefusedTokens(systemLocation: SystemPlace): Promise<void> {
    const { table, text, rows } = ownTables(systemLocation);
    const tokens = `SELECT ${text('id')}, token FROM ${table('platform_users')} WHERE token IS NOT NULL LIMIT ${maxTokens}`;
    const users = (await ask(database, rows(tokens), [])).flatMap(([id, token]) =>
      typeof token === 'string' && !isStaticToken(token) ? [id ?? ''] : [],
    );
    if (users.length === 0) return;
    log.warn(
      { users: users.slice(0, maxReported) },
      `The static tokens of ${users.length} users are refused: they need 16 to 255 visible ASCII characters. \`platform users token\` makes others.`,
    );
  }

  return {
    async greet() {
      if (location === null || disableDefault || environment.database.readOnly) return;
      greeting ??= greet(location);
      await greeting;
    },
  };
}

/** File of a password that no terminal shows. */
const passwordFile = '.platform/admin-password';

async function print({ email, madePassword }: FirstAdministrator): Promise<void> {
  const isPrinted = process.stdout.isTTY === true;
  if (madePassword !== null && !isPrinted) await keepSecret(passwordFile, madePassword);
  const made = isPrinted ? `the password ${madePassword}` : `the password in ${passwordFile}`;
  const password = madePassword === null ? 'the password in ADMIN_PASSWORD' : made;
  process.stdout.write(`The first administrator is ${email} with ${password}. This is said only once.\n`);
}
