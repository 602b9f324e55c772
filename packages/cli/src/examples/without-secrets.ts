import type { JsonValue } from '@tablewright/runtime/language';

/** Members whose texts open something, in requests and answers of the platform's own routes. */
const secretNames: ReadonlySet<string> = new Set([
  ...['password', 'current_password', 'new_password', 'otp', 'token', 'secret', 'otpauth_url', 'recovery_codes'],
  ...['access_token', 'refresh_token', 'hash'],
]);

/** Text in the place of a secret. */
const hidden = '**********';

/** Names of members that a document says are only written: the secret fields of collections. */
export function writtenOnly(value: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  const look = (part: unknown, name: string): void => {
    if (typeof part !== 'object' || part === null) return;
    if ('writeOnly' in part && part.writeOnly === true) names.add(name);
    for (const [inner, member] of Object.entries(part)) look(member, inner);
  };
  look(value, '');
  return names;
}

/**
 * A copy in which nothing is that must not be written down: passwords and their hashes, tokens, second factors, and the
 * members of these names.
 */
export function withoutSecrets(value: JsonValue, names: ReadonlySet<string>, isSecret = false): JsonValue {
  if (typeof value === 'string') return isSecret || value.startsWith('$argon2') ? hidden : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((element: JsonValue) => withoutSecrets(element, names, isSecret));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      withoutSecrets(inner, names, secretNames.has(name) || names.has(name)),
    ]),
  );
}

/** An address without the token that it may carry. */
export function withoutToken(url: string): string {
  const queryStart = url.indexOf('?');
  if (queryStart === -1) return url;
  const parts = url.slice(queryStart + 1).split('&');
  const kept = parts.filter((part) => !/^(access_token|token)=/.test(part));
  return url.slice(0, queryStart) + (kept.length > 0 ? `?${kept.join('&')}` : '');
}
