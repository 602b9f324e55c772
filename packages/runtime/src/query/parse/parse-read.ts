import { invalidQuery, PlatformError } from '../../errors.ts';
import { type FilterObject, isObject } from '../../language/conditions/filter-syntax.ts';
import { aggregateFunctions, isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import { defaultQueryBounds, defaultQueryLimits, type JsonValue } from '../../language/index.ts';
import { parseCursor } from './cursor.ts';
import {
  checkJson,
  parseArchived,
  parseExport,
  parseFields,
  parseFilterParameter,
  parseJson,
  parseLimit,
  parseMeta,
  parseOffset,
  parseSearchText,
  parseSort,
  parseTree,
  readNames,
} from './parse-parameters.ts';
import { parameterNames, type QueryParameter, type QueryTree } from './parse-query-string.ts';
import type {
  AggregateRequest,
  Bounds,
  DeepRequest,
  NamedAggregate,
  NamedOrder,
  ReadLimits,
  ReadRequest,
} from './request.ts';

/** The limits that hold when nothing is configured. */
export const defaultReadLimits: ReadLimits = {
  ...defaultQueryLimits,
  defaultLimit: 100,
  maxLimit: undefined,
  ...defaultQueryBounds,
};

/** Syntax stage of a list: checks the form of every parameter, no name. Throws INVALID_QUERY for the first fault. */
export function parseListRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  const aggregate = parseAggregate(tree, limits);
  const bounds = parseBounds(tree, limits, aggregate);
  const cursor = parseCursor(tree, bounds.limit);
  const exported = parseExport(tree);
  const archived = parseArchived(tree);
  const meta = parseMeta(tree, limits);
  return {
    fields: parseFields(tree, limits),
    filter: parseFilterParameter(tree),
    search: parseSearchText(tree, limits),
    sort: parseSort(tree, limits),
    ...bounds,
    // A file has no place for counts.
    meta: exported === undefined ? meta : [],
    alias: parseAliases(tree, limits),
    deep: parseDeep(tree, limits),
    ...(cursor && { cursor }),
    ...(aggregate && { aggregate }),
    ...(exported && { exported }),
    ...(archived && { archived }),
  };
}

/** The syntax stage of a read by key, to which only `fields`, `filter`, `deep` and `alias` apply. */
export function parseKeyRequest(tree: QueryTree, limits: ReadLimits): ReadRequest {
  if (tree.has('cursor')) throw invalidQuery('"cursor" is for lists.');
  const archived = parseArchived(tree);
  return {
    fields: parseFields(tree, limits),
    filter: parseFilterParameter(tree),
    search: undefined,
    sort: [],
    limit: 1,
    offset: 0,
    meta: [],
    alias: parseAliases(tree, limits),
    deep: parseDeep(tree, limits),
    ...(archived && { archived }),
  };
}

/**
 * Takes the parameters of a body's `query`, which are native JSON. Throws INVALID_QUERY for others than `names`: without
 * a misspelt `filter` a write would reach every item.
 */
export function readBodyQuery(query: JsonValue, names = parameterNames): QueryTree {
  if (!isObject(query)) throw invalidQuery('"query" must be an object.');
  const tree = new Map<string, QueryParameter>();
  for (const [name, value] of Object.entries(query)) {
    if (!names.has(name)) throw invalidQuery(`"query" takes ${[...names].join(', ')}, and no "${name}".`);
    checkJson(value, name);
    if (value !== null) tree.set(name, { value, text: false });
  }
  return tree;
}

/** The body of a SEARCH: a query, and the keys that were named. */
interface SearchRequest {
  readonly request: ReadRequest;
  readonly keys: readonly JsonValue[] | undefined;
}

/**
 * The syntax stage of a SEARCH (API specification, 1.4). An absent body is the plain list.
 *
 * Throws INVALID_PAYLOAD for a body of another form, INVALID_QUERY for a query that is malformed. Named keys are all
 * wanted unless the query has a limit of its own.
 */
export function parseSearch(body: JsonValue | undefined, limits: ReadLimits): SearchRequest {
  const parts = body ?? {};
  if (!isObject(parts)) throw new PlatformError('INVALID_PAYLOAD', 'The body must be an object.');
  if (Object.keys(parts).some((name) => name !== 'query' && name !== 'keys')) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body takes "query" and "keys".');
  }
  const { keys } = parts;
  if (keys !== undefined && !Array.isArray(keys))
    throw new PlatformError('INVALID_PAYLOAD', '"keys" must be an array.');
  const query: QueryTree = readBodyQuery(parts.query ?? {});
  const request = parseListRequest(query, limits);
  if (keys !== undefined && request.cursor !== undefined) throw invalidQuery('"cursor" cannot stand beside "keys".');
  return { request: keys === undefined || query.has('limit') ? request : { ...request, limit: -1 }, keys };
}

