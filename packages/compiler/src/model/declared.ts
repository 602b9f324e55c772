/** What only an app looks at, as the rows of the platform's own tables have it. Source: API specification, 10.2 and 10.4. */
import type { DeclaredRow, JsonValue } from '@platform/runtime/contract';
import type { Api } from '../api.ts';
import type { NoteReader } from '../openapi/notes.ts';

/** The rows about collections and fields, by their names. */
export interface Declared {
  collection(name: string): DeclaredRow;
  field(collection: string, name: string): DeclaredRow;
  /** Rows about what is no collection: folders, which only group others. */
  readonly folders: readonly DeclaredRow[];
}

/** Finds rows; one that nobody has written has no members. */
export function declaredIn({ model, collections }: Api): Declared {
  const all = new Map((model?.collections ?? []).map((row) => [row.collection, row]));
  const fields = new Map((model?.fields ?? []).map((row) => [`${row.collection}.${row.field}`, row]));
  const known = new Set<JsonValue>(collections.map(({ descriptor }) => descriptor.name));
  return {
    collection: (name) => all.get(name) ?? {},
    field: (collection, name) => fields.get(`${collection}.${name}`) ?? {},
    folders: (model?.collections ?? []).filter(({ collection = null }) => !known.has(collection)),
  };
}

/** The members of a row that somebody has said. Texts that name what is hidden are left out. */
export function told(row: DeclaredRow, members: readonly string[], note: NoteReader): DeclaredRow {
  return Object.fromEntries(
    members.flatMap((member) => {
      const value = row[member] ?? null;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return value === null || note(text) === null ? [] : [[member, value]];
    }),
  );
}
