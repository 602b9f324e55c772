/** Members that only an app reads, as the platform's own tables hold them. Source: API specification, 10.2 and 10.4. */
import { type DeclaredRow, isVirtual, type JsonValue, relationSpecialIn } from '@tablewright/runtime/language';
import type { Api } from '../api.ts';
import type { Lookup } from '../cache/remember.ts';
import type { NoteReader } from '../role-view/notes.ts';

/** The rows about collections, by their names, and about fields, by those of their collections. */
export interface Declared {
  readonly collections: Lookup<DeclaredRow>;
  readonly fields: Lookup<readonly DeclaredRow[]>;
  /** Rows about fields without a column that are no relation, by name, for each collection. */
  readonly virtualFields: Lookup<readonly DeclaredRow[]>;
  /** Rows about what is no collection: folders, which only group others. */
  readonly folders: readonly DeclaredRow[];
}

/** Finds rows; `waiting` are sides of relations that are not there yet, which only administrators are told of. */
export function declaredIn({ model, collections }: Api, waiting: boolean): Declared {
  const rows = model?.collections ?? [];
  const names = new Set<JsonValue>(collections.map(({ descriptor }) => descriptor.name));
  return {
    collections: new Map(rows.map((row) => [String(row.collection), row])),
    fields: Map.groupBy(model?.fields ?? [], ({ collection }) => String(collection)),
    virtualFields: virtualFieldsIn(model?.fields ?? [], collections, waiting),
    folders: rows.filter(({ collection = null }) => !names.has(collection)),
  };
}

function virtualFieldsIn(rows: readonly DeclaredRow[], collections: Api['collections'], waiting: boolean) {
  const requested = rows.filter((row) => {
    const special = specialsOf(row);
    return isVirtual(special) && (waiting || relationSpecialIn(special) === undefined);
  });
  if (requested.length === 0) return new Map<string, readonly DeclaredRow[]>();
  const taken = new Map(
    collections
      .filter(({ descriptor }) => descriptor.system !== true)
      .map(({ descriptor: { name, fields, relations } }) => [
        name,
        new Set<JsonValue>([...fields, ...relations].map((member) => member.name)),
      ]),
  );
  const untaken = requested.filter(
    ({ collection, field = null }) => taken.get(String(collection))?.has(field) === false,
  );
  const sorted = untaken.sort((a, b) => (String(a.field) < String(b.field) ? -1 : 1));
  return Map.groupBy(sorted, ({ collection }) => String(collection));
}

/** Specials of a field, as its row declares them. */
export function specialsOf({ special }: DeclaredRow): readonly string[] {
  return typeof special === 'string' && special !== '' ? special.split(',').map((part) => part.trim()) : [];
}

/** The declared members of a row, if there is one. Texts that name something hidden are left out. */
export function readableMembers(
  row: DeclaredRow | undefined,
  members: readonly string[],
  note: NoteReader,
): DeclaredRow {
  return Object.fromEntries(
    members.flatMap((member) => {
      const value = row?.[member] ?? null;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return value === null || note(text) === null ? [] : [[member, value]];
    }),
  );
}
