import { arrayNative, cast, castToTexts, sqlTrue } from '../dialects/fragment.ts';
import type { CopiedFields } from '../dialects/index.ts';
import type { FieldDescriptor } from '../language/index.ts';
import { collectionOf, fixedIn, itemExists, sources } from './readable.ts';
import type { Row } from './row.ts';
import { granted } from './rules.ts';
import type { CollectionScope, CopiedColumns, FieldScope } from './scope.ts';

/** The value of a field on a row, null where no rule grants it; as everything uses it, no cell can be probed. */
export function cell(row: Row, field: FieldScope): string {
  return guarded(granted(row, field.grant), withoutHidden(row, field.descriptor));
}

/** An expression that is null unless a predicate holds. */
export function guarded(predicate: string, expression: string): string {
  return predicate === sqlTrue ? expression : `CASE WHEN ${predicate} THEN ${expression} END`;
}

/** The cell of a field as comparisons see it. */
export function comparable(row: Row, field: FieldScope): string {
  return cast(cell(row, field), field.descriptor.comparison);
}

/**
 * SQL that brings a text into the character set of a column, whose texts are converted to be compared; undefined for
 * other columns. The column itself beside such a text has its order and its index. A parameter goes through a function:
 * left to itself a server refuses characters that the set lacks, which in any other text become question marks.
 */
export function besideColumn({ comparison, collated }: Pick<FieldDescriptor, 'comparison' | 'collated'>) {
  return comparison === undefined ? undefined : collated?.replace('{}', 'CONCAT({})');
}

/** The cell of an array as comparisons see it: its elements as what they are read as, which know equality. */
export function comparableArray(row: Row, field: FieldScope): string {
  const { descriptor } = field;
  const array = cast(cell(row, field), castToTexts(descriptor) ?? `::${arrayNative(descriptor)}`);
  return field.descriptor.folds === true ? row.statement.dialect.exactly(array) : array;
}

/** The field of a collection that a column backs, when the collection has one. */
export function fieldOfColumn(fields: readonly FieldDescriptor[], column: string): FieldDescriptor | undefined {
  return fields.find((field) => field.column === column);
}

/** The value of a field, without what the caller cannot read of the item where it holds one. */
function withoutHidden(row: Row, { column, name }: FieldDescriptor): string {
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
