/**
 * Stored rows, locked in the order of their keys, regardless of payload order. Requests that want the same rows then
 * wait for each other instead of deadlocking.
 */
import { where } from '../../dialects/fragment.ts';
import type { RowLock, SqlDialect } from '../../dialects/index.ts';
import type { CollectionDescriptor } from '../../language/index.ts';

/** Rows to be locked. */
interface LockedRows {
  readonly descriptor: Pick<CollectionDescriptor, 'unlockable'>;
  /** Selected columns of the rows and of the tables joined with them. */
  readonly selected: string;
  readonly from: string;
  /** A condition; `TRUE` for none. */
  readonly rows: string;
  /** The table's alias. */
  readonly alias: string;
  /** Expressions of the key, in the order of its fields. */
  readonly keys: readonly string[];
  readonly lock: RowLock;
}

/** A query for rows that locks them in the order of their keys, and gives them in that order. */
export function selectLocked(
  { input }: Pick<SqlDialect, 'input'>,
  { descriptor, selected, from, rows, alias, keys, lock }: LockedRows,
): string {
  // Rows are sorted first and locked when they pass, so no plan changes the order.
  const locks = descriptor.unlockable ? '' : input.lock(lock, alias);
  return `SELECT ${selected} FROM ${from}${where(rows)} ORDER BY ${keys.join(', ')}${locks}`;
}

/** The lock that an UPDATE of these fields, by their names, takes. */
export function lockOfUpdate({ constraints = [] }: CollectionDescriptor, fields: readonly string[]): RowLock {
  const unique = constraints.filter(({ type }) => type === 'unique').flatMap((constraint) => constraint.fields);
  return fields.some((name) => unique.includes(name)) ? 'UPDATE' : 'NO KEY UPDATE';
}
