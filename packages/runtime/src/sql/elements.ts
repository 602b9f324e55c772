import type { Operand, Operator } from '../contract/index.ts';
import { listed } from '../contract/operators.ts';
import { type OperandType, printValue } from './operand.ts';
import type { StatementBuilder } from './statement.ts';

/** Looks for elements in something: whether all of a list are in it, or any. */
export interface Container {
  /** The list of one value, as an expression of the container's type. */
  readonly one: (value: string) => string;
  readonly all: (list: string) => string;
  readonly any: (list: string) => string;
  /** A predicate that is null where the container is none; then its negation does not hold either. */
  readonly guarded: (predicate: string) => string;
}

/**
 * Prints `_has`, `_has_any`, `_has_all` and their negations. None of them matches null. An empty list has no element that
 * is there, and none that is missing. Without the caller's value no comparison holds, negated or not.
 */
export function printElements(
  statement: StatementBuilder,
  container: Container,
  type: OperandType,
  operator: Operator,
  operand: Operand,
): string {
  const value = printValue(statement, type, operator, operand);
  const literal = operand.kind === 'literal';
  const list = literal ? value : container.one(value);
  const there = listed.has(operator) && operator.endsWith('_any') ? container.any(list) : container.all(list);
  const predicate = operator.startsWith('_n') ? container.guarded(`NOT ${there}`) : there;
  return literal ? predicate : `(${value} IS NOT NULL AND ${predicate})`;
}

/** An array as a container; GIN indexes on the column know its operators. */
export function arrayContainer(expression: string): Container {
  return {
    one: (value) => `ARRAY[${value}]`,
    all: (list) => `(${expression} @> ${list})`,
    any: (list) => `(${expression} && ${list})`,
    guarded: (predicate) => predicate,
  };
}

/** An array within JSON as a container; a value that is none has no elements and matches nothing. */
export function jsonContainer(statement: StatementBuilder, expression: string): Container {
  const one = (value: string): string => `pg_catalog.jsonb_build_array(${value})`;
  return {
    one,
    all: (list) => `(${expression} @> ${list})`,
    any(list) {
      const alias = statement.alias();
      return `EXISTS (SELECT 1 FROM pg_catalog.jsonb_array_elements(${list}) ${alias}(e) WHERE ${expression} @> ${one(`${alias}.e`)})`;
    },
    guarded: (predicate) => `(CASE pg_catalog.jsonb_typeof(${expression}) WHEN 'array' THEN ${predicate} END)`,
  };
}
