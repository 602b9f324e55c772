/** Keys of written items as the API sends them. */

import type { CollectionDescriptor, FieldDescriptor, JsonValue } from '../../language/index.ts';
import { keyFields } from '../../sql/scope.ts';
import type { Keys } from '../decode/keys.ts';

/** The keys in their order: each a value, or an object of the key fields where there are several. */
export function sentKeys(descriptor: CollectionDescriptor, keys: Keys): readonly JsonValue[] {
  const fields = keyFields(descriptor);
  const columns = keys.values.map((text) => (keys.many ? readArray(text) : [text]));
  return Array.from({ length: keys.count }, (_, row): JsonValue => {
    const parts = fields.map((field, index) => [field.name, sent(field, columns[index]?.[row] ?? '')] as const);
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only[1] : Object.fromEntries(parts);
  });
}

/** As `json/transcode.ts` sends it: small integers and floats as numbers, booleans, every other type as its text. */
function sent({ type }: FieldDescriptor, text: string): JsonValue {
  if (type === 'integer' || type === 'float') return Number.isFinite(Number(text)) ? Number(text) : text;
  return type === 'boolean' ? text.startsWith('t') : text;
}

/** The elements of an array's text form with one dimension: `{1,"a,b"}`. A key is never null. */
function readArray(text: string): readonly string[] {
  const elements = text.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/gs) ?? [];
  return elements.map((element) =>
    element.startsWith('"') ? element.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : element,
  );
}
