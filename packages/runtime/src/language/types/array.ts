/** Array of values of another type. */
import type { JsonValue } from '../values/parse-text.ts';
import { accept, refuse } from './decoding.ts';
import type { Decoded, TypeDefinition } from './definition.ts';

const decode: TypeDefinition['decode'] = (value, facts, elements) => {
  if (!Array.isArray(value)) return refuse('must be an array');
  const dimensions = lists.has(facts.element ?? '') ? 1 : dimensionsOf(value);
  if (dimensions > maxDimensions) return refuse(`must not have more than ${maxDimensions} dimensions`);
  return decodeDimension(value, dimensions, elements(facts));
};

/** Types whose values can be arrays, so that an array within one is no dimension. */
const lists: ReadonlySet<string> = new Set(['json', 'vector', 'array']);

const maxDimensions = 6;

/** Arrays within arrays; counting stops beyond the limit. */
function dimensionsOf(value: readonly JsonValue[]): number {
  let dimensions = 1;
  for (let [first] = value; Array.isArray(first) && dimensions <= maxDimensions; [first] = first) dimensions += 1;
  return dimensions;
}

/** Reads one dimension. The parts of each are arrays of one length, all the way down to the elements. */
function decodeDimension(
  value: readonly JsonValue[],
  dimensions: number,
  decodeElement: (element: JsonValue) => Decoded,
): Decoded {
  const parts: (string | null)[] = [];
  const [first] = value;
  for (const item of value) {
    if (dimensions > 1 && !Array.isArray(item)) return refuse('must have arrays of the same depth');
    if (Array.isArray(item) && dimensions > 1 && item.length === 0) return refuse('must not have empty arrays within');
    if (Array.isArray(item) && dimensions > 1 && Array.isArray(first) && item.length !== first.length)
      return refuse('must have arrays of the same length');
    const decoded = decodePart(item, dimensions, decodeElement);
    if (!decoded.ok) return decoded;
    parts.push(decoded.value);
  }
  return accept(dimensions > 1 ? `{${parts.join(',')}}` : arrayLiteral(parts));
}

function decodePart(item: JsonValue, dimensions: number, decodeElement: (element: JsonValue) => Decoded): Decoded {
  if (dimensions > 1 && Array.isArray(item)) return decodeDimension(item, dimensions - 1, decodeElement);
  if (item === null) return { ok: true, value: null };
  const decoded = decodeElement(item);
  return decoded.ok ? decoded : { ...decoded, message: `has an element that ${decoded.message}` };
}

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
