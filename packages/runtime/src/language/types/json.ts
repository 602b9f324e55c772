/** JSON of any kind, and objects of members whose types are declared. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, isObject, isStorableText, refuse } from './decoding.ts';
import { castToText, type Decoded, type TypeDefinition } from './definition.ts';

/** Levels to which a JSON value may nest (API specification, section 6). */
export const jsonDepth = 64;

/** Depth of a JSON value; a scalar is 0. Stops counting after `limit`. */
export function depthOf(value: JsonValue, limit: number): number {
  if (value === null || typeof value !== 'object') return 0;
  if (limit === 0) return 1;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner, limit - 1));
  return deepest + 1;
}

function decode(value: JsonValue): Decoded {
  if (depthOf(value, jsonDepth) > jsonDepth) return refuse(`must not nest more than ${jsonDepth} levels`);
  return isStorable(value) ? accept(JSON.stringify(value)) : refuse('holds a character that cannot be stored');
}

/** True if every text in a JSON value, keys included, can be stored; the value must not nest without bound. */
function isStorable(value: JsonValue): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (value === null || typeof value !== 'object') return true;
  return Object.entries(value).every(([key, inner]) => isStorableText(key) && isStorable(inner));
}

export const json: TypeDefinition = {
  decode,
  comparison: 'json',
  functions: ['count'],
  typescript: { value: 'JsonValue' },
  schema: { description: 'Any JSON.' },
  graphql: { value: 'JSON', filter: 'json' },
  readFrom: ['string', 'text', 'json'],
  isUnordered: true,
  forms: {
    binary: { native: 'jsonb', wire: { kind: 'jsonb' } },
    text: { native: 'json', wire: { kind: 'json', cast: castToText } },
  },
};

/** Reads several values by name, written as a whole, as the text of a record. */
const decodeComposite: TypeDefinition['decode'] = (value, { attributes = [] }, elements) => {
  if (!isObject(value)) return refuse('must be an object');
  const names = new Set(attributes.map(({ name }) => name));
  const unknown = Object.keys(value).find((name) => !names.has(name));
  if (unknown !== undefined) return refuse(`has no member ${JSON.stringify(unknown)}`);
  const parts: string[] = [];
  for (const attribute of attributes) {
    const member = Object.hasOwn(value, attribute.name) ? value[attribute.name] : undefined;
    if (member === undefined) return refuse(`needs the member ${JSON.stringify(attribute.name)}`);
    const decoded: Decoded = elements({ attribute })(member);
    if (!decoded.ok)
      return { ...decoded, message: `has a member ${JSON.stringify(attribute.name)} that ${decoded.message}` };
    parts.push(decoded.value === null ? '' : `"${decoded.value.replace(/["\\]/g, '\\$&')}"`);
  }
  return accept(`(${parts.join(',')})`);
};

export const composite: TypeDefinition = {
  decode: decodeComposite,
  comparison: 'composite',
  typescript: { value: 'JsonValue' },
  schema: { type: 'object' },
  graphql: { value: 'JSON', filter: 'composite' },
  isUnordered: true,
  forms: {
    binary: { native: 'text', wire: { kind: 'json' } },
    text: { native: 'text', wire: { kind: 'json', cast: castToText } },
  },
};
