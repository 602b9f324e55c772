/** Users of providers: found by the provider's identifier, and made where that is allowed. */

import type { ProviderEnvironment } from '../../environment/providers.ts';
import { PlatformError } from '../../errors.ts';
import type { Account } from '../../users/account.ts';
import type { AccountFinder } from '../../users/find-account.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { Profile } from './profile.ts';

/** A user as it is written; absent fields have their defaults. */
export type NewUser = Readonly<Record<string, string>>;

/**
 * Writes a user as an administrator would, with everything that belongs to it: checks, activity, hooks. Rejects with the
 * error of the write.
 */
export type CreateUser = (user: NewUser, sender: RequestOrigin) => Promise<unknown>;

/** Gives the user whom a provider knows by a profile. Rejects with INVALID_CREDENTIALS where there is none and must not be. */
export type FindOrCreate = (provider: ProviderEnvironment, profile: Profile, sender: RequestOrigin) => Promise<Account>;

/**
 * Makes the registration. An equal e-mail address does not link users, because a provider's claim about it need not be
 * true.
 */
export function createRegistration(finder: Pick<AccountFinder, 'byIdentity'>, createUser: CreateUser): FindOrCreate {
  return async function findOrCreate(provider, profile, sender) {
    const find = (): Promise<Account | null> => finder.byIdentity(provider.name, profile.identifier);
    const existing = await find();
    if (existing !== null) return existing;
    if (!provider.allowRegistration) throw refused(new Error('Registration is disabled.'));
    const refusal = await createUser(newUser(provider, profile), sender).then(
      () => null,
      (error: unknown) => error,
    );
    // Looks again even after a refused write: if two first sign-ins run at once, one makes the user and the other finds it.
    const made = await find();
    if (made !== null) return made;
    if (refusal instanceof PlatformError && refusal.status < 500) throw refused(refusal);
    throw refusal;
  };
}

function newUser({ name, defaultRole: role }: ProviderEnvironment, profile: Profile): NewUser {
  const { identifier, email, firstName, lastName } = profile;
  return {
    provider: name,
    external_identifier: identifier,
    status: 'active',
    ...(role !== null && { role }),
    ...(email !== null && { email }),
    ...(firstName !== null && { first_name: firstName }),
    ...(lastName !== null && { last_name: lastName }),
  };
}

function refused(cause: unknown): PlatformError {
  return new PlatformError('INVALID_CREDENTIALS', undefined, {}, { cause });
}
