import type { Comparison } from '../types/definition.ts';
import { isNumber, type PortableType, types } from '../types/index.ts';

/** Functions over many rows (API specification, section 5.5). */
export const aggregateFunctions = [
  'count',
  'countDistinct',
  'countAll',
  'sum',
  'sumDistinct',
  'avg',
  'avgDistinct',
  'min',
  'max',
] as const;

/** One function over many rows. */
export type AggregateFunction = (typeof aggregateFunctions)[number];

const names: ReadonlySet<string> = new Set(aggregateFunctions);

/** True if a text names an aggregate function. */
export function isAggregateFunction(name: string): name is AggregateFunction {
  return names.has(name);
}

/** Kind of a function, `Distinct` or not: a number of values, a sum, a mean, or one of the values. */
export type AggregateKind = 'count' | 'sum' | 'avg' | 'min' | 'max';

const kinds: Readonly<Record<AggregateFunction, AggregateKind>> = {
  count: 'count',
  countDistinct: 'count',
  countAll: 'count',
  sum: 'sum',
  sumDistinct: 'sum',
  avg: 'avg',
  avgDistinct: 'avg',
  min: 'min',
  max: 'max',
};

/** The kind of a function. */
export function aggregateKind(name: AggregateFunction): AggregateKind {
  return kinds[name];
}

const ordered: ReadonlySet<Comparison | null> = new Set(['number', 'time', 'text', 'list'] as const);

/** True if a function is defined for fields of a type. Everything can be counted; `countAll` takes no field at all. */
export function aggregateFits(name: AggregateFunction, type: PortableType): boolean {
  const kind = kinds[name];
  if (kind === 'count' || isNumber(type)) return true;
  return kind !== 'sum' && kind !== 'avg' && ordered.has(types[type].comparison);
}
