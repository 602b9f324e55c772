import { elementwise, type Operator } from '../operators/index.ts';
import type { FieldFunction } from '../types/definition.ts';
import { type JsonValue, withNumberTexts } from '../values/parse-text.ts';

/**
 * The right-hand side of a comparison.
 *
 * `literal` keeps the value as written; `text` tells that it came from a query string, so the field's type converts it.
 * `json` tells that the value is a text of JSON, with numbers that a double does not hold: `literalValue` reads it.
 * `members` tells of a path that it leads through members of composite values.
 * `now` is the transaction's start plus an ISO 8601 duration (`P0D` for none). `caller` is a value of the caller,
 * `path` the fields that lead on from it; a missing value makes the whole condition false.
 */
export type Operand =
  | {
      readonly kind: 'literal';
      readonly value: JsonValue;
      readonly text?: true;
      readonly json?: true;
      readonly members?: true;
    }
  | { readonly kind: 'now'; readonly offset: string }
  | { readonly kind: 'caller'; readonly of: 'user' | 'role'; readonly path: readonly string[] };

/**
 * A condition on one row: the normal form of filters, row rules, validations and checks.
 *
 * An empty `and` is true, an empty `or` false. `related` looks through a relation: `one` for m2o (the related row
 * exists and matches), `some` for to-many, `none` for both (no related row matches). Under a many-to-any, `where`
 * describes link rows. There a `related` with the relation `item` and the quantifier `one` looks into the linked item
 * when it is of the collection `item`; `none` says that there is no such item.
 *
 * `_null`, `_nnull`, `_empty` and `_nempty` carry the literal `true`; `_in`, `_nin`, `_between` and `_nbetween` a
 * literal array, or a value of the caller for the first two. So do `_has_any`, `_has_all`, `_overlaps`, `_within` and
 * their negations, where null stands for a range without that end.
 */
export type Condition =
  | { readonly kind: 'and'; readonly of: readonly Condition[] }
  | { readonly kind: 'or'; readonly of: readonly Condition[] }
  | {
      readonly kind: 'compare';
      readonly field: string;
      readonly function?: FieldFunction;
      /** Looks into JSON: the texts of a literal array, one per level. */
      readonly path?: Extract<Operand, { kind: 'literal' }>;
      readonly operator: Operator;
      readonly operand: Operand;
    }
  | {
      readonly kind: 'related';
      readonly relation: string;
      readonly quantifier: 'one' | 'some' | 'none';
      readonly item?: string;
      readonly where: Condition;
    };

/** The condition every row meets. */
export const always: Condition = { kind: 'and', of: [] };

/** The condition no row meets. */
export const never: Condition = { kind: 'or', of: [] };

/** The condition of rows that meet two conditions; those of an `and` stay side by side, and no row stays no row. */
export function both(first: Condition, second: Condition): Condition {
  if (second.kind === 'or' && second.of.length === 0) return second;
  const [before, after] = [partsOf(first), partsOf(second)];
  if (before.length === 0) return second;
  return after.length === 0 ? first : { kind: 'and', of: [...before, ...after] };
}

/** True for the condition that every row meets. */
export function isAlways(condition: Condition): boolean {
  return condition.kind === 'and' && condition.of.length === 0;
}

/** Conditions that all have to hold, so that a condition is met. */
export function partsOf(condition: Condition): readonly Condition[] {
  return condition.kind === 'and' ? condition.of : [condition];
}

/** A condition that `parseFilter` has read, with operands of plain data. */
export function plainCondition(condition: Condition): Condition {
  switch (condition.kind) {
    case 'and':
    case 'or':
      return { ...condition, of: condition.of.map(plainCondition) };
    case 'related':
      return { ...condition, where: plainCondition(condition.where) };
    case 'compare': {
      const within = condition.path !== undefined || elementwise.has(condition.operator) ? 'json' : 'field';
      return { ...condition, operand: plainOperand(condition.operand, within) };
    }
  }
}

/** An operand of plain data. A field takes the text of a number that a double does not hold; JSON needs the number. */
export function plainOperand(operand: Operand, within: 'json' | 'field'): Operand {
  if (operand.kind !== 'literal') return operand;
  const value = withNumberTexts(operand.value);
  const text = JSON.stringify(operand.value);
  if (JSON.stringify(value) === text) return operand;
  return within === 'field' ? { ...operand, value } : { ...operand, value: text, json: true };
}
