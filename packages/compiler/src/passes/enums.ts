/** Enum types of the database → their names in generated types. */

import { type ColumnType, type Schema, tableId } from '@tablewright/introspect/schema';
import type { ApiEnum } from '../api.ts';
import { createFacts } from '../cache/facts.ts';
import { createInterning } from '../cache/same.ts';
import { pascalCase, uniqueNames } from '../print/identifier.ts';

/** Names the enum types that collections have, sorted by these names. */
export function nameEnums(schema: Schema): readonly ApiEnum[] {
  return enumsOf(schema, () => findEnums(schema));
}

const oneEnum = createInterning<ApiEnum>();
const enumsOf = createFacts<Schema, readonly ApiEnum[]>();

function findEnums({ collections, tables, enums }: Schema): readonly ApiEnum[] {
  const served = new Set(collections.map(({ table }) => table));
  const columns = tables.filter(({ id }) => served.has(id)).flatMap((table) => table.columns);
  const used = new Set(columns.flatMap(({ type }) => enumsIn(type)));
  const listed = enums
    .map((type) => ({ type, source: tableId(type.schema, type.name), ...type }))
    .filter(({ source }) => used.has(source));
  const shared = Map.groupBy(listed, ({ name }) => name);
  const called = ({ schema, name }: (typeof listed)[number]): string =>
    (shared.get(name) ?? []).length > 1 && schema !== 'public' ? `${schema}_${name}` : name;
  const names = uniqueNames(listed.map(called), (name) => typeName(pascalCase(name)));
  return listed
    .map((found) => {
      const { type, source, labels } = found;
      return oneEnum(type, { name: names.get(called(found)) ?? type.name, source, labels });
    })
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

function enumsIn({ enum: name, element }: ColumnType): readonly (string | null)[] {
  return [name, element?.enum ?? null];
}

/**
 * `ArticleStatus`. A name that a collection, a library or the language may have for a type gets `Enum` at its end. So
 * does one that ends in `Enum` already.
 */
function typeName(name: string): string {
  return isReserved(name) ? `${name}Enum` : name;
}

function isReserved(name: string): boolean {
  return ends.test(name) || whole.has(name) || name.startsWith('Link');
}

const ends =
  /(?:Item|Key|Create|Update|Change|Changes|Filter|Relations|Functions|Facts|Value|Values|Operators|Call|Handler|Enum|Options)_?$/;

const whole: ReadonlySet<string> = new Set(
  'Any Array BigInt Boolean Client Collection Date Error Function Geometry Given Intl JSON Links Many Map Math Methods Never Number Object Omit One Partial Pick Promise Readonly Record RegExp Required Route Routes Schema Set String Symbol Void'.split(
    ' ',
  ),
);
