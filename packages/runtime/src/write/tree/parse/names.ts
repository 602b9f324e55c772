/** Which fields stand behind the columns of relations. */
import { type ColumnPair, type FieldDescriptor, isWhole } from '../../../language/index.ts';
import { fieldOfColumn } from '../../../sql/cell.ts';
import type { CollectionScope } from '../../../sql/scope.ts';

/** Names of the fields behind columns; a column that is no field has none. */
export function fieldsOf({ descriptor }: CollectionScope, columns: readonly string[]): readonly string[] {
  return columns.flatMap((column) => fieldOfColumn(descriptor.fields, column)?.name ?? []);
}

/** Names of the fields by which a collection holds the key of another one. */
export function holdersOf(
  collection: CollectionScope,
  on: readonly ColumnPair[],
  side: keyof ColumnPair,
): readonly string[] {
  return fieldsOf(
    collection,
    on.map((pair) => pair[side]),
  );
}

/** The sort field of a relation where it is a number that the server can count on: anything else only orders reads. */
export function sortField({ descriptor }: CollectionScope, sort: string | undefined): FieldDescriptor | undefined {
  const field = descriptor.fields.find(({ name }) => name === sort);
  if (field === undefined || !field.writable || descriptor.key.includes(field.name)) return undefined;
  return isWhole(field.type) ? field : undefined;
}
