/** JSON of any kind. */
import type { JsonValue } from '../values/json.ts';
import { accept, isStorableText, refuse } from './decoding.ts';
import { castToText, type Decoded, type TypeDefinition } from './definition.ts';

/** Levels to which a JSON value may nest (API specification, section 6). */
export const jsonDepth = 64;

/** How deep a JSON value nests; a scalar is 0. Stops counting after `limit`. */
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
