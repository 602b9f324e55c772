/**
 * Rows that hold items of other collections, as revisions do. To read such a row the caller must be able to read the
 * item as it stands now. The row shows only those parts of the item that the caller can read. Source: API
 * specification, section 10.10.
 */

import type { CopiedFields } from '../dialects/index.ts';
import type { FieldDescriptor } from '../language/index.ts';
import { collectionOf, fixedIn, itemExists, sources } from './readable.ts';
import type { Row } from './row.ts';
import { granted } from './rules.ts';
import type { CollectionScope, CopiedColumns, FieldScope } from './scope.ts';

/** The value of a field, without what the caller cannot read of the item where it holds one. */
export function withoutHidden(row: Row, { column, name }: FieldDescriptor): string {
  const { copies } = row.collection;
  const value = row.column(column);
  if (copies === undefined || !copies.contents.some((field) => field.name === name)) return value;
  return row.statement.dialect.copies.reduced({
    fixed: fixedIn(row.statement),
    collection: collectionOf(row, copies),
    contents: value,
    readable: sources(row).map((collection) => copiedFields(row, copies, collection)),
  });
}

function copiedFields(row: Row, copies: CopiedColumns, collection: CollectionScope): CopiedFields {
  const shown = [...collection.fields.values()].filter(({ secret }) => !secret);
  const groups = new Map<string, FieldScope[]>();
  for (const field of shown) {
    if (field.grant === null) continue;
    const group = JSON.stringify(field.grant);
    groups.set(group, [...(groups.get(group) ?? []), field]);
  }
  const namesOf = (fields: readonly FieldScope[]): string[] => fields.map(({ descriptor }) => descriptor.name);
  return {
    collection: collection.descriptor.name,
    always: namesOf(shown.filter(({ grant }) => grant === null)),
    sometimes: [...groups.values()].map((fields) => ({
      fields: namesOf(fields),
      predicate: itemExists(row, copies, collection, (item) => granted(item, fields[0]?.grant ?? [])),
    })),
  };
}
