/** Data of a project's code → JSON as a body would hold it. */
import type { JsonValue } from '../language/index.ts';

/** Nesting beyond which nothing is sensible data any more; a value that contains itself ends here. */
const deepest = 500;

/**
 * A copy as JSON: times as ISO 8601, big integers as their digits. Undefined members are left out, and numbers keep
 * their digits as they are. Throws `TypeError` for functions, symbols and numbers that JSON has not.
 */
export function toJson(value: unknown, depth = 0): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || depth > deepest) throw new TypeError('A value of an extension is no JSON.');
  if (JSON.isRawJSON(value)) return value;
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map((element: unknown) => toJson(element, depth + 1));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, toJson(member, depth + 1)]));
}
