import { isDeepStrictEqual } from 'node:util';
import { type Condition, definitions, type Operand, type Operator } from '@tablewright/runtime/language';
import type { ColumnFacts, FactsIndex } from './column-facts.ts';
import {
  type Comparison,
  type Constraint,
  compareValues,
  constraintText,
  holdsOnNull,
  meets,
  readConstraint,
} from './constraint.ts';

/** Number of conjunctions that are looked at for one answer; alternatives multiply. */
const maxCases = 500;

type Related = Extract<Condition, { kind: 'related' }>;

/**
 * Reason why no row of a collection can meet all conditions, as a sentence without its full stop; null when one may.
 *
 * Sound but not complete: it answers only what follows from the comparisons and from the possible values of the
 * columns. It keeps silent where that takes too long.
 */
export function findContradiction(
  index: FactsIndex,
  collection: string,
  conditions: readonly Condition[],
): string | null {
  return new ContradictionSearch(index).contradictionIn(collection, conditions);
}

class ContradictionSearch {
  readonly #index: FactsIndex;
  #cases = 0;

  constructor(index: FactsIndex) {
    this.#index = index;
  }

  contradictionIn(collection: string, parts: readonly Condition[]): string | null {
    this.#cases += 1;
    if (this.#cases > maxCases) return null;
    const flat = parts.flatMap(conjuncts);
    const found = this.#inComparisons(collection, flat) ?? this.#inRelations(collection, flat);
    return found ?? this.#inAlternatives(collection, flat);
  }

  #inComparisons(collection: string, parts: readonly Condition[]): string | null {
    const comparisons = [...parts, ...this.#impliedBy(collection, parts)]
      .filter((part) => part.kind === 'compare')
      .filter(isWhole);
    const groups = Map.groupBy(comparisons, (part) => JSON.stringify([part.field, part.function]));
    for (const group of groups.values()) {
      const found = this.#inColumn(collection, group);
      if (found !== null) return found;
    }
    return null;
  }

  #inColumn(collection: string, group: readonly Comparison[]): string | null {
    const [first] = group;
    const facts: ColumnFacts | undefined = first && this.#index.facts(collection, first.field, first.function);
    if (first === undefined || facts === undefined) return null;
    const constraints = group.map((comparison) => readConstraint(facts, comparison));
    const reason = columnContradiction(facts, constraints);
    const name = first.function === undefined ? first.field : `${first.function}(${first.field})`;
    return reason === null ? null : `"${name}" ${reason}`;
  }

  /** Conditions that parts imply: where a many-to-one is looked through, its key is there. */
  #impliedBy(collection: string, parts: readonly Condition[]): readonly Condition[] {
    return parts.flatMap((part): readonly Condition[] => {
      const looks = part.kind === 'related' && part.quantifier !== 'none';
      const relation = looks ? this.#index.relation(collection, part.relation) : undefined;
      if (relation?.kind !== 'm2o' || relation.field === null) return [];
      return [
        { kind: 'compare', field: relation.field, operator: '_nnull', operand: { kind: 'literal', value: true } },
      ];
    });
  }

  /** Conditions on a to-one relation concern the same row; to-many conditions may each concern another row. */
  #inRelations(collection: string, parts: readonly Condition[]): string | null {
    const related = parts.filter((part) => part.kind === 'related');
    const single = related.filter(({ quantifier }) => quantifier === 'one');
    const groups = Map.groupBy(single, ({ relation, item }) => JSON.stringify([relation, item]));
    const rows = [
      ...groups.values(),
      ...related.filter(({ quantifier }) => quantifier === 'some').map((part) => [part]),
    ];
    for (const row of rows) {
      const found = this.#behind(collection, row);
      if (found !== null) return found;
    }
    return withoutAny(related);
  }

  #behind(collection: string, row: readonly Related[]): string | null {
    const [first] = row;
    const target = first && (first.item ?? this.#index.relation(collection, first.relation)?.target);
    if (first === undefined || target === undefined) return null;
    const found = this.contradictionIn(
      target,
      row.map(({ where }) => where),
    );
    return found === null ? null : `behind "${first.item ?? first.relation}", ${found}`;
  }

  #inAlternatives(collection: string, parts: readonly Condition[]): string | null {
    for (const part of parts) {
      if (part.kind !== 'or') continue;
      if (part.of.length === 0) return 'an empty _or matches nothing';
      const others = parts.filter((other) => other !== part);
      const found = part.of.map((alternative) => this.contradictionIn(collection, [...others, alternative]));
      const [reason] = found;
      if (found.every((contradiction) => contradiction !== null)) return reason ?? null;
    }
    return null;
  }
}

