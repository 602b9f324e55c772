/** Everything of a server that knows users, over the platform's own tables. */
import type { CompiledApi } from '../contract/index.ts';
import type { Database } from '../database/database.ts';
import type { Environment } from '../environment.ts';
import { PlatformError } from '../errors.ts';
import { systemSchemaOf } from '../system/schema.ts';
import { createAccountFinder } from '../users/find-account.ts';
import { createAttempts } from './attempts.ts';
import { createCounters } from './counters.ts';
import { createIdentities, type Identities, type Identity } from './identities.ts';
import { createPasswords } from './passwords.ts';
import { createSessions } from './sessions.ts';
import { createAccountSettings, type ReadAccountSettings } from './settings.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { createTokens } from './tokens.ts';
import { createUpkeep, type Upkeep } from './upkeep.ts';

/** Users of a server, whose requests are described by `T`. */
export interface Accounts<T> {
  readonly identities: Identities<T>;
  readonly signIn: SignIn;
  readonly upkeep: Upkeep;
  readonly settings: ReadAccountSettings;
}

/** What they are made of. */
export interface AccountsOptions<T> {
  readonly api: Pick<CompiledApi, 'collections'>;
  readonly database: Database;
  readonly environment: Environment;
  readonly describe: (identity: Identity) => T;
}

/** Makes them; null where the platform's own tables are not installed. Throws when they are and there is no SECRET. */
export function createAccounts<T>({ api, database, environment, describe }: AccountsOptions<T>): Accounts<T> | null {
  const schema = systemSchemaOf(api);
  if (schema === null) return null;
  const { auth } = environment;
  if (auth.secret === null) throw new Error('SECRET is required where there are users.');
  const tokens = createTokens(auth.secret);
  const finder = createAccountFinder(database, schema);
  const upkeep = createUpkeep(database, schema);
  const settings = createAccountSettings(database, schema);
  const identities = createIdentities({ tokens, finder, describe, seen: upkeep.seen });
  const signIn = createSignIn({
    database,
    finder,
    tokens,
    identities,
    sessions: createSessions(schema, auth),
    passwords: createPasswords(),
    attempts: createAttempts(auth.limits, createCounters(database, schema), settings),
    // Nothing hands out second factors yet, and who has one all the same must not get in without it.
    checkOtp: async () => {
      throw new PlatformError('INVALID_OTP');
    },
    environment: auth,
  });
  return { identities, signIn, upkeep, settings };
}
