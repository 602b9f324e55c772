import type { JsonKind } from '../operators/definition.ts';
import { definitions, type Operator } from '../operators/index.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';
import type { Operand } from './condition.ts';
import { literalValue } from './operand.ts';

/*
 * JSON in filters: paths are JSON Pointers (RFC 6901), `/address/city`, `/tags/0`, which are read alike as a key of JSON
 * and in brackets. The value that is written beside the operator decides how to compare.
 */

/** Segments of a path at most: as deep as JSON values may nest. */
const maxSegments = 64;

/** True if a key of a filter is written as a path into JSON. */
export function isPointer(key: string): boolean {
  return key.startsWith('/');
}

/** The segments of a JSON Pointer; undefined where an escape is none, or the path is too long. */
export function readPointer(key: string): readonly string[] | undefined {
  const segments = key.slice(1).split('/');
  if (segments.length > maxSegments || segments.some((segment) => /~(?![01])/.test(segment))) return undefined;
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The kind of one JSON value; undefined for null, arrays and objects. */
export function kindOf(value: JsonValue): JsonKind | undefined {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number' || JSON.isRawJSON(value)) return 'number';
  return typeof value === 'boolean' ? 'boolean' : undefined;
}

/** The kind that an operand within JSON is compared as: that of its value or of its first one; text where none is. */
export function jsonKind(operand: Operand): JsonKind {
  if (operand.kind !== 'literal') return 'text';
  const value = literalValue(operand);
  const [first = '']: readonly JsonValue[] = Array.isArray(value) ? value : [value];
  return kindOf(first) ?? 'text';
}

/** Types of parameters, by the kind of value that is written as one. */
export const jsonTypes: Readonly<Record<JsonKind, ValueType & { readonly native: string }>> = {
  text: { type: 'text', native: 'text' },
  number: { type: 'decimal', native: 'numeric' },
  boolean: { type: 'boolean', native: 'bool' },
};

/** Text of a query string as the JSON scalar it writes: `1`, `true`, `null`, `"1"`. Any other text is itself. */
export function readScalar(text: string): JsonValue {
  if (!/^(?:-?\d[\d.]{0,39}(?:[eE][+-]?\d{1,2})?|true|false|null|".*")$/s.test(text)) return text;
  try {
    const value: JsonValue = JSON.parse(text);
    // The number keeps all its digits as written.
    return typeof value === 'number' ? JSON.rawJSON(text) : value;
  } catch {
    return text;
  }
}

export function jsonOperatorFits(operator: Operator, kind: JsonKind): boolean {
  return definitions[operator].kinds?.includes(kind) !== false;
}
