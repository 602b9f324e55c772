/**
 * Rows that hold items of other collections, as revisions do. To read such a row the caller must be able to read the
 * item as it stands now. The row shows only those parts of the item that the caller can read. Source: API
 * specification, section 10.10.
 */

import { allOf, sqlFalse, sqlTrue, where } from '../dialects/fragment.ts';
import type { CopiedFields, FixedValue } from '../dialects/index.ts';
import { type FieldDescriptor, types } from '../language/index.ts';
import { cast, granted } from './cell.ts';
import { type Row, tableRow } from './row.ts';
import { readable } from './rules.ts';
import { type CollectionScope, type CopiedColumns, type FieldScope, keyFields } from './scope.ts';
import type { StatementBuilder } from './statement.ts';

/** The predicate that holds where the caller can read the item that a row holds. */
export function copiedItemReadable(row: Row): string {
  const { copies } = row.collection;
  if (copies === undefined) return sqlTrue;
  const fixed = fixedIn(row.statement);
  const branches = sources(row).map((collection) => {
    const name = fixed(collection.descriptor.name, 'pg_catalog.text');
    return `WHEN ${name} THEN ${itemExists(row, copies, collection, () => sqlTrue)}`;
  });
  return branches.length === 0 ? sqlFalse : `(CASE ${collectionOf(row, copies)} ${branches.join(' ')} ELSE FALSE END)`;
}

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

function fixedIn(statement: StatementBuilder): FixedValue {
  return (value, native) => statement.parameter({ kind: 'fixed', value }, native);
}

/** Names of collections are told apart by their characters. */
function collectionOf(row: Row, { collection }: CopiedColumns): string {
  const value = cast(row.column(collection.column), collection.comparison);
  return collection.folds === true ? row.statement.dialect.exactly(value) : value;
}

/** Collections whose items the caller can read, and that revisions can name. Copies of copies there are none. */
function sources({ scope }: Row): readonly CollectionScope[] {
  return [...scope.collections.values()].filter(
    ({ descriptor, copies }) => descriptor.key.length > 0 && copies === undefined,
  );
}

/** SQL predicate that is true if the item exists, can be read, and meets the condition `more`. */
function itemExists(row: Row, copies: CopiedColumns, collection: CollectionScope, more: (item: Row) => string): string {
  const { statement } = row;
  const alias = statement.alias();
  const item = tableRow(statement, row.scope, collection, alias);
  const predicate = allOf([...keyMatches(row, copies, item), readable(item), more(item)]);
  // The fence keeps PostgreSQL from reading whole tables, to look items up in what it has read.
  const { fence } = statement.dialect;
  return predicate === sqlFalse
    ? sqlFalse
    : `EXISTS (SELECT 1 FROM ${collection.descriptor.table} ${alias}${where(predicate)}${fence})`;
}

/** Keys whose path form is the value itself are read from there, others from the item: it needs no decoding. */
function keyMatches(row: Row, copies: CopiedColumns, item: Row): readonly string[] {
  const { dialect } = row.statement;
  const fields = keyFields(item.collection.descriptor);
  const plain = fields.length === 1 && fields.every(({ type }) => types[type].key !== undefined);
  return fields.map((field) => {
    const text = plain
      ? cast(row.column(copies.item.column), dialect.asText)
      : dialect.copies.member(fixedIn(row.statement), row.column(copies.whole.column), field.name);
    return dialect.copies.keyMatches(item.column(field.column), text, field);
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
