/** Rows that a caller can read: by the rules of their collection, and by the items that they hold copies of. */
import { allOf, anyOf, cast, sqlFalse, sqlTrue, where } from '../dialects/fragment.ts';
import type { FixedValue } from '../dialects/index.ts';
import { types } from '../language/index.ts';
import { type Row, type StatementBuilder, tableRow } from './row.ts';
import { ruleHolds } from './rules.ts';
import { type CollectionScope, type CopiedColumns, keyFields } from './scope.ts';

/** SQL predicate that is true if the caller can read a row: by some rule, and if its item is readable. */
export function readable(row: Row): string {
  return allOf([anyOf(row.collection.rows.map((rule) => ruleHolds(row, rule))), copiedItemReadable(row)]);
}

/** The predicate that holds where the caller can read the item that a row holds. */
function copiedItemReadable(row: Row): string {
  const { copies } = row.collection;
  if (copies === undefined) return sqlTrue;
  const fixed = fixedIn(row.statement);
  const branches = sources(row).map((collection) => {
    const name = fixed(collection.descriptor.name, 'pg_catalog.text');
    return `WHEN ${name} THEN ${itemExists(row, copies, collection, () => sqlTrue)}`;
  });
  return branches.length === 0 ? sqlFalse : `(CASE ${collectionOf(row, copies)} ${branches.join(' ')} ELSE FALSE END)`;
}

/** Binds values that are the same in every request of a plan. */
export function fixedIn(statement: StatementBuilder): FixedValue {
  return (value, native) => statement.parameter({ kind: 'fixed', value }, native);
}

/** Names of collections are told apart by their characters. */
export function collectionOf(row: Row, { collection }: CopiedColumns): string {
  const value = cast(row.column(collection.column), collection.comparison);
  return collection.folds === true ? row.statement.dialect.exactly(value) : value;
}

/** Collections whose items the caller can read, and that revisions can name. Copies of copies there are none. */
export function sources({ scope }: Row): readonly CollectionScope[] {
  return [...scope.collections.values()].filter(
    ({ descriptor, copies }) => descriptor.key.length > 0 && copies === undefined,
  );
}

/** SQL predicate that is true if the item exists, can be read, and meets the condition `more`. */
export function itemExists(
  row: Row,
  copies: CopiedColumns,
  collection: CollectionScope,
  more: (item: Row) => string,
): string {
  const { statement } = row;
  const alias = statement.alias();
  const item = tableRow(statement, row.scope, collection, alias);
  const predicate = allOf([...keyMatches(row, copies, item), readable(item), more(item)]);
  // The fence keeps the server from reading whole tables, to look items up in what it has read.
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
    const column = item.column(field.column);
    if (plain) return dialect.copies.keyMatches(column, cast(row.column(copies.item.column), dialect.asText), field);
    return dialect.copies.memberMatches(fixedIn(row.statement), row.column(copies.whole.column), column, field);
  });
}
