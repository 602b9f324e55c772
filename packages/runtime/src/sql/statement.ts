import type { Operand } from '../contract/index.ts';
import type { Binder } from '../query/plan.ts';

/** A statement while it is printed: hands out aliases and parameters. Equal binders of equal type share one parameter. */
export interface StatementBuilder {
  /** A table alias that no other part of the statement has. */
  alias(): string;
  /** A placeholder with its cast: `$1::int8`. `native` comes from the compiler. */
  parameter(binder: Binder, native: string): string;
  readonly binders: readonly Binder[];
  /** Where each operand of the request finds its first value; operands of rules are not listed. */
  readonly open: ReadonlyMap<Operand, number>;
}

/** Starts a statement. */
export function createStatement(open: ReadonlyMap<Operand, number>): StatementBuilder {
  const binders: Binder[] = [];
  const placeholders = new Map<string, string>();
  let aliases = 0;
  return {
    binders,
    open,
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
