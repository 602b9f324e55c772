/** What a catalog was when it was looked at, so that the next look tells what changed. */
export interface CatalogMarks {
  /** Of all that is no relation's own. */
  readonly whole: string;
  /** Of every relation, by its oid; of MySQL and MariaDB by a name. */
  readonly relations: ReadonlyMap<string, string>;
}

/** Relations that changed, new and gone ones with them, as marks call them; `all` where it may be anything. */
export type ChangedRelations = ReadonlySet<string> | 'all';

/** More than these are read with all others, which takes one statement less long than many relations looked up one by one. */
const most = 50;

/** What changed from one look to the next; null where nothing did. */
export function changedRelations(before: CatalogMarks, after: CatalogMarks): ChangedRelations | null {
  if (before.whole !== after.whole) return 'all';
  const oids = new Set([...before.relations.keys(), ...after.relations.keys()]);
  const changed = new Set([...oids].filter((oid) => before.relations.get(oid) !== after.relations.get(oid)));
  if (changed.size === 0) return null;
  return changed.size > most ? 'all' : changed;
}

/** What changed by either of two changes. */
export function bothChanges(one: ChangedRelations | null, other: ChangedRelations | null): ChangedRelations | null {
  if (one === null || other === null) return one ?? other;
  return one === 'all' || other === 'all' ? 'all' : new Set([...one, ...other]);
}
