/** Changes that the database makes beside the rows of a statement, where shared caches keep answers. */
import type { Schema, Table } from '@tablewright/introspect/schema';
import type { CachedTables } from '@tablewright/runtime/language';
import { quoteTable } from './quote.ts';

/** Facts about every table; undefined where no collection lets caches keep answers. */
export function cachingOf({ dialect, collections, tables }: Schema): CachedTables | undefined {
  if (collections.every(({ cache }) => cache === undefined)) return undefined;
  const nameOf = (table: Table): string => quoteTable(dialect, table);
  const followers = followersOf(tables);
  const cascades = tables.flatMap((table) => {
    const reached = [...reach(table, followers)].map(nameOf).sort();
    return reached.length === 0 ? [] : [[nameOf(table), reached] as const];
  });
  return {
    derived: tables.filter(isDerived).map(nameOf).sort(),
    unbounded: tables.filter(isUnbounded).map(nameOf).sort(),
    cascades: Object.fromEntries(cascades),
  };
}

/** True if rows change with those of tables that no statement names. */
function isDerived({ kind, columns, inherited, inherits, rowSecurity }: Table): boolean {
  const isOwn = (kind === 'table' || kind === 'partitioned') && columns.every(({ computed }) => computed === undefined);
  return !isOwn || inherited === true || inherits.length > 0 || rowSecurity.enabled;
}

/** True if a write may change any table: by triggers and rules, or through a view. */
function isUnbounded({ kind, amended }: Table): boolean {
  return amended === true || (kind !== 'table' && kind !== 'partitioned');
}

/** Tables by those that they refer to, with keys that the database follows. */
function followersOf(tables: readonly Table[]): ReadonlyMap<string, readonly Table[]> {
  const followers = new Map<string, Table[]>();
  for (const table of tables) {
    for (const { target, onDelete, onUpdate } of table.foreignKeys) {
      if (![onDelete, onUpdate].some((action) => action !== 'no action' && action !== 'restrict')) continue;
      followers.set(target, [...(followers.get(target) ?? []), table]);
    }
  }
  return followers;
}

function reach(start: Table, followers: ReadonlyMap<string, readonly Table[]>): ReadonlySet<Table> {
  const reached = new Set<Table>();
  const open = [start];
  for (let table = open.pop(); table !== undefined; table = open.pop()) {
    for (const follower of followers.get(table.id) ?? []) {
      if (reached.has(follower)) continue;
      reached.add(follower);
      open.push(follower);
    }
  }
  return reached;
}
