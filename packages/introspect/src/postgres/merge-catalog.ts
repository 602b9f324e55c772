import { reservedPrefix } from '@tablewright/runtime/contract';
import type { Catalog, RelationRow } from './catalog.ts';

/** A catalog in which some relations were read again. */
export interface MergedCatalog {
  readonly catalog: Catalog;
  /** The oids of these relations, and of those that are gone. */
  readonly reread: ReadonlySet<string>;
}

/**
 * Replaces some relations of a known catalog by what was read of them now. Of the `asked` relations, those without rows
 * are gone. Null where the rest cannot stay the same: the platform's own tables decide which others are left out.
 */
export function mergeCatalog(known: Catalog, part: Catalog, asked: ReadonlySet<string>): MergedCatalog | null {
  const reread = new Set([...asked, ...part.relations.map(({ oid }) => oid)]);
  const before = known.relations.filter(({ oid }) => reread.has(oid));
  const relations = [...before, ...part.relations];
  if (relations.some(isReserved)) return null;
  const names = new Set(before.map(nameOf));
  const catalog = {
    ...known,
    relations: replaced(known.relations, part.relations, ({ oid }) => reread.has(oid)),
    columns: replaced(known.columns, part.columns, ({ attrelid }) => reread.has(attrelid)),
    constraints: replaced(known.constraints, part.constraints, ({ conrelid }) => reread.has(conrelid)),
    indexes: replaced(known.indexes, part.indexes, ({ indrelid }) => reread.has(indrelid)),
    inherits: replaced(known.inherits, part.inherits, (row) => reread.has(row.inhrelid) || reread.has(row.inhparent)),
    rules: replaced(known.rules, part.rules, ({ ev_class }) => reread.has(ev_class)),
    // Includes types that only these relations have: no column refers to a type that none has.
    types: [...new Map([...known.types, ...part.types].map((row) => [row.oid, row])).values()],
    objects: replaced(
      known.objects,
      part.objects,
      ({ nspname, relation }) => relation !== null && names.has(nameOf({ nspname, relname: relation })),
    ),
  };
  return { catalog, reread };
}

function replaced<Row>(known: readonly Row[], part: readonly Row[], isReread: (row: Row) => boolean): readonly Row[] {
  return [...known.filter((row) => !isReread(row)), ...part];
}

function isReserved({ relname }: RelationRow): boolean {
  return relname.startsWith(reservedPrefix);
}

function nameOf({ nspname, relname }: Pick<RelationRow, 'nspname' | 'relname'>): string {
  return JSON.stringify([nspname, relname]);
}
