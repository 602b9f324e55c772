/** Policy for new passwords. Source: API specification, section 3.2. */
import { readFileSync } from 'node:fs';
import { PlatformError } from '../errors.ts';
import type { FieldProblem } from '../json/problems.ts';

export const longestPassword = 1024;

/** The rules for new passwords. */
export interface PasswordPolicy {
  /** PASSWORD_MIN_LENGTH: characters, as people count them in Unicode's code points. */
  readonly minLength: number;
  /** `auth_password_policy` of the settings: the text of a regular expression; null for none. */
  readonly pattern: string | null;
}

/** Returns the problem of a password; undefined if it has none. Never hashes. */
export function passwordProblem(password: string, { minLength, pattern }: PasswordPolicy): FieldProblem | undefined {
  if (Buffer.byteLength(password) > longestPassword) {
    return { type: 'max_length', message: `must have at most ${longestPassword} bytes` };
  }
  if (isShorter(password, minLength)) {
    return { type: 'min_length', message: `must have at least ${minLength} characters` };
  }
  if (isCommonPassword(password)) {
    return { type: 'password', message: 'must not be one of the passwords that everybody tries first' };
  }
  if (pattern === null || matches(pattern, password)) return undefined;
  return { type: 'password', message: 'does not meet the password policy' };
}

/** The same as FAILED_VALIDATION of the field `password`. */
export function refusePassword(password: string, policy: PasswordPolicy): PlatformError | undefined {
  const problem = passwordProblem(password, policy);
  if (problem === undefined) return undefined;
  const extensions = { collection: 'platform_users', field: 'password', type: problem.type };
  return new PlatformError('FAILED_VALIDATION', `"password" ${problem.message}.`, extensions);
}

let commonPasswords: ReadonlySet<string> | undefined;

/** True if a password is in the list; upper and lower case are the same. */
export function isCommonPassword(password: string): boolean {
  commonPasswords ??= new Set(readFileSync(commonWords, 'utf8').trim().split(/\s/));
  return commonPasswords.has(password.toLowerCase());
}

/** 3,000 passwords of any length and 3,000 of at least 8 characters, from leaked lists. Some of the words are offensive. */
export const commonWords = new URL('../../data/common-passwords.txt', import.meta.url);

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
