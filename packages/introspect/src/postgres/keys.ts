import type { Key } from '../schema.ts';
import type { ConstraintRow, IndexRow } from './catalog.ts';
import type { Lookup } from './lookup.ts';

/** The keys of a relation. */
export interface Keys {
  readonly primaryKey: Key | null;
  /** By name. */
  readonly uniques: readonly Key[];
}

const none: Keys = { primaryKey: null, uniques: [] };

/**
 * Finds the keys of a relation: those of its constraints and unique indexes, or for a view those of the one table whose
 * rows it shows, where it shows all their columns.
 */
export function buildKeys(lookup: Lookup, relation: string): Keys {
  const row = lookup.relations.get(relation);
  if (!row) return none;
  return row.relkind === 'v' || row.relkind === 'm' ? viewKeys(lookup, relation) : tableKeys(lookup, relation);
}

function tableKeys(lookup: Lookup, relation: string): Keys {
  const constraints = lookup.constraints(relation);
  const [primary] = constraints.filter((row) => row.contype === 'p');
  const uniques = constraints.filter((row) => row.contype === 'u');
  return {
    primaryKey: primary ? constraintKey(lookup, primary) : null,
    uniques: byName([...uniques.map((row) => constraintKey(lookup, row)), ...indexKeys(lookup, relation)]),
  };
}

/** A materialized view may have unique indexes of its own. */
function viewKeys(lookup: Lookup, view: string): Keys {
  const base = lookup.trace(view)?.rowsOf ?? null;
  // Rows of other tables appear in an inheritance parent: its keys do not hold for what it shows.
  const keys = base === null || lookup.hasChildren(base) ? none : buildKeys(lookup, base);
  const shown = (key: Key): Key[] => shownKey(lookup, view, base ?? '', key);
  const own = indexKeys(lookup, view);
  const inherited = keys.uniques.flatMap(shown).filter((key) => !own.some((other) => other.name === key.name));
  return {
    primaryKey: (keys.primaryKey && shown(keys.primaryKey)[0]) ?? null,
    uniques: byName([...own, ...inherited]),
  };
}

/** The key under the names of the view's columns; empty when the view lacks one of them. */
function shownKey(lookup: Lookup, view: string, base: string, key: Key): Key[] {
  const columns = key.columns.flatMap((name) => shownColumn(lookup, view, base, name) ?? []);
  return columns.length === key.columns.length ? [{ ...key, columns }] : [];
}

function shownColumn(lookup: Lookup, view: string, base: string, name: string): string | undefined {
  const origins = lookup.trace(view)?.origins;
  const shown = lookup.columns(view).find((column) => {
    const origin = origins?.get(column.attnum);
    return origin?.relation === base && lookup.column(base, origin.attnum)?.attname === name;
  });
  return shown?.attname;
}

function constraintKey(lookup: Lookup, row: ConstraintRow): Key {
  return {
    name: row.conname,
    columns: lookup.columnNames(row.conrelid, row.conkey ?? []),
    deferrable: row.condeferrable,
    nullsNotDistinct: row.indnullsnotdistinct,
  };
}

function indexKeys(lookup: Lookup, relation: string): Key[] {
  return lookup
    .indexes(relation)
    .filter(isKeyIndex)
    .map((row) => ({
      name: row.relname,
      columns: lookup.columnNames(relation, row.indkey.slice(0, row.indnkeyatts)),
      deferrable: !row.indimmediate,
      nullsNotDistinct: row.indnullsnotdistinct,
    }));
}

/** Keys of constraints are told by the constraint; a part of the rows, or an expression, is no key of the table. */
function isKeyIndex(row: IndexRow): boolean {
  const plain = row.indkey.slice(0, row.indnkeyatts).every((number) => number > 0);
  return row.indisunique && row.indisvalid && !row.ofConstraint && row.predicate === null && plain;
}

function byName(keys: readonly Key[]): Key[] {
  return [...keys].sort((left, right) => (left.name < right.name ? -1 : 1));
}
