import { invalidQuery } from '../../errors.ts';
import { listOf } from '../../language/conditions/filter-syntax.ts';
import { isStorableText, type JsonValue } from '../../language/index.ts';
import { faultPlace, type ParsedText, parseText } from '../../language/values/parse-text.ts';
import type { Archived } from '../../sql/archived/rows-by-state.ts';
import type { QueryParameter, QueryTree } from './parse-query-string.ts';
import {
  type ExportFormat,
  exportFormats,
  type MetaName,
  type ReadLimits,
  type SortTerm,
  usualLimit,
} from './request.ts';

/*
 * The form of single parameters. They are the same at the top of a request and, under names with `_`, in `deep`.
 */

/** Paths of `fields`, without duplicates; everything when it is absent. */
export function parseFields(tree: QueryTree, limits: ReadLimits): readonly (readonly string[])[] {
  const paths = new Map<string, readonly string[]>();
  const texts = parseList(tree, 'fields');
  if (texts.length > limits.arrayLimit) throw invalidQuery('"fields" has too many elements.');
  for (const text of texts) {
    const path = text.split('.');
    if (path.length > limits.relationalDepth) throw invalidQuery('"fields" names too many relations.');
    paths.set(text, path);
  }
  return paths.size === 0 ? [['*']] : [...paths.values()];
}

/** The terms of `sort`, none of them with an empty name. A name orders once: where it stands again nothing is tied. */
export function parseSort(tree: QueryTree, limits: ReadLimits): readonly SortTerm[] {
  const texts = parseList(tree, 'sort');
  if (texts.length > limits.arrayLimit) throw invalidQuery('"sort" has too many elements.');
  const named = Map.groupBy(texts, (text) => text.replace(/^-/, ''));
  const terms = [...named].map(([name, [text]]): SortTerm => {
    return { path: name.split('.'), descending: text?.startsWith('-') === true };
  });
  for (const { path } of terms) {
    if (path.length > limits.relationalDepth) throw invalidQuery('"sort" names too many relations.');
    if (path.includes('')) throw invalidQuery('"sort" has an empty name.');
  }
  return terms;
}

/** The counts of `meta`, in the order of the answer. */
export function parseMeta(tree: QueryTree, limits: ReadLimits): readonly MetaName[] {
  const names = parseList(tree, 'meta');
  if (names.length > limits.arrayLimit) throw invalidQuery('"meta" has too many elements.');
  for (const name of names) {
    if (name !== 'total_count' && name !== 'filter_count' && name !== '*') {
      throw invalidQuery('"meta" takes total_count, filter_count and *.');
    }
  }
  const both = ['total_count', 'filter_count'] as const;
  return both.filter((name) => names.includes(name) || names.includes('*'));
}

function parseList(tree: QueryTree, name: string): readonly string[] {
  return readNames(tree.get(name), name);
}

/** The format of `export`; undefined when the answer is no file. */
export function parseExport(tree: QueryTree): ExportFormat | undefined {
  const value = tree.get('export')?.value;
  if (value === undefined || value === '') return undefined;
  const format = exportFormats.find((candidate) => candidate === value);
  if (format === undefined) throw invalidQuery(`"export" takes ${exportFormats.join(', ')}.`);
  return format;
}

/** A filter: brackets, native JSON, or JSON as text. */
export function parseFilterParameter(tree: QueryTree): QueryParameter | undefined {
  return parseTree(tree, 'filter');
}

/** A parameter in brackets, as native JSON, or as JSON text; undefined when absent or empty. */
export function parseTree(tree: QueryTree, name: string): QueryParameter | undefined {
  const parameter = tree.get(name);
  if (parameter === undefined || parameter.value === '') return undefined;
  if (typeof parameter.value !== 'string') return parameter;
  return { value: parseJson(parameter.value, name), text: false };
}

/** The items that `archived` asks for; undefined for live ones alone. */
export function parseArchived(tree: QueryTree): Archived | undefined {
  const value = tree.get('archived')?.value;
  if (value === undefined || value === '') return undefined;
  if (value !== 'include' && value !== 'only') throw invalidQuery('"archived" takes include and only.');
  return value;
}

/** The text of `search`; undefined when absent or empty. */
export function parseSearchText(tree: QueryTree, { searchLength }: ReadLimits): string | undefined {
  const value = tree.get('search')?.value;
  if (value === undefined || value === '') return undefined;
  if (typeof value !== 'string') throw invalidQuery('"search" must be one text.');
  if (value.length > searchLength) throw invalidQuery(`"search" must not be longer than ${searchLength} characters.`);
  return value;
}

/** An integer parameter given once; undefined when absent or empty. */
function parseInteger(
  tree: QueryTree,
  name: string,
  least: number,
  maximum = Number.MAX_SAFE_INTEGER,
): number | undefined {
  const value = tree.get(name)?.value;
  if (value === undefined || value === '') return undefined;
  if (Array.isArray(value)) throw invalidQuery(`"${name}" takes one value.`);
  const number = integerOf(value);
  // Texts of other forms, as `1e3` in an address, are no integers.
  const form = typeof value === 'string' && Number.isFinite(Number(value)) && Number.isNaN(number) ? ', in digits' : '';
  if (!(number >= least)) throw invalidQuery(`"${name}" must be an integer of at least ${least}${form}.`);
  if (number > maximum) throw invalidQuery(`"${name}" must not be above ${maximum}.`);
  return number;
}

/** The integer that digits or a number of JSON stand for; NaN for anything else. */
function integerOf(value: JsonValue): number {
  const text = JSON.isRawJSON(value) ? value.rawJSON : value;
  const isNumber = typeof value === 'number' || JSON.isRawJSON(value);
  const number = isNumber || (typeof text === 'string' && /^-?\d+$/.test(text)) ? Number(text) : Number.NaN;
  return Number.isInteger(number) ? number : Number.NaN;
}

/** Rows at most: -1 for all, the default when absent. */
export function parseLimit(tree: QueryTree, limits: ReadLimits): number {
  const { maxLimit } = limits;
  const limit = parseInteger(tree, 'limit', -1, maxLimit);
  if (limit === undefined) return usualLimit(limits);
  return limit === -1 ? (maxLimit ?? limit) : limit;
}

/** Rows to skip: `page` replaces `offset`. */
export function parseOffset(tree: QueryTree, limit: number): number {
  const offset = parseInteger(tree, 'offset', 0) ?? 0;
  const lastPage = limit > 1 ? Math.floor(Number.MAX_SAFE_INTEGER / limit) + 1 : undefined;
  const page = parseInteger(tree, 'page', 0, lastPage);
  if (page === undefined) return offset;
  return limit === -1 ? 0 : Math.max(page - 1, 0) * limit;
}

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
  } catch (error) {
    // SyntaxError, or RangeError where the text nests beyond the stack.
    throw invalidQuery(`"${name}" is not valid JSON${faultPlace(error)}.`);
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
