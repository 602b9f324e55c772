import type { DeclaredModel } from '@tablewright/runtime/language';
import type { Diagnostic } from './diagnostic.ts';
import type { Routine, Schema, Table, TableId } from './schema.ts';
import { type ForeignKey, isFollowedUnnamed, isFollowing } from './table-parts.ts';

/** Facts of a database before the configuration is applied: the input of `resolveSchema`. */
export interface SchemaFacts extends Pick<Schema, 'tables' | 'enums'> {
  /** Server that the facts are of; `defaultDialect` when absent. */
  readonly dialect?: Schema['dialect'];
  /** Functions and procedures, sorted by signature; absent where they are not read. */
  readonly routines?: readonly Routine[];
  /** The model as the platform's own tables declare it; absent or null where they declare nothing or are not read. */
  readonly model?: DeclaredModel | null;
  /** Findings about facts that were left out or simplified. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Runs one statement and returns its rows as text values: how this package reaches a database. */
export type RunStatement = (
  sql: string,
  parameters: readonly (string | null)[],
) => Promise<readonly (readonly (string | null)[])[]>;

/** The part of the database to read. */
export interface ReadOptions {
  /** Schemas to read; all that are not the server's own when absent. */
  readonly schemas?: readonly string[];
  /** Relations to serve, `name` or `schema.name` with `*` for any characters; all when absent. */
  readonly include?: readonly string[];
  /** Relations to leave out, in the same form; they win over `include`. */
  readonly exclude?: readonly string[];
  /** Schema of the platform's tables; default `platform`, without schemas the database of the connection. */
  readonly systemSchema?: string;
  /** True reads functions and procedures, too. Default: false. */
  readonly functions?: boolean;
}

/** A foreign key that no table lists: one of a table that is left out, or one that is no relation. */
export interface UnlistedKey extends Pick<ForeignKey, 'onDelete' | 'onUpdate' | 'targetColumns'> {
  readonly table: TableId;
  /** Null where nothing is known about the target. */
  readonly target: TableId | null;
}

/**
 * Completes tables by changes that reach them, or leave them, through tables that are not listed. `triggered` are tables
 * whose triggers run when a foreign key changes their rows.
 */
export function followThrough(
  tables: readonly Table[],
  unlisted: readonly UnlistedKey[],
  triggered: ReadonlySet<TableId>,
): readonly Table[] {
  const byId = new Map(tables.map((table) => [table.id, table]));
  const following = unlisted.filter(({ onDelete, onUpdate }) => [onDelete, onUpdate].some(isFollowing));
  const keys = Map.groupBy(following, ({ table }) => table);

  function reach(start: TableId): { readonly found: readonly TableId[]; readonly isWhole: boolean } {
    const reached = new Set<TableId>();
    const open = [start];
    let isWhole = true;
    for (let table = open.pop(); table !== undefined; table = open.pop()) {
      for (const key of keys.get(table) ?? []) {
        const listed = byId.get(key.target ?? '');
        if (key.target === null || (listed !== undefined && isFollowedUnnamed(key, listed))) isWhole = false;
        else if (!reached.has(key.target)) {
          reached.add(key.target);
          if (listed === undefined) open.push(key.target);
        }
      }
    }
    return { found: [...reached].filter((id) => byId.has(id)).sort(), isWhole };
  }

  const firing = new Set([...triggered].flatMap((id) => (byId.has(id) ? [] : reach(id).found)));
  return tables.map((table) => {
    const { found, isWhole } = reach(table.id);
    const facts: Pick<Table, 'follows' | 'fires'> = {
      ...(isWhole ? found.length > 0 && { follows: found } : { follows: true as const }),
      ...(firing.has(table.id) && { fires: true as const }),
    };
    // A table that stays as it is keeps what was compiled of it.
    return Object.keys(facts).length === 0 ? table : { ...table, ...facts };
  });
}

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
