import type { ParameterForm, TableChange } from '../database/database.ts';
import type { Binder } from '../database/parameter-forms.ts';
import { defaultSql, type SqlDialect } from '../dialects/index.ts';
import { invalidQuery } from '../errors.ts';
import type { Operand } from '../language/index.ts';
import { findOrCreate } from '../language/values/once.ts';
import { printPresence } from './caller-path.ts';
import { printCondition } from './condition.ts';
import type { Finished, StatementBuilder } from './row.ts';

/** A quoted identifier, a literal, or a placeholder; the first two are stepped over. */
const placeholderPattern = /"(?:[^"]|"")*"|'(?:[^']|'')*'|\$(\d+)/g;

/** Subqueries under EXISTS that one statement lets the server turn into joins; servers search all orders of eight. */
const maxSemiJoins = 8;

/** Parameters of a statement at most, which the protocols of all servers count in two bytes. */
const maxParameters = 65_535;

/** A value that a statement waits for, in the form in which its server takes it. */
interface Marked {
  readonly binder: Binder;
  readonly form: ParameterForm;
}

/** Starts a statement in a dialect; `defaultSql` when absent. */
export function createStatement(
  open: ReadonlyMap<Operand, number>,
  dialect: SqlDialect = defaultSql,
): StatementBuilder {
  const marks: Marked[] = [];
  const placeholders = new Map<string, string>();
  const tables = new Set<string>();
  const repeated = new Set<string>();
  const changes: TableChange[] = [];
  const facts: { timed?: true; readOnly?: true } = {};
  let aliases = 0;
  let semiJoins = 0;

  function finish(text: string): Finished {
    return {
      ...numberParameters(text, marks, dialect),
      tables: [...tables],
      ...(changes.length > 0 && { changes }),
      ...(repeated.size > 0 && { repeated }),
      ...facts,
    };
  }
  function table(quoted: string): string {
    if (tables.has(quoted)) repeated.add(quoted);
    tables.add(quoted);
    return quoted;
  }

  return {
    open,
    dialect,
    print: { condition: printCondition, presence: printPresence },
    finish,
    table,
    change(quoted, kind) {
      changes.push({ table: quoted, kind });
      return table(quoted);
    },
    now(...moment) {
      facts.timed = true;
      return dialect.now(...moment);
    },
    calls() {
      facts.readOnly = true;
    },
    alias: () => `t${aliases++}`,
    fence() {
      semiJoins += 1;
      return semiJoins > maxSemiJoins ? dialect.fence : '';
    },
    parameter(binder, native) {
      return findOrCreate(placeholders, `${native} ${JSON.stringify(binder)}`, () =>
        dialect.placeholder(native, (form) => `$${marks.push({ binder, form })}`),
      );
    },
  };
}

/**
 * A predicate that is folded away takes its parameters along: every number from 1 on must be used. Throws INVALID_QUERY
 * for more than `maxParameters`, as values that stand in a text several times may need.
 */
function numberParameters(
  text: string,
  marks: readonly Marked[],
  { positional }: SqlDialect,
): Pick<Finished, 'text' | 'binders' | 'forms' | 'renumber'> {
  const kept: Marked[] = [];
  const numbers = new Map<string, number>();
  const number = (unnumbered: string, used: Set<number>): string =>
    unnumbered.replace(placeholderPattern, (token, index?: string) => {
      const marked = index === undefined ? undefined : marks[Number(index) - 1];
      if (index === undefined || marked === undefined) return token;
      if (positional) {
        kept.push(marked);
        return '?';
      }
      const position = findOrCreate(numbers, index, () => kept.push(marked));
      used.add(position);
      return `$${position}`;
    });
  const numbered = number(text, new Set());
  if (kept.length > maxParameters) throw invalidQuery('The query has too many values.');
  const binders = kept.map(({ binder }) => binder);
  const forms = kept.every(({ form }) => form === 'text') ? undefined : kept.map(({ form }) => form);
  const renumber = (other: string): string | undefined => {
    const used = new Set<number>();
    const numberedOther = number(other, used);
    return kept.length === binders.length && used.size === binders.length ? numberedOther : undefined;
  };
  return { text: numbered, binders, ...(forms && { forms }), renumber };
}
