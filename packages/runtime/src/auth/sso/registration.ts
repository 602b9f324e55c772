/** Users of providers: found by the provider's identifier, and made where that is allowed. */

import type { ProfileKeys, ProviderEnvironment } from '../../environment/providers.ts';
import { PlatformError } from '../../errors.ts';
import { isStorableText } from '../../language/types/decoding.ts';
import type { Account, AccountFinder } from '../../users/account.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { LinkInvited } from '../mailed-tokens/token-uses.ts';
import type { Claims } from './provider.ts';

/** A user as it is written; absent fields have their defaults. */
type NewUser = Readonly<Record<string, string>>;

/** Writes a user as an administrator would, with checks, activity and hooks. Rejects with the error of the write. */
export type CreateUser = (user: NewUser, sender: RequestOrigin) => Promise<unknown>;

/**
 * Gives the user whom a provider knows by a profile; one who is unknown may bring the token of an invitation. Rejects with
 * INVALID_CREDENTIALS where there is none and must not be, and with the errors of the token.
 */
export type FindOrCreate = (
  provider: ProviderEnvironment,
  profile: Profile,
  sender: RequestOrigin,
  invitation: string | null,
) => Promise<Account>;

/** Makes the registration. Equal e-mail addresses link no users: a provider's claim about them need not be true. */
export function createRegistration(
  finder: Pick<AccountFinder, 'byIdentity'>,
  createUser: CreateUser,
  linkInvited: LinkInvited,
): FindOrCreate {
  return async function findOrCreate(provider, profile, sender, invitation) {
    const { identifier } = profile;
    const find = (): Promise<Account | null> => finder.byIdentity(provider.name, identifier);
    const existing = await find();
    if (existing !== null) return existing;
    if (invitation === null && !provider.allowRegistration) throw refused(new Error('Registration is disabled.'));
    const making =
      invitation === null
        ? createUser(newUser(provider, profile), sender)
        : linkInvited(invitation, { provider: provider.name, identifier }, sender);
    const refusal = await making.then(
      () => null,
      (error: unknown) => error,
    );
    // Looks again even after a refused write: if two first sign-ins run at once, one makes the user and the other finds it.
    const made = await find();
    if (made !== null) return made;
    if (invitation === null && refusal instanceof PlatformError && refusal.status < 500) {
      throw refused(notMade(refusal));
    }
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

/** For the log, which names the field: an address that is taken, or a role that is not there. */
function notMade(refusal: PlatformError): Error {
  const { field, type } = refusal.extensions;
  const about = typeof field === 'string' ? ` because of "${field}" (${type})` : '';
  return new Error(`No user could be made${about}.`, { cause: refusal });
}

function refused(cause: unknown): PlatformError {
  return new PlatformError('INVALID_CREDENTIALS', undefined, {}, { cause });
}

type Profile = ReturnType<typeof readProfile>;

/** Characters of the longest identifier and of the longest name that a user has. */
const longestIdentifier = 255;
const longestName = 50;
/** Characters of JSON beyond which no more claims are kept. */
const maxDataBytes = 16_384;

/** Reads a profile. Throws INVALID_CREDENTIALS where it does not say who it is about. */
export function readProfile(claims: Claims, keys: ProfileKeys) {
  const identifier = identifierOf(memberOf(claims, keys.identifier));
  if (identifier === null) {
    const cause = new Error(`The profile has no usable "${keys.identifier}".`);
    throw new PlatformError('INVALID_CREDENTIALS', undefined, {}, { cause });
  }
  return {
    /** The provider's permanent identifier of the user. */
    identifier,
    email: textOf(memberOf(claims, keys.email)),
    firstName: nameOf(memberOf(claims, keys.firstName)),
    lastName: nameOf(memberOf(claims, keys.lastName)),
    /** JSON of everything plain that was said. */
    data: dataOf(claims),
  } as const;
}

function memberOf(claims: Claims, key: string): unknown {
  return Object.hasOwn(claims, key) ? claims[key] : undefined;
}

/** A number beyond the range of a double may stand for several. */
function identifierOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  const text = textOf(value);
  return text !== null && [...text].length <= longestIdentifier ? text : null;
}

function nameOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null ? null : [...text].slice(0, longestName).join('');
}

/** A text that a database can keep; an empty one is none. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && isStorableText(value) ? value : null;
}

/** JSON of texts, numbers, booleans and lists of them; deeper values are left out, as their depth is unbounded. */
function dataOf(claims: Claims): string {
  const kept: [string, unknown][] = [];
  let length = 2;
  for (const [name, value] of Object.entries(claims)) {
    if (!isStorableText(name) || !(isPlain(value) || (Array.isArray(value) && value.every(isPlain)))) continue;
    const size = JSON.stringify([name, value]).length;
    if (length + size > maxDataBytes) continue;
    length += size;
    kept.push([name, value]);
  }
  return JSON.stringify(Object.fromEntries(kept));
}

function isPlain(value: unknown): boolean {
  return (
    typeof value === 'boolean' || typeof value === 'number' || (typeof value === 'string' && isStorableText(value))
  );
}
