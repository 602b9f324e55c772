import type { Operand } from '../contract/index.ts';
import type { Binder } from '../query/plan.ts';

/** A statement while it is printed: hands out aliases and parameters. Equal binders of equal type share one parameter. */
export interface StatementBuilder {
  /** A table alias that no other part of the statement has. */
  alias(): string;
  /** A placeholder with its cast: `$1::int8`. `native` comes from the compiler. */
  parameter(binder: Binder, native: string): string;
  /** Where each operand of the request finds its first value; operands of rules are not listed. */
  readonly open: ReadonlyMap<Operand, number>;
  /** Ends the statement: numbers the parameters that its text kept, in order, and lists their binders. */
  finish(text: string): { readonly text: string; readonly binders: readonly Binder[] };
}

/** A quoted identifier, a literal, or a placeholder; the first two are stepped over. */
const placeholderPattern = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** Starts a statement. */
export function createStatement(open: ReadonlyMap<Operand, number>): StatementBuilder {
  const binders: Binder[] = [];
  const placeholders = new Map<string, string>();
  let aliases = 0;

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
