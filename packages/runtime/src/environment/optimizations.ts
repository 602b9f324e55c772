/** Optimisations of a server. PLATFORM_OPTIMIZE switches each off, for the same bytes, to find faults and measure. */
import type { Reading } from './values.ts';

/** Optimisations by the names that PLATFORM_OPTIMIZE knows. */
export const optimizations = [
  /** The text of a nested read that took least time. */
  'adaptive-plans',
  /** Rows turned into JSON as the server sends them, without a form between. */
  'direct-rows',
  /** Pipelined connections and binary rows; otherwise those of the plain driver. */
  'fast-driver',
  /** Requests of items and GraphQL past the web framework. */
  'fast-path',
  /** Fields whose value the filter of a list says, written without being read. */
  'fixed-fields',
  /** Code for each shape of rows that is written often. */
  'generated-code',
  /** Reads by key that come at once as one statement. */
  'key-batching',
  /** Plans of earlier requests. */
  'plan-cache',
  /** Answers of few short rows as a whole, which are otherwise read in batches. */
  'short-streams',
  /** Writes that answer themselves in one statement. */
  'single-statement',
  /** Larger functions in those that call them. */
  'wide-inlining',
  /** Brief transactions that come at once as one. */
  'write-batching',
] as const;

export type Optimization = (typeof optimizations)[number];

export type Optimizations = ReadonlySet<Optimization>;

/** All of them: the default. */
export const allOptimizations: Optimizations = new Set(optimizations);

export function readOptimizations(text: string): Reading<Optimizations> {
  if (text === 'all') return { value: allOptimizations };
  const names = text === 'none' ? [] : text.split(',').map((name) => name.trim());
  const found = optimizations.filter((name) => names.includes(name));
  return found.length === new Set(names).size
    ? { value: new Set(found) }
    : { problem: `must be "all", "none" or some of ${optimizations.join(', ')}.` };
}
