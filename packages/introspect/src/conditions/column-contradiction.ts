import { definitions, type Operator } from '@tablewright/runtime/language';
import type { ColumnFacts } from './column-facts.ts';
import { type Constraint, compareValues, constraintText, holdsOnNull, meets } from './constraint.ts';

/**
 * Reason why no value of a column, and not null either, can meet all constraints; null when one may. It is the end of a
 * sentence that begins with the column's name. Says so only where it is certain.
 */
export function columnContradiction(facts: ColumnFacts, constraints: readonly Constraint[]): string | null {
  if (admitsNull(facts, constraints) || admitsValue(facts, constraints)) return null;
  const texts = [...new Set(constraints.map(constraintText))];
  const terms = texts.length > 1 ? `cannot meet ${texts.slice(0, -1).join(', ')} and ${texts.at(-1)} together` : null;
  return terms ?? `never meets ${texts.join()}`;
}

function admitsNull({ nullable }: ColumnFacts, constraints: readonly Constraint[]): boolean {
  return nullable && constraints.every(holdsOnNull);
}

function admitsValue(facts: ColumnFacts, constraints: readonly Constraint[]): boolean {
  if (constraints.some(({ operator }) => operator === '_null')) return false;
  if (haveOpposites(constraints)) return false;
  const candidates = candidatesOf(facts, constraints);
  if (candidates !== null) return candidates.some((value) => isPossible(facts, value, constraints));
  return !isTooLong(facts, constraints) && !isEmptyRange(facts, constraints) && !haveEndsApart(facts, constraints);
}

/** Two operators that exclude each other on any one operand. */
function haveOpposites(constraints: readonly Constraint[]): boolean {
  const stated = new Set(constraints.map(keyOf));
  return constraints.some((constraint) =>
    definitions[constraint.operator].excludes?.some((operator) => stated.has(keyOf({ ...constraint, operator }))),
  );
}

function keyOf({ operator, operand }: { readonly operator: string; readonly operand: unknown }): string {
  return JSON.stringify([operator, operand]);
}

/** Integers between two bounds that are few enough to be tried. */
const fewIntegers = 256n;

/** All values that some constraint, or the column itself, allows at most; null when they cannot be listed. */
function candidatesOf(facts: ColumnFacts, constraints: readonly Constraint[]): readonly string[] | null {
  const lists = constraints.flatMap(({ operator, values }) => {
    if (operator === '_empty' && facts.exact) return [['']];
    return (operator === '_eq' || operator === '_in') && values !== null ? [values] : [];
  });
  const all = facts.values === null ? lists : [...lists, facts.values];
  const [shortest] = [...all].sort((shorter, other) => shorter.length - other.length);
  return shortest ?? integersBetween(facts, constraints);
}

function integersBetween(facts: ColumnFacts, constraints: readonly Constraint[]): readonly string[] | null {
  if (facts.range === null) return null;
  const low = lowest(facts.range[0], constraints);
  const high = highest(facts.range[1], constraints);
  if (high - low >= fewIntegers) return null;
  return Array.from({ length: high < low ? 0 : Number(high - low) + 1 }, (_, index) => String(low + BigInt(index)));
}

function lowest(start: bigint, constraints: readonly Constraint[]): bigint {
  return constraints.reduce((low, { operator, values }) => {
    const bound = values?.[0] === undefined ? low : BigInt(values[0]);
    if (operator === '_gte' || operator === '_between') return bound > low ? bound : low;
    return operator === '_gt' && bound >= low ? bound + 1n : low;
  }, start);
}

function highest(start: bigint, constraints: readonly Constraint[]): bigint {
  return constraints.reduce((high, { operator, values }) => {
    const last = values?.at(-1);
    const bound = last === undefined ? high : BigInt(last);
    if (operator === '_lte' || operator === '_between') return bound < high ? bound : high;
    return operator === '_lt' && bound <= high ? bound - 1n : high;
  }, start);
}

function isPossible(facts: ColumnFacts, value: string, constraints: readonly Constraint[]): boolean {
  const fits = facts.maxLength === null || [...value].length <= facts.maxLength;
  const listed = facts.values === null || !facts.exact || facts.values.includes(value);
  return (
    listed &&
    fits &&
    isInRange(facts, value) &&
    constraints.every((constraint) => meets(facts, value, constraint) !== false)
  );
}

function isInRange({ range }: ColumnFacts, value: string): boolean {
  return range === null || (BigInt(value) >= range[0] && BigInt(value) <= range[1]);
}

/** A part of a text is no longer than the text. */
function isTooLong({ maxLength, exact }: ColumnFacts, constraints: readonly Constraint[]): boolean {
  const parts: readonly Operator[] = ['_contains', '_starts_with', '_ends_with'];
  return constraints.some(
    ({ operator, values }) =>
      exact && maxLength !== null && parts.includes(operator) && [...(values?.[0] ?? '')].length > maxLength,
  );
}

interface Bound {
  readonly value: string;
  readonly open: boolean;
}

/** A lower bound above an upper one, or equal to it where one of them is excluded. */
function isEmptyRange(facts: ColumnFacts, constraints: readonly Constraint[]): boolean {
  const lows = boundsOf(constraints, '_gt', '_gte', 0);
  const highs = boundsOf(constraints, '_lt', '_lte', 1);
  return lows.some((low) =>
    highs.some((high) => {
      const order = compareValues(facts, low.value, high.value);
      return order !== undefined && (order > 0 || (order === 0 && (low.open || high.open)));
    }),
  );
}

function boundsOf(constraints: readonly Constraint[], open: Operator, closed: Operator, end: 0 | 1): readonly Bound[] {
  return constraints.flatMap(({ operator, values }) => {
    const value = operator === '_between' ? values?.[end] : values?.[0];
    if (value === undefined || (operator !== open && operator !== closed && operator !== '_between')) return [];
    return [{ value, open: operator === open }];
  });
}

/** Two beginnings, or two ends, of which neither continues the other. */
function haveEndsApart({ exact }: ColumnFacts, constraints: readonly Constraint[]): boolean {
  const textsOf = (requested: Operator) =>
    constraints.flatMap(({ operator, values }) => (operator === requested ? (values ?? []) : []));
  const apart = (texts: readonly string[], fits: (text: string, other: string) => boolean) =>
    texts.some((text) => texts.some((other) => !fits(text, other) && !fits(other, text)));
  if (!exact) return false;
  const starts = apart(textsOf('_starts_with'), (start, other) => start.startsWith(other));
  return starts || apart(textsOf('_ends_with'), (end, other) => end.endsWith(other));
}
