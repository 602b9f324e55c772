/** What a new password must be. Source: API specification, section 3.2. */
import { PlatformError } from '../errors.ts';

/** Bytes of the longest password. */
export const longestPassword = 1024;

/** The rules for new passwords. */
export interface PasswordPolicy {
  /** PASSWORD_MIN_LENGTH: characters, as people count them in Unicode's code points. */
  readonly minLength: number;
  /** `auth_password_policy` of the settings: the text of a regular expression; null for none. */
  readonly pattern: string | null;
}

/** What is wrong with a password, as FAILED_VALIDATION of the field `password`; undefined when nothing is. Never hashes. */
export function refusePassword(password: string, { minLength, pattern }: PasswordPolicy): PlatformError | undefined {
  if (Buffer.byteLength(password) > longestPassword) {
    return refusal(`The password is longer than ${longestPassword} bytes.`);
  }
  if (isShorter(password, minLength)) return refusal(`The password has fewer than ${minLength} characters.`);
  if (pattern !== null && !matches(pattern, password))
    return refusal('The password does not meet the password policy.');
  return undefined;
}

function isShorter(text: string, least: number): boolean {
  let characters = 0;
  for (const _ of text) if (++characters >= least) return false;
  return characters < least;
}

/** A pattern that is none, which nothing writes but the database's owner, is met by no password. */
function matches(pattern: string, password: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(password);
  } catch {
    return false;
  }
}

function refusal(message: string): PlatformError {
  return new PlatformError('FAILED_VALIDATION', message, {
    collection: 'platform_users',
    field: 'password',
    type: 'password',
  });
}
