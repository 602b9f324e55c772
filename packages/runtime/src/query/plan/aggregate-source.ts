import { selectList, where } from '../../dialects/fragment.ts';
import type { Row } from '../../sql/row.ts';

/** The cells that an aggregation looks at, each computed once per row. */
export interface Source {
  readonly row: Row;
  /** Computes an expression of the inner row and returns how it is named outside. */
  column(expression: string): string;
  print(from: string, predicate: string): string;
}

/** Starts the source of an aggregation over the rows that `row` stands for. */
export function createSource(row: Row): Source {
  const alias = row.statement.alias();
  const columns = new Map<string, string>();
  return {
    row,
    column(expression) {
      const name = columns.get(expression) ?? `x${columns.size}`;
      columns.set(expression, name);
      return `${alias}.${name}`;
    },
    print(from, predicate) {
      const selected = [...columns].map(([expression, name]) => `${expression} AS ${name}`);
      return `(SELECT ${selected.length === 0 ? '1' : selectList(selected)} FROM ${from}${where(predicate)}) ${alias}`;
    },
  };
}

/** The same without an inner query: every expression stands where it is used. */
export function createPlainSource(row: Row): Source {
  return {
    row,
    column: (expression) => expression,
    print: (from, predicate) => `${from}${where(predicate)}`,
  };
}
