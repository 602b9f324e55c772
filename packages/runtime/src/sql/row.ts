import type { ParameterForm, Statement, TableChange } from '../database/database.ts';
import type { Binder } from '../database/parameter-forms.ts';
import type { SqlDialect } from '../dialects/index.ts';
import type {
  CallerOperand,
  CollectionDescriptor,
  ColumnPair,
  Condition,
  ManyToAny,
  Operand,
} from '../language/index.ts';
import { derivedOnce } from '../language/values/once.ts';
import type { CollectionScope, Scope } from './scope.ts';

/** Prints conditions, in which cells stand that other conditions guard. */
interface ConditionPrinter {
  readonly condition: (row: Row, condition: Condition) => string;
  /** A predicate that holds when a path from the caller leads to a value. */
  readonly presence: (printing: Printing, operand: CallerOperand) => string;
}

/** A statement while it is printed: hands out aliases and parameters. Equal binders of equal type share one parameter. */
export interface StatementBuilder {
  readonly dialect: SqlDialect;
  /** Notes a table that the statement reads or writes, as its descriptor names it, and gives it back. */
  table(quoted: string): string;
  /** Notes a table that the statement changes, and gives it back. */
  change(quoted: string, kind: TableChange['kind']): string;
  /** A moment: the time of the transaction plus an offset. Notes that the answer depends on the time. */
  now: SqlDialect['now'];
  /** Notes that it calls a function of the database. */
  calls(): void;
  /** A table alias that no other part of the statement has. */
  alias(): string;
  /** A placeholder with its cast: `$1::int8`. `native` comes from the compiler. */
  parameter(binder: Binder, native: string): string;
  /**
   * End of the next subquery under EXISTS. It is empty for the first ones, which the database then turns into joins. All
   * others get a fence, because the time it takes to order so many joins grows with more than their cube.
   */
  fence(): '' | ' OFFSET 0';
  /** Prints what cells and conditions contain: given, because they contain each other. */
  readonly print: ConditionPrinter;
  /** Index of the first value of each operand of the request; operands of rules are not listed. */
  readonly open: ReadonlyMap<Operand, number>;
  /** Ends the statement: numbers the parameters that its text kept, in order, and lists their binders. */
  finish(text: string): Finished;
}

/** A statement's text with its tables and what its parameters are bound to; their forms where one is no text. */
export interface Finished extends Pick<Statement, 'changes' | 'timed' | 'repeated' | 'readOnly'> {
  readonly text: string;
  readonly tables: readonly string[];
  readonly binders: readonly Binder[];
  readonly forms?: readonly ParameterForm[];
  /** Another text for the same answer, with the same numbers; undefined where it does not take the same parameters. */
  readonly renumber: (text: string) => string | undefined;
}

/** Context in which a statement is printed: the statement, and the scope that decides what is visible. */
export interface Printing {
  readonly statement: StatementBuilder;
  readonly scope: Scope;
}

/**
 * One row of a collection while SQL is printed: the meaning of names on it.
 *
 * `column` takes a quoted column of the collection's table to an expression. On a page it also notes that the page has
 * to select the column.
 */
export interface Row extends Printing {
  readonly collection: CollectionScope;
  readonly column: (quoted: string) => string;
  /** True if its columns are those of the table, in their own character sets. */
  readonly isStored?: boolean;
  /** Relation that `item` stands for; set on link rows of a many-to-any. */
  readonly link?: ManyToAny;
}

/** A row read from the collection's own table under an alias; the statement notes the table. */
export function tableRow(statement: StatementBuilder, scope: Scope, collection: CollectionScope, alias: string): Row {
  statement.table(collection.descriptor.table);
  return {
    statement,
    scope,
    collection,
    column: columnsOf(collection.descriptor, alias, `${alias}.*`, statement.calls),
    isStored: true,
  };
}

/** Takes quoted columns of a table under an alias to expressions; `row` is its whole row as SQL. */
export function columnsOf(
  descriptor: CollectionDescriptor,
  alias: string,
  row = `${alias}.*`,
  calls?: () => void,
): (quoted: string) => string {
  const computed = computedColumns(descriptor);
  return (quoted) => {
    const value = computed?.get(quoted);
    if (value === undefined) return `${alias}.${quoted}`;
    if ('expression' in value) return value.expression.replaceAll('{}', alias);
    calls?.();
    return `${value.call}(${row})`;
  };
}

/** Functions and expressions of a collection's computed fields, by the columns that they stand for; null where it has none. */
export const computedColumns = derivedOnce((descriptor: CollectionDescriptor) => {
  const pairs = descriptor.fields.flatMap(({ column, computed }) =>
    computed === undefined ? [] : [[column, computed] as const],
  );
  return pairs.length === 0 ? null : new Map(pairs);
});

/** True if a written row has to be read again: what is computed of it may look at other rows. */
export function hasLateValues(descriptor: CollectionDescriptor): boolean {
  return descriptor.amended === true || computedColumns(descriptor) !== null;
}

/** Selects columns of a row in a subquery, where each keeps its name. */
export function selectColumns(row: Row, columns: Iterable<string>): readonly string[] {
  const computed = computedColumns(row.collection.descriptor);
  return [...columns].map((quoted) => row.column(quoted) + (computed?.has(quoted) === true ? ` AS ${quoted}` : ''));
}

/** `target.to = owner.from` for every pair. */
export function joined(pairs: readonly ColumnPair[], from: (column: string) => string, to: string): string[] {
  return pairs.map((pair) => `${to}.${pair.to} = ${from(pair.from)}`);
}
