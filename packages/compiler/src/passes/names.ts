/** API names → names in generated code, each derived from its own name alone wherever two do not collide. */
import { type Schema, tableId } from '@tablewright/introspect/schema';
import type { AccessClass } from '@tablewright/runtime/language';
import type { ApiAccess, ApiEnum, CollectionNames } from '../api.ts';
import { createFacts, createFactsOfNames, createInterning } from '../cache/same.ts';
import { camelCase, fileName, pascalCase, shortened, uniqueNames } from '../print/identifier.ts';

export function nameCollections(names: readonly string[]): ReadonlyMap<string, CollectionNames> {
  return namesOfAll(names, () => findNames(names));
}

const namesOfAll = createFactsOfNames<ReadonlyMap<string, CollectionNames>>();

function findNames(names: readonly string[]): ReadonlyMap<string, CollectionNames> {
  const files = uniqueNames(names, fileName, (spelling) => spelling.toLowerCase());
  const types = uniqueNames(names, pascalCase);
  const constants = uniqueNames(names, camelCase);
  const routes = uniqueNames(names, (name) => camelCase(name, 'Routes'), undefined, new Set(constants.values()));
  return new Map(
    names.map((name) => [
      name,
      {
        collection: name,
        file: files.get(name) ?? name,
        constant: constants.get(name) ?? name,
        routes: routes.get(name) ?? name,
        ...typeNames(types.get(name) ?? name),
      },
    ]),
  );
}

/** Names of the constants of access classes, none of them one that a collection has. */
export function nameAccess(
  access: readonly AccessClass[],
  collections: ReadonlyMap<string, CollectionNames>,
): readonly ApiAccess[] {
  const taken = new Set([...collections.values()].flatMap(({ constant, routes }) => [constant, routes]));
  const names = access.map(({ name }) => name);
  const constants = uniqueNames(names, (name) => camelCase(name, 'Access'), undefined, taken);
  return access.map((accessClass) => ({
    access: accessClass,
    constant: constants.get(accessClass.name) ?? accessClass.name,
  }));
}

/** Names of the aliases that list the values of fields, by field name. */
export function nameValues(collection: CollectionNames, fields: readonly string[]): ReadonlyMap<string, string> {
  const prefix = collection.item.slice(0, -'Item'.length);
  return uniqueNames(fields, (field) => `${shortened(`${prefix}${pascalCase(field)}`, field)}Value`);
}

function typeNames(type: string): Pick<CollectionNames, 'item' | 'key' | 'create' | 'update' | 'filter'> {
  return {
    item: `${type}Item`,
    key: `${type}Key`,
    create: `${type}Create`,
    update: `${type}Update`,
    filter: `${type}Filter`,
  };
}

/** Names the enum types that collections have, sorted by these names. */
export function nameEnums(schema: Schema): readonly ApiEnum[] {
  return enumsOf(schema, () => findEnums(schema));
}

const oneEnum = createInterning<ApiEnum>();
const enumsOf = createFacts<Schema, readonly ApiEnum[]>();

function findEnums({ collections, tables, enums }: Schema): readonly ApiEnum[] {
  const served = new Set(collections.map(({ table }) => table));
  const columns = tables.filter(({ id }) => served.has(id)).flatMap((table) => table.columns);
  const used = new Set(columns.flatMap(({ type }) => [type.enum, type.element?.enum ?? null]));
  const listed = enums
    .map((type) => ({ type, source: tableId(type.schema, type.name), ...type }))
    .filter(({ source }) => used.has(source));
  const shared = Map.groupBy(listed, ({ name }) => name);
  const prefixed = ({ schema, name }: (typeof listed)[number]): string =>
    (shared.get(name) ?? []).length > 1 && schema !== 'public' ? `${schema}_${name}` : name;
  const meeting = Map.groupBy(listed, prefixed);
  // `c` of the schema `a_b` would be called as `b_c` of `a`, and as `a_b_c` of `public`.
  const called = (found: (typeof listed)[number]): string =>
    (meeting.get(prefixed(found)) ?? []).length > 1 && prefixed(found) !== found.name ? found.source : prefixed(found);
  const names = uniqueNames(listed.map(called), (name) => typeName(pascalCase(name)));
  return listed
    .map((found) => {
      const { type, source, labels } = found;
      return oneEnum(type, { name: names.get(called(found)) ?? type.name, source, labels });
    })
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** `ArticleStatus`. A name that may be taken for another type, or that ends in `Enum`, gets `Enum` at its end. */
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