/** A value at a path within JSON has no known type. */
function isWhole({ path }: Comparison): boolean {
  return path === undefined;
}

/** No related row at all, and yet one. */
function withoutAny(related: readonly Related[]): string | null {
  const empty = related.filter(({ quantifier, where }) => quantifier === 'none' && conjuncts(where).length === 0);
  const found = empty.find(({ relation, item }) =>
    related.some((other) => other.quantifier !== 'none' && other.relation === relation && other.item === item),
  );
  return found === undefined ? null : `"${found.relation}" cannot be empty and have a matching item together`;
}

/** The parts of a conjunction that are none themselves. */
function conjuncts(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of.flatMap(conjuncts) : [condition];
}

/** Reason why no value of a column, nor null, can meet all constraints, to follow its name; null when one may. */
function columnContradiction(facts: ColumnFacts, constraints: readonly Constraint[]): string | null {
  if (admitsNull(facts, constraints) || admitsValue(facts, constraints)) return null;
  const isKey = constraints.some(({ operand, values }) => operand.kind === 'caller' && values !== null);
  const texts = [...new Set(constraints.map(constraintText))];
  const terms = texts.length > 1 ? `cannot meet ${texts.slice(0, -1).join(', ')} and ${texts.at(-1)} together` : null;
  return `${terms ?? `never meets ${texts.join()}`}${isKey ? ', because keys of users and roles are uuids' : ''}`;
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

function boundsOf(constraints: readonly Constraint[], open: Operator, closed: Operator, end: 0 | 1) {
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

/**
 * True if every row that meets `left` meets `right`, as far as their forms tell; false where that is not certain.
 * A rule is false as a whole where a value of the caller is missing, so `right` may use only values that `left` uses.
 */
export function implies(left: Condition, right: Condition): boolean {
  const used = callerValues(left);
  return (
    callerValues(right).every((value) => used.some((other) => isDeepStrictEqual(value, other))) && covers(left, right)
  );
}

function covers(left: Condition, right: Condition): boolean {
  if (isDeepStrictEqual(left, right)) return true;
  if (right.kind === 'and') return right.of.every((part) => covers(left, part));
  if (left.kind === 'or') return left.of.length > 0 && left.of.every((part) => covers(part, right));
  if (right.kind === 'or') return right.of.some((part) => covers(left, part));
  return conjuncts(left).some((part) => coversOne(part, right));
}

function coversOne(left: Condition, right: Condition): boolean {
  if (isDeepStrictEqual(left, right)) return true;
  if (left.kind === 'or') return covers(left, right);
  return left.kind === 'compare' && right.kind === 'compare' && narrows(left, right);
}

/** `_eq a` is among `_in [a, b]`; a comparison that is false on null implies a value. */
function narrows(left: Comparison, right: Comparison): boolean {
  if (left.field !== right.field || left.function !== right.function) return false;
  // A value at a path within JSON is compared by its own kind, which is unknown.
  if (left.path !== undefined || right.path !== undefined) return false;
  if (right.operator === '_nnull') return !holdsOnNull(left);
  if (right.operator !== '_in') return false;
  const [listed, allowed] = [listOf(left), listOf(right)];
  return listed !== null && allowed !== null && listed.every((value) => allowed.includes(value));
}

/** The values of an equation as JSON; null for other comparisons, and for values that a request decides. */
function listOf({ operator, operand }: Comparison): readonly string[] | null {
  if (operand.kind !== 'literal' || (operator !== '_eq' && operator !== '_in')) return null;
  const { value } = operand;
  const values = operator === '_in' && Array.isArray(value) ? value : [value];
  return values.map((value) => JSON.stringify(value));
}

export function callerValues(condition: Condition): readonly Operand[] {
  if (condition.kind === 'compare') return condition.operand.kind === 'caller' ? [condition.operand] : [];
  return condition.kind === 'related' ? callerValues(condition.where) : condition.of.flatMap(callerValues);
}
