import type { DeclaredRow } from '@tablewright/runtime/language';
import type { NoteReader } from '../role-view/notes.ts';
import { type DescribedCollection, shows } from './context.ts';
import { readableMembers } from './declared.ts';

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
      accountability: kept[descriptor.accountability ?? 'all'],
      ...readableMembers(row, appMembers, note),
    },
    schema: { name: stored.name, schema: stored.schema, comment: note(stored.comment), kind: stored.kind },
  };
}

const kept = { all: 'all', activity: 'activity', none: null } as const;