/** Keys of `deep` that are parameters of a relation, and their names at the top of a request. */
const parameters: ReadonlyMap<string, string> = new Map([
  ...['filter', 'search', 'sort', 'limit', 'offset', 'page', 'aggregate', 'having', 'archived'].map(
    (name) => [`_${name}`, name] as const,
  ),
  ['_group', 'groupBy'],
]);

/** Every key of `deep` that is a parameter; all others name relations. */
export const deepParameterNames: ReadonlySet<string> = new Set(parameters.keys());

interface Level {
  readonly text: boolean;
  readonly limits: ReadLimits;
  /** Relations that may still be named, and aggregate values and groups that may still be asked for. */
  readonly budget: { relations: number; values: number };
}

/** The syntax stage of `deep`. Keys that are no parameters name relations, which are looked up later. */
function parseDeep(tree: QueryTree, limits: ReadLimits): ReadonlyMap<string, DeepRequest> {
  const deep = parseTree(tree, 'deep');
  if (deep === undefined) return new Map();
  if (!isObject(deep.value)) throw invalidQuery('"deep" must be an object.');
  for (const name of Object.keys(deep.value)) {
    if (parameters.has(name)) throw invalidQuery(`"deep" takes "${name}" under a relation.`);
  }
  const budget = { relations: limits.relations, values: limits.relations };
  return parseRelations({ text: deep.text, limits, budget }, deep.value, []);
}

function parseRelations(level: Level, value: FilterObject, above: readonly string[]): ReadonlyMap<string, DeepRequest> {
  const relations = new Map<string, DeepRequest>();
  for (const [name, inner] of Object.entries(value)) {
    if (!parameters.has(name)) relations.set(name, parseRelation(level, inner, [...above, name]));
  }
  return relations;
}

function parseRelation(level: Level, value: JsonValue, path: readonly string[]): DeepRequest {
  const { limits, budget } = level;
  budget.relations -= 1;
  const isTooMuch = path.length > limits.relationalDepth || budget.relations < 0;
  if (isTooMuch) throw invalidQuery('"deep" names too many relations.');
  if (!isObject(value)) {
    const names = [...parameters.keys()].join(', ');
    throw invalidQuery(`"deep" at "${path.join('.')}" must be an object, unless it is one of ${names}.`);
  }
  const read = namingPlace(path, () => parseOwn(ownParameters(level, value), limits));
  const { aggregate } = read;
  if (aggregate !== undefined) budget.values -= aggregate.values.length + aggregate.groups.length;
  if (budget.values < 0) throw invalidQuery('"deep" asks for too many values.');
  return { ...read, below: parseRelations(level, value, path) };
}

function parseOwn(tree: QueryTree, limits: ReadLimits): Omit<DeepRequest, 'below'> {
  const aggregate = parseAggregate(tree, limits);
  const archived = parseArchived(tree);
  return {
    filter: parseFilterParameter(tree),
    search: parseSearchText(tree, limits),
    sort: parseSort(tree, limits),
    ...parseBounds(tree, limits, aggregate),
    ...(aggregate && { aggregate }),
    ...(archived && { archived }),
  };
}

/** Runs a reader of the parameters of a relation; its errors name them as the request does: `deep[comments][_limit]`. */
function namingPlace<T>(path: readonly string[], read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    const [, word] = /^"(\w+)"/.exec(error.message) ?? [];
    const [key] = [...parameters].find(([, name]) => name === word) ?? [];
    if (key === undefined) throw error;
    throw invalidQuery(error.message.replace(/^"\w+"/, () => `"deep[${[...path, key].join('][')}]"`));
  }
}

/** The parameters of one relation under the names they have at the top, so that both are read alike. */
function ownParameters({ text }: Level, value: FilterObject): QueryTree {
  const tree = new Map<string, QueryParameter>();
  for (const [key, name] of parameters) {
    const member = Object.hasOwn(value, key) ? value[key] : undefined;
    if (member !== undefined && member !== null) tree.set(name, { value: member, text });
  }
  return tree;
}

