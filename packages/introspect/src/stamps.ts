/** State of a catalog at one look, so that the next look tells the changes. */
export interface CatalogStamps {
  /** Mark of everything that belongs to no relation. */
  readonly whole: string;
  /** Mark of every relation, by its oid, or by a name where the server counts none. */
  readonly relations: ReadonlyMap<string, string>;
}

/** Relations that changed, new and gone ones with them, as stamps call them; `all` where it may be anything. */
export type ChangedRelations = ReadonlySet<string> | 'all';

/** More than these are read with all others, which takes one statement less long than many relations looked up one by one. */
const maxReread = 50;

/** Relations that changed between two looks; null if none did. */
export function changedRelations(before: CatalogStamps, after: CatalogStamps): ChangedRelations | null {
  if (before.whole !== after.whole) return 'all';
  const oids = new Set([...before.relations.keys(), ...after.relations.keys()]);
  const changed = new Set([...oids].filter((oid) => before.relations.get(oid) !== after.relations.get(oid)));
  if (changed.size === 0) return null;
  return changed.size > maxReread ? 'all' : changed;
}

/** Relations that changed by either of two changes. */
export function bothChanges(left: ChangedRelations | null, other: ChangedRelations | null): ChangedRelations | null {
  if (left === null || other === null) return left ?? other;
  return left === 'all' || other === 'all' ? 'all' : new Set([...left, ...other]);
}
