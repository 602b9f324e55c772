import type { ColumnPair, ManyToAny } from '../language/index.ts';
import type { CollectionScope, Scope } from './scope.ts';
import type { StatementBuilder } from './statement.ts';

/**
 * Context in which every part of a statement is printed: the statement, and the scope that decides which rows are
 * visible.
 */
export interface Printing {
  readonly statement: StatementBuilder;
  readonly scope: Scope;
}

/**
 * One row of a collection while SQL is printed: the meaning of names on it.
 *
 * `column` takes a quoted column of the collection's table to an expression; on a page it also notes that the page has
 * to select the column.
 */
export interface Row extends Printing {
  readonly collection: CollectionScope;
  readonly column: (quoted: string) => string;
  /** Relation that `item` stands for; set on link rows of a many-to-any. */
  readonly link?: ManyToAny;
}

/** A row read from the collection's own table under an alias; the statement notes the table. */
export function tableRow(statement: StatementBuilder, scope: Scope, collection: CollectionScope, alias: string): Row {
  statement.table(collection.descriptor.table);
  return { statement, scope, collection, column: (quoted) => `${alias}.${quoted}` };
}

/** `target.to = owner.from` for every pair. */
export function joined(pairs: readonly ColumnPair[], from: (column: string) => string, to: string): string[] {
  return pairs.map((pair) => `${to}.${pair.to} = ${from(pair.from)}`);
}