/** The form of `alias`: names of the answer with those they stand for, without dots or wildcards (5.4). */
function parseAliases(tree: QueryTree, limits: ReadLimits): ReadonlyMap<string, string> {
  const value = parseTree(tree, 'alias')?.value;
  if (value === undefined) return new Map();
  if (!isObject(value)) throw invalidQuery('"alias" must be an object.');
  const entries = Object.entries(value);
  if (entries.length > limits.arrayLimit) throw invalidQuery('"alias" has too many elements.');
  return new Map(entries.map(([name, source]) => [checkName(name), checkName(source)]));
}

function checkName(name: unknown): string {
  const usable = typeof name === 'string' && name !== '' && name !== '*' && !name.includes('.');
  if (!usable) throw invalidQuery('"alias" takes names of one level, without dots.');
  return name;
}

/** True if an aggregation answers one row: it has no groups, so there is nothing to order and no page to cut. */
export function isOneRow({ groups }: AggregateRequest): boolean {
  return groups.length === 0;
}

/** The bounds of a list or of aggregate rows. A single aggregate row has none, even if the request sets some. */
export function parseBounds(tree: QueryTree, limits: ReadLimits, aggregate: AggregateRequest | undefined): Bounds {
  const limit = parseLimit(tree, limits);
  const offset = parseOffset(tree, limit);
  return aggregate !== undefined && isOneRow(aggregate) ? { limit: -1, offset: 0 } : { limit, offset };
}

/**
 * The syntax stage of `aggregate`, `groupBy` and `having`; undefined when a request has none of them.
 *
 * Throws INVALID_QUERY for an unknown function and for every other malformed part.
 */
function parseAggregate(tree: QueryTree, limits: ReadLimits): AggregateRequest | undefined {
  const values = parseValues(tree.get('aggregate'));
  const groups = [...new Set(readNames(tree.get('groupBy'), 'groupBy'))];
  const having = parseHaving(tree.get('having'));
  if (values.length > limits.arrayLimit) throw invalidQuery('"aggregate" has too many elements.');
  if (groups.length > limits.arrayLimit) throw invalidQuery('"groupBy" has too many elements.');
  if (values.length > 0 || groups.length > 0) return { values, groups, having, sort: parseOrder(tree, limits) };
  if (having !== undefined) throw invalidQuery('"having" needs "aggregate" or "groupBy".');
  return undefined;
}

function parseValues(parameter: QueryParameter | undefined): readonly NamedAggregate[] {
  if (parameter === undefined || parameter.value === '') return [];
  const { value, text } = parameter;
  const functions = typeof value === 'string' ? parseJson(value, 'aggregate') : value;
  if (!isObject(functions)) throw invalidQuery('"aggregate" must map functions to fields.');
  return Object.entries(functions).flatMap(([name, fields]) => parseFunction(name, { value: fields, text }));
}

function parseFunction(name: string, parameter: QueryParameter): readonly NamedAggregate[] {
  if (!isAggregateFunction(name)) throw invalidQuery(`"aggregate" takes ${aggregateFunctions.join(', ')}.`);
  const fields = [...new Set(readNames(parameter, 'aggregate'))];
  if (fields.length === 0) throw invalidQuery('"aggregate" has a function without fields.');
  if (fields.length === 1 && fields[0] === '*' && (name === 'count' || name === 'countAll')) {
    return [{ function: name, field: null }];
  }
  if (name === 'countAll') throw invalidQuery('"countAll" counts rows and takes only *.');
  if (fields.includes('*')) throw invalidQuery('"aggregate" takes * for "count" and "countAll", and alone.');
  return fields.map((field) => ({ function: name, field }));
}

function parseHaving(parameter: QueryParameter | undefined): QueryParameter | undefined {
  if (parameter === undefined || parameter.value === '') return undefined;
  if (typeof parameter.value !== 'string') return parameter;
  return { value: parseJson(parameter.value, 'having'), text: false };
}

/** The terms that `sort` names for aggregate rows. Throws INVALID_QUERY. */
export function parseOrder(tree: QueryTree, limits: ReadLimits): readonly NamedOrder[] {
  const terms = readNames(tree.get('sort'), 'sort').map((text) => {
    const descending = text.startsWith('-');
    return { name: descending ? text.slice(1) : text, descending };
  });
  if (terms.length > limits.arrayLimit) throw invalidQuery('"sort" has too many elements.');
  if (terms.some(({ name }) => name === '')) throw invalidQuery('"sort" has an empty name.');
  return terms;
}
