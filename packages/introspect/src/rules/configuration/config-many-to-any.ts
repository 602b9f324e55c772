import type { ManyToAnyConfig } from '../../config/config.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { linkPairs } from '../../passes/declarations/declare-many-to-any.ts';
import { collectionsByName } from '../../passes/lookup.ts';
import type { Collection } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { unknownField } from './config-fields.ts';
import { configError, unknownName } from './config-problem.ts';

/** A many-to-any names collections and fields that exist, and items that one value identifies. */
export const configManyToAny: Rule = (schema, { config }) => {
  const byName = collectionsByName(schema.collections);
  return (config.manyToAny ?? []).flatMap((declared, index) => {
    const path = ['manyToAny', index];
    return [
      ...unknownCollections(
        path,
        [
          ['collection', declared.collection],
          ['link', declared.link],
        ],
        byName,
      ),
      ...checkLink(path, declared, byName),
      ...checkAllowed([...path, 'allowed'], declared.allowed, byName),
    ];
  });
};

type Path = readonly (string | number)[];
type Collections = ReadonlyMap<string, Collection>;

/** Reports each name of a list of `[key, name]` that is no collection. */
export function unknownCollections(
  path: Path,
  names: readonly (readonly [string | number, string])[],
  byName: Collections,
): readonly Diagnostic[] {
  return names
    .filter(([, name]) => !byName.has(name))
    .map(([key, name]) => unknownName([...path, key], `There is no collection "${name}".`, name, byName.keys()));
}

function checkLink(path: Path, declared: ManyToAnyConfig, byName: Collections): readonly Diagnostic[] {
  const [collection, link] = [byName.get(declared.collection), byName.get(declared.link)];
  if (link === undefined) return [];
  const fields = [
    ['linkField', declared.linkField],
    ['collectionField', declared.collectionField],
    ['itemField', declared.itemField],
    ...(declared.sort === undefined ? [] : [['sort', declared.sort] as const]),
  ] as const;
  const names = new Set([...link.fields, ...link.relations].map(({ name }) => name));
  const unknown = fields.filter(([, name]) => !names.has(name));
  const problems = unknown.map(([key, name]) => unknownField([...path, key], name, link));
  if (link.key.length === 0) problems.push(withoutKey([...path, 'link'], link));
  const linked = collection === undefined || linkPairs(collection, link, declared.linkField) !== null;
  return linked || problems.length > 0 ? problems : [wrongLink(path, declared)];
}

function checkAllowed(path: Path, allowed: readonly string[], byName: Collections): readonly Diagnostic[] {
  if (allowed.length === 0)
    return [configError(path, 'config-many-to-any', 'The list of allowed collections is empty.')];
  const found = allowed.flatMap((name, index) => {
    const collection = byName.get(name);
    return collection === undefined || collection.key.length === 1 ? [] : [withoutKey([...path, index], collection)];
  });
  const entries = allowed.map((name, index) => [index, name] as const);
  return [...unknownCollections(path, entries, byName), ...found];
}

function withoutKey(path: Path, { name, key }: Collection): Diagnostic {
  const reason = key.length === 0 ? 'has no key' : 'has a key of several fields';
  return configError(path, 'config-many-to-any', `The collection "${name}" ${reason}, so no value can name its items.`);
}

function wrongLink(path: Path, { collection, link, linkField }: ManyToAnyConfig): Diagnostic {
  const message = `The field "${linkField}" of "${link}" does not lead to "${collection}".`;
  const hint = 'Name the field that holds the key of the item.';
  return configError([...path, 'linkField'], 'config-many-to-any', message, hint);
}
