/** Rules for fields of platform collections beyond their types. Source: API specification, 2.2, 3.2 and 10. */
import { isNetwork } from '../../environment/networks.ts';
import { isJwtShaped } from '../../environment/secrets.ts';
import { isEmail } from '../../environment/values.ts';
import type { FieldProblem } from '../../json/problems.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import type { CollectionDescriptor, JsonValue } from '../../language/index.ts';
import { passwordProblem } from '../../passwords/password-policy.ts';

export interface FieldLimits {
  /** PASSWORD_MIN_LENGTH, in characters. */
  readonly passwordMinLength: number;
  /** ASSETS_TRANSFORM_IMAGE_MAX_DIMENSION, in pixels. */
  readonly imageMaxDimension: number;
}

/** Limits of an environment that says nothing. */
export const defaultFieldLimits: FieldLimits = { passwordMinLength: 8, imageMaxDimension: 6000 };

type Check = (text: string, limits: FieldLimits) => FieldProblem | undefined;

/** Ways in which an image fills its box, and formats of images, for presets and requests. */
export const imageFits = ['cover', 'contain', 'inside', 'outside'] as const;
export const imageFormats = ['jpg', 'png', 'webp', 'avif'] as const;

const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['platform_users.email', (text) => (isEmail(text) ? undefined : problem('email', 'must be an e-mail address'))],
  ['platform_users.password', checkPassword],
  ['platform_users.token', (text) => (isStaticToken(text) ? undefined : problem('check', staticTokenRule))],
  ['platform_roles.ip_access', checkAddresses],
  ['platform_settings.auth_login_attempts', checkAttempts],
  ['platform_settings.auth_password_policy', checkPattern],
  ['platform_settings.storage_asset_presets', checkAssetPresets],
]);

/** Returns the problem of a field's value, in its text form; undefined if it has none. */
export function checkField(
  { name, system }: CollectionDescriptor,
  field: string,
  text: string | null,
  limits: FieldLimits,
): FieldProblem | undefined {
  if (system !== true || text === null) return undefined;
  return checks.get(`${name}.${field}`)?.(text, limits);
}

/** Names of fields that a new item must have, given its other fields: the text form of a field or undefined. */
export function requiredBeside(
  { name, system }: CollectionDescriptor,
  fieldValue: (field: string) => string | null | undefined,
): readonly string[] {
  if (system !== true || name !== 'platform_users') return [];
  return (fieldValue('provider') ?? 'default') === 'default' ? ['email', 'password'] : [];
}

function checkPassword(text: string, { passwordMinLength }: FieldLimits): FieldProblem | undefined {
  return passwordProblem(text, passwordMinLength);
}

function checkAddresses(text: string): FieldProblem | undefined {
  const wrong = text.split(',').find((address) => !isNetwork(address));
  return wrong === undefined ? undefined : problem('check', 'must be a list of addresses and CIDR blocks');
}

function checkAttempts(text: string): FieldProblem | undefined {
  return Number(text) >= 1 ? undefined : problem('range', 'must be at least 1, or null');
}

function checkPattern(text: string): FieldProblem | undefined {
  try {
    new RegExp(text, 'u');
    return undefined;
  } catch {
    return problem('check', 'must be a regular expression');
  }
}

function checkAssetPresets(text: string, { imageMaxDimension }: FieldLimits): FieldProblem | undefined {
  const value: JsonValue = JSON.parse(text);
  const keys = Array.isArray(value)
    ? value.map((preset) => (isAssetPreset(preset, imageMaxDimension) ? preset.key : undefined))
    : [undefined];
  const right = keys.every((key) => key !== undefined) && new Set(keys).size === keys.length;
  if (right) return undefined;
  const rule = 'must be a list of presets, each with a key of its own and of values that requests may have';
  return problem('check', rule);
}

function isAssetPreset(value: JsonValue, maxDimension: number): value is { readonly key: string } {
  if (value === null || !isObject(value)) return false;
  const { key, fit, width, height, quality, withoutEnlargement, format, ...rest } = value;
  const isUpTo = (max: number, number: JsonValue | undefined) =>
    isAbsent(number) || (Number.isInteger(number) && Number(number) >= 1 && Number(number) <= max);
  return (
    typeof key === 'string' &&
    /^[\w-]{1,64}$/.test(key) &&
    isOneOf(imageFits, fit) &&
    isOneOf(imageFormats, format) &&
    isUpTo(maxDimension, width) &&
    isUpTo(maxDimension, height) &&
    isUpTo(100, quality) &&
    (isAbsent(withoutEnlargement) || typeof withoutEnlargement === 'boolean') &&
    Object.keys(rest).length === 0
  );
}

function isOneOf(choices: readonly unknown[], value: JsonValue | undefined): boolean {
  return isAbsent(value) || choices.includes(value);
}

function isAbsent(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function problem(type: string, message: string): FieldProblem {
  return { type, message };
}

/** Message for an invalid token and also for one that another user has, so that a guess reveals nothing. */
export const staticTokenRule = 'must be a static token: 16 to 255 visible ASCII characters that no other user has';

const form = /^[\x21-\x7e]{16,255}$/;

/** Texts that programs send in place of a missing token. */
const placeholder = /^(?:null|undefined|none|nil|nan|true|false|object|[[\](){}"',;:._-])+$/i;

/** True if a text can be the static token of a user. Others are not looked up, so those of earlier versions end. */
export function isStaticToken(text: string): boolean {
  return form.test(text) && !placeholder.test(text) && !isJwtShaped(text);
}
