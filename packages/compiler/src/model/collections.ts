import type { NoteReader } from '../openapi/notes.ts';
import { shows, type Told } from './index.ts';

/** Describes a collection; what only an app looks at is as it is where nobody has said anything. */
export function modelCollection(told: Told, note: NoteReader) {
  const { descriptor, stored } = told.api;
  const archive = stored.archive !== null && shows(told, stored.archive.field) ? stored.archive : null;
  return {
    collection: told.view.name,
    meta: {
      collection: told.view.name,
      icon: null,
      note: told.view.note,
      display_template: null,
      color: null,
      hidden: false,
      singleton: told.view.singleton,
      sort_field: descriptor.sort !== undefined && shows(told, descriptor.sort) ? descriptor.sort : null,
      archive_field: archive?.field ?? null,
      archive_value: archive?.value ?? null,
      unarchive_value: archive?.unarchiveValue ?? null,
      archive_app_filter: true,
      accountability: kept[descriptor.accountability ?? 'all'],
      translations: null,
      item_duplication_fields: null,
      sort: null,
      group: null,
      collapse: 'open',
    },
    schema: { name: stored.name, schema: stored.schema, comment: note(stored.comment), kind: stored.kind },
  };
}

const kept = { all: 'all', activity: 'activity', none: null } as const;
