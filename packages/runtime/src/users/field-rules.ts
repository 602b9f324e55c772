/** What fields of users and roles take beyond their types. Source: API specification, sections 2.2, 3.2 and 10.11. */
import { passwordProblem } from '../auth/password-policy.ts';
import type { CollectionDescriptor } from '../contract/index.ts';
import { isNetwork } from '../http/networks.ts';
import { isJwtShaped } from '../http/token.ts';
import { isEmail } from './email.ts';

/** Why a field does not take a value: the type of FAILED_VALIDATION, and a sentence without its subject. */
export interface FieldProblem {
  readonly type: string;
  readonly message: string;
}

/** What the environment decides about fields. */
export interface FieldLimits {
  /** PASSWORD_MIN_LENGTH, in characters. */
  readonly passwordMinLength: number;
}

/** Limits of an environment that says nothing. */
export const defaultFieldLimits: FieldLimits = { passwordMinLength: 8 };

type Check = (text: string, limits: FieldLimits) => FieldProblem | undefined;

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['platform_users.email', (text) => (isEmail(text) ? undefined : problem('email', 'must be an e-mail address'))],
  ['platform_users.password', checkPassword],
  ['platform_users.token', (text) => (isJwtShaped(text) ? problem('check', 'must not look like a JWT') : undefined)],
  ['platform_roles.ip_access', checkAddresses],
]);

/** What is wrong with the value of a field, in its text form; undefined when nothing is. */
export function checkField(
  { name, system }: CollectionDescriptor,
  field: string,
  text: string | null,
  limits: FieldLimits,
): FieldProblem | undefined {
  if (system !== true || text === null) return undefined;
  return checks.get(`${name}.${field}`)?.(text, limits);
}

/** Names of fields that a new item must have, given what it says about others: the text form of a field or undefined. */
export function requiredBeside(
  { name, system }: CollectionDescriptor,
  given: (field: string) => string | null | undefined,
): readonly string[] {
  if (system !== true || name !== 'platform_users') return [];
  return (given('provider') ?? 'default') === 'default' ? ['email', 'password'] : [];
}

function checkPassword(text: string, { passwordMinLength }: FieldLimits): FieldProblem | undefined {
  return passwordProblem(text, { minLength: passwordMinLength, pattern: null });
}

function checkAddresses(text: string): FieldProblem | undefined {
  const wrong = text.split(',').find((address) => !isNetwork(address));
  return wrong === undefined ? undefined : problem('check', 'must be a list of addresses and CIDR blocks');
}

function problem(type: string, message: string): FieldProblem {
  return { type, message };
}
