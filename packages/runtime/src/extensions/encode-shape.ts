/** What the code of a route gives → JSON of the type that it says. */
import type { JsonValue, ObjectShape, Shape } from '../contract/index.ts';
import { toJson } from './json.ts';

/**
 * The JSON of a value. Of objects only the members that the type has are sent: a type is met by objects with more of
 * them, which may be nobody's business. Throws `TypeError` for a value that is none of the shape.
 */
export function encodeShape(shape: Shape, value: unknown): JsonValue {
  const encoded = encode(shape, value, '');
  if ('misfit' in encoded) throw new TypeError(`The answer is not of its type: ${encoded.misfit}`);
  return encoded.json;
}

type Encoded = { readonly json: JsonValue } | { readonly misfit: string };

function encode(shape: Shape, value: unknown, path: string): Encoded {
  switch (shape.kind) {
    case 'json':
      return { json: toJson(value) };
    case 'array':
      return Array.isArray(value) ? encodeElements(shape.of, value, path) : misfit(path, 'is no array');
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
        ? encodeMembers(shape, new Map(Object.entries(value)), path)
        : misfit(path, 'is no object');
    case 'union': {
      const all = shape.of.map((one) => encode(one, value, path));
      return all.find((one) => 'json' in one) ?? misfit(path, 'is none of its types');
    }
    case 'literal': {
      const found = shape.values.find((one) => one === value);
      return found === undefined ? misfit(path, 'is none of its values') : { json: found };
    }
    case 'date':
      return value instanceof Date && !Number.isNaN(value.getTime())
        ? { json: value.toISOString() }
        : misfit(path, 'is no time');
    case 'null':
      return value === null ? { json: null } : misfit(path, 'is not null');
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? { json: value } : misfit(path, 'is no number');
    case 'string':
      return typeof value === 'string' ? { json: value } : misfit(path, 'is no text');
    case 'boolean':
      return typeof value === 'boolean' ? { json: value } : misfit(path, 'is neither true nor false');
  }
}

function encodeElements(of: Shape, values: readonly unknown[], path: string): Encoded {
  const list: JsonValue[] = [];
  for (const [index, value] of values.entries()) {
    const encoded = encode(of, value, `${path}[${index}]`);
    if ('misfit' in encoded) return encoded;
    list.push(encoded.json);
  }
  return { json: list };
}

function encodeMembers({ members, rest }: ObjectShape, values: ReadonlyMap<string, unknown>, path: string): Encoded {
  const entries: [string, JsonValue][] = [];
  const names = new Set(members.map(({ name }) => name));
  const others = rest === undefined ? [] : [...values.keys()].filter((name) => !names.has(name));
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
  }
  return { json: Object.fromEntries(entries) };
}

function misfit(path: string, message: string): Encoded {
  return { misfit: `${path === '' ? 'it' : path} ${message}.` };
}
