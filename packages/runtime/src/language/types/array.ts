/** Array of values of another type. */
import { accept, refuse } from './decoding.ts';
import type { Decoded, TypeDefinition } from './definition.ts';

const decode: TypeDefinition['decode'] = (value, facts, elements) => {
  if (!Array.isArray(value)) return refuse('must be an array');
  const decodeElement = elements(facts);
  const parts: (string | null)[] = [];
  for (const item of value) {
    const decoded: Decoded = item === null ? { ok: true, value: null } : decodeElement(item);
    if (!decoded.ok) return decoded;
    parts.push(decoded.value);
  }
  return accept(arrayLiteral(parts));
};

/** The array literal of values in text form: `{1,NULL,"a b"}`. Every value is quoted, so none is read as syntax. */
export function arrayLiteral(values: readonly (string | null)[]): string {
  const parts = values.map((value) => (value === null ? 'NULL' : `"${escapeQuoted(value)}"`));
  return `{${parts.join(',')}}`;
}

/** Most texts hold nothing to escape, which is sooner found out by looking for either. */
function escapeQuoted(text: string): string {
  return text.includes('"') || text.includes('\\') ? text.replace(/["\\]/g, '\\$&') : text;
}

export const array: TypeDefinition = {
  decode,
  comparison: 'array',
  functions: ['count'],
  typescript: { value: 'JsonValue' },
  // As the element of another array.
  schema: { $ref: '#/components/schemas/Dimension' },
  graphql: { value: 'JSON', filter: 'array' },
  hasWiderTexts: true,
  forms: {
    binary: { native: 'text[]', wire: { kind: 'text', array: true } },
    text: { native: 'text', wire: { kind: 'text' } },
  },
};
