/** Relations → TypeScript types. Targets are named, so related collections may refer to each other in circles. */
import type { ApiCollection, ApiField, ApiRelation, CollectionNames } from '../api.ts';
import type { Lookup } from '../cache/remember.ts';
import { stringLiteral } from '../print/text.ts';
import { flat, generic, list, type Type, union } from '../print/type.ts';
import { sentType, takenType } from './scalar-types.ts';

/** Collections by API name, to look up what stands at the other end. */
export type Collections = Lookup<ApiCollection>;

/** The value under a relation in an answer: keys, or items where they were asked for. */
export function sentRelation(relation: ApiRelation, field: ApiField | null, collections: Collections): Type {
  const { key, item } = relation.target;
  if (relation.descriptor.kind !== 'm2o') return list(union(...keyPart(relation.target, collections), item));
  return union(field ? keyOr(sentType(field), relation.target, collections) : key, item);
}

/** The value under a relation in a payload: link by key, create, update. */
export function takenRelation(relation: ApiRelation, field: ApiField | null, collections: Collections): Type {
  const { create, update } = relation.target;
  const isWritable = collections.get(relation.target.collection)?.descriptor.writable ?? false;
  if (relation.descriptor.kind === 'm2o') {
    const link = field ? takenType(field) : relation.target.key;
    return isWritable ? union(link, create, update) : link;
  }
  const key = listedKey(relation.target, collections);
  if (!isWritable) return list(key);
  const made = madeThrough(relation, collections);
  return union(list(union(key, made, update)), generic('ManyChanges', key, made, update));
}

/** New items of a to-many relation: without what the relation sets. */
function madeThrough({ descriptor, target }: ApiRelation, collections: Collections): Type {
  if (descriptor.kind !== 'o2m' && descriptor.kind !== 'm2a') return target.create;
  const fields = collections.get(target.collection)?.fields ?? [];
  const owned = fields.filter((field) => descriptor.on.some(({ to }) => to === field.descriptor.column));
  if (descriptor.kind === 'o2m') {
    const set = owned.filter((field) => field.required).map(nameOf);
    return set.length === 0 ? target.create : generic('Omit', target.create, union(...set));
  }
  const { collectionField, itemField, allowed } = descriptor;
  const set = union(...[collectionField, itemField].map(stringLiteral), ...owned.map(nameOf));
  const links = allowed.flatMap((name): Type[] => {
    const linked = collections.get(name);
    return linked === undefined ? [] : [generic('LinkTo', target.create, set, stringLiteral(name), anyOne(linked))];
  });
  return links.length === 0 ? target.create : union(...links);
}

function nameOf({ descriptor }: ApiField): string {
  return stringLiteral(descriptor.name);
}

/** The key of an item, a new one, or changes of one. */
function anyOne({ names, descriptor }: ApiCollection): Type {
  const objects = descriptor.writable ? [names.create, names.update] : [];
  return union(...(descriptor.key.length > 0 ? [names.key] : []), ...objects);
}

/** Filter type of a relation. */
export function relationFilterType({ descriptor, target }: ApiRelation): Type {
  if (descriptor.kind === 'm2o') return target.filter;
  return union(target.filter, generic('ManyOperators', target.filter));
}

function keyPart(target: CollectionNames, collections: Collections): readonly Type[] {
  return keyLength(target, collections) === 0 ? [] : [listedKey(target, collections)];
}

/** A key within a list: one of several fields is text in path form there (API specification, section 4). */
function listedKey(target: CollectionNames, collections: Collections): Type {
  return keyLength(target, collections) > 1 ? 'string' : target.key;
}

function keyLength(target: CollectionNames, collections: Collections): number {
  return collections.get(target.collection)?.descriptor.key.length ?? 0;
}

/** The key's name where the foreign key holds the key; a key of another form, or another column, by its own type. */
function keyOr(type: Type, target: CollectionNames, collections: Collections): Type {
  const key = keyType(collections.get(target.collection));
  return key !== null && flat(key) === flat(type) ? target.key : type;
}

/** The type of a key of one field, else null. */
export function keyType(collection: ApiCollection | undefined): Type | null {
  const fields = collection?.fields.filter(({ keyPosition }) => keyPosition !== null) ?? [];
  const [only] = fields;
  return fields.length === 1 && only ? sentType(only) : null;
}
