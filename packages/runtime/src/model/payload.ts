/** Bodies of requests that change the model: closed objects. Everything here throws INVALID_PAYLOAD. */
import { invalidPayload } from '../json/problems.ts';
import { isObject } from '../language/conditions/filter-syntax.ts';
import type { JsonValue } from '../language/index.ts';
import { isStorableText } from '../language/types/decoding.ts';

export type Payload = { readonly [member: string]: JsonValue };

/** Reads one member: gives it back, or throws. */
export type ReadMember = (value: JsonValue, name: string) => JsonValue;

/** Takes an object with none but these members, each as its reader gives it. `where` stands in front of names. */
export function readObject(
  value: JsonValue | undefined,
  members: Readonly<Record<string, ReadMember>>,
  where = '',
): Payload {
  if (value === undefined || !isObject(value)) {
    throw invalidPayload(where === '' ? 'The body must be an object.' : `"${where}" must be an object.`);
  }
  const read = Object.entries(value).map(([name, inner]) => {
    const path = where === '' ? name : `${where}.${name}`;
    const reader = Object.hasOwn(members, name) ? members[name] : undefined;
    if (reader === undefined) throw invalidPayload(`"${path}" is not known here.`);
    return [name, reader(inner, path)] as const;
  });
  return Object.fromEntries(read);
}

export function readList(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  if (!Array.isArray(value) || value.length === 0) throw invalidPayload(`${name} must be a list with elements.`);
  return value;
}

/** Takes a text of so many characters at most. */
export function textMember(longest = Number.POSITIVE_INFINITY): ReadMember {
  return (value, name) => {
    const fits = typeof value === 'string' && isStorableText(value) && value.length <= longest;
    if (fits) return value;
    const limit = Number.isFinite(longest) ? ` of at most ${longest} characters` : '';
    throw invalidPayload(`"${name}" must be a text${limit}.`);
  };
}

export function oneOf(...texts: readonly string[]): ReadMember {
  return (value, name) => {
    if (typeof value === 'string' && texts.includes(value)) return value;
    throw invalidPayload(`"${name}" must be one of ${texts.join(', ')}.`);
  };
}

/** Takes true or false. */
export const flagMember: ReadMember = (value, name) => {
  if (typeof value === 'boolean') return value;
  throw invalidPayload(`"${name}" must be true or false.`);
};

export function integerMember(low: number, high: number): ReadMember {
  return (value, name) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= low && value <= high) return value;
    throw invalidPayload(`"${name}" must be an integer from ${low} to ${high}.`);
  };
}

/** Takes texts without commas: a list of them, or one text with commas between them. Gives the list. */
export const namesMember: ReadMember = (value, name) => {
  const list = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value;
  const fits = Array.isArray(list) && list.every((element) => typeof element === 'string' && /^[^,\0]+$/.test(element));
  if (fits) return list;
  throw invalidPayload(`"${name}" must be a list of texts.`);
};

/** Takes anything. */
export const anyMember: ReadMember = (value) => value;

/** Takes null as well. */
export function orNull(read: ReadMember): ReadMember {
  return (value, name) => (value === null ? null : read(value, name));
}

/** The text of a member, if it is one. */
export function textIn(payload: Payload, name: string): string | undefined {
  const value = payload[name];
  return typeof value === 'string' ? value : undefined;
}

/** The object of a member; empty where there is none. */
export function objectIn(payload: Payload, name: string): Payload {
  const value = payload[name] ?? null;
  return isObject(value) ? value : {};
}

/** Requires fixed members to be as they are: a client may send back the values that it has read. */
export function mustBe(payload: Payload, where: string, fixed: Payload): void {
  for (const [name, value] of Object.entries(fixed)) {
    if (payload[name] === undefined || JSON.stringify(payload[name]) === JSON.stringify(value)) continue;
    throw invalidPayload(`"${where}${name}" cannot be chosen.`);
  }
}
