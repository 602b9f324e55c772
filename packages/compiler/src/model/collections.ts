import {
  type DeclaredRow,
  isVirtual,
  type JsonValue,
  type ManyToAny,
  relationSpecialIn,
} from '@tablewright/runtime/language';
import type { Api, ApiCollection } from '../api.ts';
import type { Lookup } from '../cache/memo-cache.ts';
import type { NoteReader } from '../role-view/notes.ts';
import type { RoleCollection } from '../role-view/role-view.ts';

/** Members that only an app reads. */
const appMembers = [
  'icon',
  'display_template',
  'color',
  'hidden',
  'archive_app_filter',
  'translations',
  'item_duplication_fields',
  'sort',
  'group',
  'collapse',
];

/** Values of a field that is declared apart from them. */
const archiveValues = ['archive_value', 'unarchive_value'];

/** Defaults of a collection without declarations. */
const unsaid = {
  icon: null,
  note: null,
  display_template: null,
  color: null,
  hidden: false,
  singleton: false,
  sort_field: null,
  archive_field: null,
  archive_value: null,
  unarchive_value: null,
  archive_app_filter: true,
  accountability: null,
  translations: null,
  item_duplication_fields: null,
  sort: null,
  group: null,
  collapse: 'open',
} as const;

/** Describes a folder: a name that groups others, without a table. */
export function modelFolder(row: DeclaredRow) {
  const { collection = null } = row;
  const declared = readableMembers(row, ['note', ...appMembers], (text) => text);
  return { collection: String(collection), meta: { collection, ...unsaid, ...declared }, schema: null };
}

/** Describes a collection; `row` is what the platform's own tables say about it. */
export function modelCollection(described: DescribedCollection, row: DeclaredRow | undefined, note: NoteReader) {
  const { descriptor, stored } = described.api;
  const archiveRule = stored.archive !== null && shows(described, stored.archive.field) ? stored.archive : null;
  return {
    collection: described.view.name,
    meta: {
      collection: described.view.name,
      ...unsaid,
      note: described.view.note,
      singleton: described.view.singleton,
      sort_field: descriptor.sort !== undefined && shows(described, descriptor.sort) ? descriptor.sort : null,
      archive_field: archiveRule?.field ?? null,
      archive_value: archiveRule?.value ?? null,
      unarchive_value: archiveRule?.unarchiveValue ?? null,
      ...(stored.archive === null && readableMembers(row, archiveValues, note)),
      accountability: kept[descriptor.accountability ?? 'all'],
      ...readableMembers(row, appMembers, note),
    },
    schema: { name: stored.name, schema: stored.schema, comment: note(stored.comment), kind: stored.kind },
  };
}

const kept = { all: 'all', activity: 'activity', none: null } as const;

export interface DescribedCollection {
  readonly api: ApiCollection;
  readonly view: RoleCollection;
}

/** Facts that the description of one collection may use. */
export interface ModelContext {
  /** Everything that a class may read, by name. */
  readonly collections: Lookup<DescribedCollection>;
  readonly junctions: Lookup<true>;
  /** The first readable many-to-any of each link collection. */
  readonly owners: Lookup<ManyToAny>;
}

/** True if a field of a collection is readable, or a relation that has no field. */
export function shows({ view }: DescribedCollection, name: string): boolean {
  return view.fields.some((field) => field.name === name) || view.relations.some((relation) => relation.name === name);
}

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
