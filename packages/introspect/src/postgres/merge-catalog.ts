import { reservedPrefix } from '@tablewright/runtime/language';
import type { Catalog, RelationRow } from './catalog.ts';

/** A catalog in which some relations were read again. */
export interface CombinedCatalog {
  readonly catalog: Catalog;
  /** The oids of these relations, and of those that are gone. */
  readonly reread: ReadonlySet<string>;
}

/**
 * Replaces some relations of a known catalog by what was read of them now. The `asked` relations without rows are gone.
 * Null where the rest cannot stay the same: the platform's own tables decide which others are left out.
 */
export function mergeCatalog(previous: Catalog, part: Catalog, requested: ReadonlySet<string>): CombinedCatalog | null {
  const reread = new Set([...requested, ...part.relations.map(({ oid }) => oid)]);
  const before = previous.relations.filter(({ oid }) => reread.has(oid));
  const relations = [...before, ...part.relations];
  if (relations.some(isReserved)) return null;
  const names = new Set(before.map(nameOf));
  const catalog = {
    ...previous,
    relations: replaced(previous.relations, part.relations, ({ oid }) => reread.has(oid)),
    columns: replaced(previous.columns, part.columns, ({ attrelid }) => reread.has(attrelid)),
    constraints: replaced(previous.constraints, part.constraints, ({ conrelid }) => reread.has(conrelid)),
    indexes: replaced(previous.indexes, part.indexes, ({ indrelid }) => reread.has(indrelid)),
    inherits: replaced(
      previous.inherits,
      part.inherits,
      (row) => reread.has(row.inhrelid) || reread.has(row.inhparent),
    ),
    rules: replaced(previous.rules, part.rules, ({ ev_class }) => reread.has(ev_class)),
    // Includes types that only these relations have: no column refers to a type that none has.
    types: [...new Map([...previous.types, ...part.types].map((row) => [row.oid, row])).values()],
    objects: replaced(
      previous.objects,
      part.objects,
      ({ nspname, relation }) => relation !== null && names.has(nameOf({ nspname, relname: relation })),
    ),
  };
  return { catalog, reread };
}

function replaced<Row>(rows: readonly Row[], part: readonly Row[], isReread: (row: Row) => boolean): readonly Row[] {
  return [...rows.filter((row) => !isReread(row)), ...part];
}

function isReserved({ relname }: RelationRow): boolean {
  return relname.startsWith(reservedPrefix);
}

function nameOf({ nspname, relname }: Pick<RelationRow, 'nspname' | 'relname'>): string {
  return JSON.stringify([nspname, relname]);
}
