/** What only an app looks at, as the rows of the platform's own tables have it. Source: API specification, 10.2 and 10.4. */
import type { DeclaredRow, JsonValue } from '@platform/runtime/contract';
import type { Api } from '../api.ts';
import type { Lookup } from '../memory/remember.ts';
import type { NoteReader } from '../openapi/notes.ts';

/** The rows about collections, by their names, and about fields, by `fieldKey`. */
export interface Declared {
  readonly collections: Lookup<DeclaredRow>;
  readonly fields: Lookup<DeclaredRow>;
  /** Rows about what is no collection: folders, which only group others. */
  readonly folders: readonly DeclaredRow[];
}

/** The name that a field has among the fields of all collections. */
export function fieldKey(collection: JsonValue | undefined, field: JsonValue | undefined): string {
  return JSON.stringify([collection, field]);
}

/** Finds rows. */
export function declaredIn({ model, collections }: Api): Declared {
  const rows = model?.collections ?? [];
  const known = new Set<JsonValue>(collections.map(({ descriptor }) => descriptor.name));
  return {
    collections: new Map(rows.map((row) => [String(row.collection), row])),
    fields: new Map((model?.fields ?? []).map((row) => [fieldKey(row.collection, row.field), row])),
    folders: rows.filter(({ collection = null }) => !known.has(collection)),
  };
}

/** The members of a row, if there is one, that somebody has said. Texts that name what is hidden are left out. */
export function told(row: DeclaredRow | undefined, members: readonly string[], note: NoteReader): DeclaredRow {
  return Object.fromEntries(
    members.flatMap((member) => {
      const value = row?.[member] ?? null;
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return value === null || note(text) === null ? [] : [[member, value]];
    }),
  );
}
