/** API names → names in generated code, each derived from its own name alone wherever two do not collide. */
import type { AccessClass } from '@tablewright/runtime/language';
import type { ApiAccess, CollectionNames } from '../api.ts';
import { createFactsOfNames } from '../cache/facts.ts';
import { camelCase, fileName, pascalCase, shortened, uniqueNames } from '../print/identifier.ts';

/** Names of every collection, by API name. */
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
