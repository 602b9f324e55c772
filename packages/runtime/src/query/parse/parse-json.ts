import { invalidQuery } from '../../errors.ts';
import { listOf } from '../../language/conditions/filter-syntax.ts';
import { isStorableText, type JsonValue } from '../../language/index.ts';
import { type ParsedText, parseText } from '../../language/values/parse-text.ts';
import type { QueryParameter } from './parse-query-string.ts';

/**
 * Reads JSON text of a query parameter (API specification, 1.3).
 *
 * A number that a double cannot be trusted with becomes a `RawNumber`. Object keys that stand twice or could reach a
 * prototype, and text that cannot be stored, are refused.
 */
export function parseJson(text: string, name: string): JsonValue {
  let parsed: ParsedText;
  try {
    parsed = parseText(text);
  } catch {
    // SyntaxError, or RangeError where the text nests beyond the stack.
    throw invalidQuery(`"${name}" is not valid JSON.`);
  }
  const { value, repeated } = parsed;
  checkJson(value, name, 0);
  if (repeated !== null) throw invalidQuery(`"${name}" has the key "${repeated.key}" twice, at ${repeated.path}.`);
  return value;
}

/** Nesting beyond which no parameter is read; far above every limit that has a meaning, and below the stack's. */
const deepest = 500;

/** Refuses keys and text that no query may hold; for JSON that was parsed elsewhere. */
export function checkJson(value: JsonValue, name: string, depth = 0): void {
  if (typeof value === 'string' && !isStorableText(value)) throw invalidQuery(`"${name}" holds unusable text.`);
  if (value === null || typeof value !== 'object') return;
  if (depth > deepest) throw invalidQuery(`"${name}" nests too deep.`);
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__' || (key === 'constructor' && holdsPrototype(inner)) || !isStorableText(key)) {
      throw invalidQuery(`"${name}" holds a key that is not allowed.`);
    }
    checkJson(inner, name, depth + 1);
  }
}

function holdsPrototype(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype');
}

/**
 * Reads a list of names in any of its forms: comma text, a JSON array as text, an array. Empty elements are dropped.
 *
 * Throws INVALID_QUERY for anything else; `name` is the parameter's, for the message.
 */
export function readNames(parameter: QueryParameter | undefined, name: string): readonly string[] {
  if (parameter === undefined) return [];
  const { value, text } = parameter;
  // Below a name, brackets keep indexes as names.
  const listed = text ? (listOf(value) ?? value) : value;
  const elements = typeof listed === 'string' ? splitText(listed, name) : listed;
  if (!Array.isArray(elements)) throw invalidQuery(`"${name}" must be a list.`);
  return elements.flatMap((element) => {
    if (typeof element !== 'string') throw invalidQuery(`"${name}" must be a list of names.`);
    return (text ? element.split(',').map((part) => part.trim()) : [element]).filter((part) => part !== '');
  });
}

function splitText(text: string, name: string) {
  return text.startsWith('[') ? parseJson(text, name) : text.split(',').map((part) => part.trim());
}
