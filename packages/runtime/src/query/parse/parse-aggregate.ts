import { invalidQuery } from '../../errors.ts';
import { isObject } from '../../language/conditions/filter-syntax.ts';
import { isAggregateFunction } from '../../language/descriptors/aggregates.ts';
import { parseJson, readNames } from './parse-json.ts';
import { parseLimit, parseOffset } from './parse-parameters.ts';
import type { QueryParameter, QueryTree } from './parse-query-string.ts';
import type { AggregateRequest, Bounds, NamedAggregate, NamedOrder, ReadLimits } from './request.ts';

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
export function parseAggregate(tree: QueryTree, limits: ReadLimits): AggregateRequest | undefined {
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
  if (!isAggregateFunction(name)) throw invalidQuery('"aggregate" names an unknown function.');
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
