import { invalidQuery } from '../../errors.ts';
import { listOf } from '../../language/conditions/filter-syntax.ts';
import { parseJson } from './parse-json.ts';
import type { QueryParameter } from './parse-query-string.ts';

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
