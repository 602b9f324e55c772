import type { Binder } from '../database/binder.ts';
import type { ParameterForm } from '../database/database.ts';
import { postgres, type SqlDialect } from '../dialects/index.ts';
import type { Operand } from '../language/index.ts';

/** A statement while it is printed: hands out aliases and parameters. Equal binders of equal type share one parameter. */
export interface StatementBuilder {
  readonly dialect: SqlDialect;
  /** Notes a table that the statement reads or writes, as its descriptor names it, and gives it back. */
  table(quoted: string): string;
  /** A table alias that no other part of the statement has. */
  alias(): string;
  /** A placeholder with its cast: `$1::int8`. `native` comes from the compiler. */
  parameter(binder: Binder, native: string): string;
  /**
   * End of the next subquery under EXISTS. It is empty for the first ones, which PostgreSQL then turns into joins. All
   * others get a fence, because the time it takes to order so many joins grows with more than their cube.
   */
  fence(): '' | ' OFFSET 0';
  /** Where each operand of the request finds its first value; operands of rules are not listed. */
  readonly open: ReadonlyMap<Operand, number>;
  /**
   * Ends the statement: numbers the parameters that its text kept, in order, and lists their binders. Another text for the
   * same answer takes the same numbers.
   */
  finish(text: string, other?: string): Finished;
}

/** A statement's text with its tables and what its parameters are bound to; their forms where one is no text. */
export interface Finished {
  readonly text: string;
  /** The other text; undefined where it does not take the same parameters. */
  readonly other?: string;
  readonly tables: readonly string[];
  readonly binders: readonly Binder[];
  readonly forms?: readonly ParameterForm[];
}

/** A quoted identifier, a literal, or a placeholder; the first two are stepped over. */
const placeholderPattern = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** Subqueries under EXISTS that one statement lets PostgreSQL turn into joins; eight is its own measure for joins. */
const mostSemiJoins = 8;

/** A value that a statement waits for, in the form in which its server takes it. */
interface Marked {
  readonly binder: Binder;
  readonly form: ParameterForm;
}

/** Starts a statement in a dialect; PostgreSQL's when absent. */
export function createStatement(open: ReadonlyMap<Operand, number>, dialect: SqlDialect = postgres): StatementBuilder {
  const marks: Marked[] = [];
  const placeholders = new Map<string, string>();
  const tables = new Set<string>();
  let aliases = 0;
  let semiJoins = 0;

  /** A predicate that is folded away takes its parameters along, and PostgreSQL wants every number from 1 on used. */
  function finish(text: string, other?: string): Finished {
    const kept: Marked[] = [];
    const numbers = new Map<string, number>();
    const number = (unnumbered: string, used: Set<number>): string =>
      unnumbered.replace(placeholderPattern, (token, index?: string) => {
        const marked = index === undefined ? undefined : marks[Number(index) - 1];
        if (index === undefined || marked === undefined) return token;
        if (dialect.positional) {
          kept.push(marked);
          return '?';
        }
        const position = numbers.get(index) ?? kept.push(marked);
        numbers.set(index, position);
        used.add(position);
        return `$${position}`;
      });
    const numbered = number(text, new Set());
    const binders = kept.map(({ binder }) => binder);
    const forms = kept.every(({ form }) => form === 'text') ? undefined : kept.map(({ form }) => form);
    const used = new Set<number>();
    const numberedOther = other === undefined ? undefined : number(other, used);
    const isSame = kept.length === binders.length && used.size === binders.length;
    return {
      text: numbered,
      ...(isSame && numberedOther !== undefined && { other: numberedOther }),
      tables: [...tables],
      binders,
      ...(forms && { forms }),
    };
  }

  return {
    open,
    dialect,
    finish,
    table(quoted) {
      tables.add(quoted);
      return quoted;
    },
    alias() {
      aliases += 1;
      return `t${aliases - 1}`;
    },
    fence() {
      semiJoins += 1;
      return semiJoins > mostSemiJoins ? dialect.fence : '';
    },
    parameter(binder, native) {
      const key = `${native} ${JSON.stringify(binder)}`;
      const cached = placeholders.get(key);
      if (cached !== undefined) return cached;
      const placeholder = dialect.placeholder(native, (form) => `$${marks.push({ binder, form })}`);
      placeholders.set(key, placeholder);
      return placeholder;
    },
  };
}
