import type { Operand } from '../contract/index.ts';
import type { Binder } from '../query/plan.ts';

/** A statement while it is printed: hands out aliases and parameters. Equal binders of equal type share one parameter. */
export interface StatementBuilder {
  /** A table alias that no other part of the statement has. */
  alias(): string;
  /** A placeholder with its cast: `$1::int8`. `native` comes from the compiler. */
  parameter(binder: Binder, native: string): string;
  /**
   * What ends the next subquery under EXISTS: nothing for the first ones, which PostgreSQL then turns into joins, and a
   * fence for all others, because the time it takes to order so many joins grows with more than their cube.
   */
  fence(): '' | ' OFFSET 0';
  /** Where each operand of the request finds its first value; operands of rules are not listed. */
  readonly open: ReadonlyMap<Operand, number>;
  /** Ends the statement: numbers the parameters that its text kept, in order, and lists their binders. */
  finish(text: string): { readonly text: string; readonly binders: readonly Binder[] };
}

/** A quoted identifier, a literal, or a placeholder; the first two are stepped over. */
const placeholderPattern = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** Subqueries under EXISTS that one statement lets PostgreSQL turn into joins; eight is its own measure for joins. */
const mostSemiJoins = 8;

/** Starts a statement. */
export function createStatement(open: ReadonlyMap<Operand, number>): StatementBuilder {
  const binders: Binder[] = [];
  const placeholders = new Map<string, string>();
  let aliases = 0;
  let semiJoins = 0;

  /** A predicate that is folded away takes its parameters along, and PostgreSQL wants every number from 1 on used. */
  function finish(text: string): { text: string; binders: Binder[] } {
    const kept: Binder[] = [];
    const numbers = new Map<string, number>();
    const numbered = text.replace(placeholderPattern, (token, index?: string) => {
      const binder = index === undefined ? undefined : binders[Number(index) - 1];
      if (index === undefined || binder === undefined) return token;
      const number = numbers.get(index) ?? kept.push(binder);
      numbers.set(index, number);
      return `$${number}`;
    });
    return { text: numbered, binders: kept };
  }

  return {
    open,
    finish,
    alias() {
      aliases += 1;
      return `t${aliases - 1}`;
    },
    fence() {
      semiJoins += 1;
      return semiJoins > mostSemiJoins ? ' OFFSET 0' : '';
    },
    parameter(binder, native) {
      const key = `${native} ${JSON.stringify(binder)}`;
      const known = placeholders.get(key);
      if (known !== undefined) return known;
      binders.push(binder);
      const placeholder = `$${binders.length}::${native}`;
      placeholders.set(key, placeholder);
      return placeholder;
    },
  };
}
