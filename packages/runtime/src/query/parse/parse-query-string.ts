import { invalidQuery } from '../../errors.ts';
import { isStorableText, type JsonValue, type QueryLimits } from '../../language/index.ts';
import { decodeQueryText } from './target.ts';

/** One parameter of a request: its value, and whether its leaves are text of a query string that types convert. */
export interface QueryParameter {
  readonly value: JsonValue;
  readonly text: boolean;
}

/** The parameters of a request by name, those that are not known left out. */
export type QueryTree = ReadonlyMap<string, QueryParameter>;

/** The parameters of the query language (API specification, section 5.1), and `having`. */
export const parameterNames: ReadonlySet<string> = new Set([
  'fields',
  'filter',
  'search',
  'sort',
  'limit',
  'offset',
  'page',
  'cursor',
  'meta',
  'aggregate',
  'groupBy',
  'having',
  'deep',
  'alias',
  'export',
  'archived',
]);

/** A leaf under construction is text; a branch maps bracket keys, `''` standing for `[]`. */
type Branch = Map<string, Branch | string | string[]>;

/**
 * Splits a raw query string (what follows the `?`) into the known parameters; `names` are these, by default those of the
 * query language.
 *
 * Understands repeated names, `name[]=`, and brackets of any depth up to the limit. Other parameters are ignored; an
 * invalid percent-encoding anywhere is INVALID_QUERY.
 */
export function parseQueryString(
  raw: string,
  limits: QueryLimits,
  names: ReadonlySet<string> = parameterNames,
): QueryTree {
  const roots: Branch = new Map();
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decodeQueryText(equals === -1 ? part : part.slice(0, equals));
    const value = decodeQueryText(equals === -1 ? '' : part.slice(equals + 1));
    addParameter(roots, name, value, limits, names);
  }
  const tree = new Map<string, QueryParameter>();
  for (const [name, node] of roots) tree.set(name, { value: toJson(node, name, limits), text: true });
  return tree;
}

function addParameter(
  tree: Branch,
  name: string,
  value: string,
  limits: QueryLimits,
  names: ReadonlySet<string>,
): void {
  const bracket = name.indexOf('[');
  const root = bracket === -1 ? name : name.slice(0, bracket);
  if (!names.has(root)) return;
  if (!isStorableText(name) || !isStorableText(value)) throw invalidQuery(`"${root}" holds unusable text.`);
  const keys = bracket === -1 ? [] : splitBrackets(name.slice(bracket), root);
  if (keys.length > limits.parseDepth) throw invalidQuery(`"${root}" nests too deep.`);
  insert(tree, [root, ...keys], value, root);
}

/** `[a][b][]` to its keys. */
function splitBrackets(text: string, root: string): readonly string[] {
  if (!text.endsWith(']')) throw invalidQuery(`"${root}" has an unfinished bracket.`);
  const keys = text.slice(1, -1).split('][');
  const odd = keys.some((key) => key.includes('[') || key.includes(']') || key === '__proto__');
  if (odd) throw invalidQuery(`"${root}" has a malformed bracket.`);
  return keys;
}

function insert(branch: Branch, keys: readonly string[], value: string, root: string): void {
  const [key = '', ...rest] = keys;
  const present = branch.get(key);
  if (rest.length > 0) {
    if (present !== undefined && !(present instanceof Map))
      throw invalidQuery(`"${root}" is both a value and a group.`);
    const inner: Branch = present ?? new Map();
    branch.set(key, inner);
    insert(inner, rest, value, root);
    return;
  }
  if (present instanceof Map) throw invalidQuery(`"${root}" is both a value and a group.`);
  if (present === undefined) branch.set(key, value);
  else if (typeof present === 'string') branch.set(key, [present, value]);
  else present.push(value);
}

/** Meaning of digits as keys below a node: names, except where a list is expected; `none` has no names. */
type Digits = 'names' | 'list' | 'none';

const trees: ReadonlySet<string> = new Set(['filter', 'having', 'deep', 'alias']);
const treesWithin: ReadonlySet<string> = new Set(['_filter', '_having', '_some', '_none']);

function digitsBelow(digits: Digits, key: string): Digits {
  if (digits === 'none' || key === '_aggregate') return 'none';
  return key.startsWith('_') && !treesWithin.has(key) ? 'list' : 'names';
}

function toJson(
  node: Branch | string | string[],
  root: string,
  limits: QueryLimits,
  digits: Digits = trees.has(root) ? 'names' : 'none',
): JsonValue {
  if (typeof node === 'string') return node;
  if (Array.isArray(node)) return checkedList(node, root, limits);
  const keys = [...node.keys()];
  if (keys.includes('')) return listWithoutIndexes(node, keys, root, limits);
  const below = (key: string): JsonValue => toJson(node.get(key) ?? '', root, limits, digitsBelow(digits, key));
  if (digits !== 'names' && keys.every((key) => /^\d{1,6}$/.test(key))) {
    const ordered = keys.sort((a, b) => Number(a) - Number(b));
    return checkedList(ordered.map(below), root, limits);
  }
  return Object.fromEntries(keys.map((key) => [key, below(key)]));
}

/** `name[]=a&name[]=b`: elements in order. `name[][key]=v` is one element. */
function listWithoutIndexes(node: Branch, keys: readonly string[], root: string, limits: QueryLimits): JsonValue {
  if (keys.length > 1) throw invalidQuery(`"${root}" mixes a list with named keys.`);
  const elements = node.get('') ?? '';
  if (elements instanceof Map) return [toJson(elements, root, limits)];
  return checkedList(typeof elements === 'string' ? [elements] : elements, root, limits);
}

function checkedList(elements: readonly JsonValue[], root: string, limits: QueryLimits): JsonValue {
  if (elements.length > limits.arrayLimit) throw invalidQuery(`"${root}" has too many elements.`);
  return elements;
}
