/** Result of a route's code → JSON of the type that it declares. */
import type { JsonValue, ObjectShape, Shape } from '../language/index.ts';

/**
 * The JSON of a value. Only the members that the type has are sent: an object with more members also meets the type,
 * and these may be confidential. Throws `TypeError` for a value that is none of the shape.
 */
export function encodeShape(shape: Shape, value: unknown): JsonValue {
  const encoded = encode(shape, value, '');
  if ('misfit' in encoded) throw new TypeError(`The answer is not of its type: ${encoded.misfit}`);
  return encoded.json;
}

/** `lost` counts the members that are not sent. */
type Encoded = { readonly json: JsonValue; readonly lost: number } | { readonly misfit: string };

function encode(shape: Shape, value: unknown, path: string): Encoded {
  switch (shape.kind) {
    case 'json':
      return encodeAny(value, path);
    case 'array':
      return Array.isArray(value) ? encodeElements(shape.of, value, path) : misfit(path, 'is no array');
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
        ? encodeMembers(shape, new Map(Object.entries(value)), path)
        : misfit(path, 'is no object');
    case 'union': {
      // If several types fit, the value is taken for the one that has most of its members.
      const all = shape.of
        .map((alternative) => encode(alternative, value, path))
        .flatMap((encoded) => ('json' in encoded ? [encoded] : []));
      const least = Math.min(...all.map(({ lost }) => lost));
      return all.find(({ lost }) => lost === least) ?? misfit(path, 'is none of its types');
    }
    case 'literal': {
      const found = shape.values.find((literal) => literal === value);
      return found === undefined ? misfit(path, 'is none of its values') : whole(found);
    }
    case 'date':
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? whole(value.toISOString())
        : misfit(path, 'is no time');
    case 'null':
      return value === null ? whole(null) : misfit(path, 'is not null');
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? whole(value) : misfit(path, 'is no number');
    case 'string':
      return typeof value === 'string' ? whole(value) : misfit(path, 'is no text');
    case 'boolean':
      return typeof value === 'boolean' ? whole(value) : misfit(path, 'is neither true nor false');
  }
}

function encodeAny(value: unknown, path: string): Encoded {
  try {
    return whole(toJson(value));
  } catch (error) {
    if (error instanceof TypeError) return misfit(path, 'is no JSON');
    throw error;
  }
}

function encodeElements(shape: Shape, values: readonly unknown[], path: string): Encoded {
  const list: JsonValue[] = [];
  let lost = 0;
  for (const [index, value] of values.entries()) {
    const encoded = encode(shape, value, `${path}[${index}]`);
    if ('misfit' in encoded) return encoded;
    list.push(encoded.json);
    lost += encoded.lost;
  }
  return { json: list, lost };
}

function encodeMembers({ members, rest }: ObjectShape, values: ReadonlyMap<string, unknown>, path: string): Encoded {
  const entries: [string, JsonValue][] = [];
  const names = new Set(members.map(({ name }) => name));
  const others = rest === undefined ? [] : [...values.keys()].filter((name) => !names.has(name));
  let lost = rest === undefined ? [...values.keys()].filter((name) => !names.has(name)).length : 0;
  const all = [
    ...members,
    ...others.map((name) => ({ name, optional: true as const, shape: rest ?? { kind: 'json' as const } })),
  ];
  for (const { name, optional, shape } of all) {
    const value = values.get(name);
    if (value === undefined && optional) continue;
    const encoded = encode(shape, value, path === '' ? name : `${path}.${name}`);
    if ('misfit' in encoded) return encoded;
    entries.push([name, encoded.json]);
    lost += encoded.lost;
  }
  return { json: Object.fromEntries(entries), lost };
}

function whole(json: JsonValue): Encoded {
  return { json, lost: 0 };
}

function misfit(path: string, message: string): Encoded {
  return { misfit: `${path === '' ? 'it' : path} ${message}.` };
}

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
