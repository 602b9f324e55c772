/** Relations as one role reads them: those without a field of their name. */
import type { RelationDescriptor } from '@tablewright/runtime/language';
import type { RoleRelation } from '../../role-view/role-view.ts';
import {
  type CollectionPair,
  compareMembers,
  deprecationChange,
  type Finding,
  type Found,
  quoted,
  type Side,
  when,
} from '../side.ts';

/** Compares the relations that can be read on one side or both. */
export function compareRelations(pair: CollectionPair): readonly Found[] {
  return compareMembers(pair, 'relation', [pair.was.relations, pair.is.relations], descriptorOf, (was, is) =>
    compareRelation(pair, was, is),
  );
}

/** A relation is what it does: one of the same kind to the same items by the same columns is the same under another name. */
export function renamedRelations(pair: CollectionPair): readonly (readonly [string, string])[] {
  const { before, after, was, is, collections } = pair;
  const gone = was.relations.filter(({ name }) => !is.relations.some((other) => other.name === name));
  const fresh = is.relations.filter(({ name }) => !was.relations.some((other) => other.name === name));
  return gone.flatMap(({ name }) => {
    const form = formOf(descriptorOf(before, was.name, name), collections);
    const same = fresh.filter((relation) => formOf(descriptorOf(after, is.name, relation.name)) === form);
    const [found] = same;
    return found && same.length === 1 ? [[name, found.name] as const] : [];
  });
}

function formOf(relation: RelationDescriptor | undefined, names?: ReadonlyMap<string, string>): string {
  if (relation === undefined) return '';
  const { kind, target } = relation;
  return JSON.stringify([
    kind,
    names?.get(target) ?? target,
    relation.kind === 'm2m' ? [relation.near, relation.far] : relation.on,
  ]);
}

function descriptorOf({ version }: Side, collection: string, name: string): RelationDescriptor | undefined {
  return version.collections.get(collection)?.descriptor.relations.find((relation) => relation.name === name);
}

function compareRelation(
  { before, after, was: oldCollection, is: other, collections }: CollectionPair,
  was: RoleRelation,
  is: RoleRelation,
): readonly Finding[] {
  const name = is.name;
  const [old, fresh] = [descriptorOf(before, oldCollection.name, was.name), descriptorOf(after, other.name, name)];
  const renamed = when(was.name !== name, 'relation-renamed', `"${was.name}" is "${name}" now.`);
  // Readers of the relation are told that the collection has another name.
  const target = collections.get(was.target.collection) ?? was.target.collection;
  if (target !== is.target.collection && was.kind !== 'm2a') {
    const message = `"${name}" leads to "${is.target.collection}" in place of "${was.target.collection}".`;
    return [...renamed, { rule: 'relation-target-changed', message }];
  }
  const many = (kind: RoleRelation['kind']): boolean => kind !== 'm2o';
  if (many(was.kind) !== many(is.kind) || (was.kind === 'm2a') !== (is.kind === 'm2a')) {
    return [
      ...renamed,
      { rule: 'relation-kind-changed', message: `"${name}" is ${kinds[is.kind]}, it was ${kinds[was.kind]}.` },
    ];
  }
  return [...renamed, ...detailChanges(was, is, old, fresh, collections)];
}

function detailChanges(
  was: RoleRelation,
  is: RoleRelation,
  old: RelationDescriptor | undefined,
  fresh: RelationDescriptor | undefined,
  names: ReadonlyMap<string, string>,
): readonly Finding[] {
  const { name } = is;
  const linked = ({ linked: targets }: RoleRelation): readonly string[] => targets.map(({ collection }) => collection);
  const linkedBefore = linked(was).map((target) => names.get(target) ?? target);
  const lost = linkedBefore.filter((target) => !linked(is).includes(target));
  const won = linked(is).filter((target) => !linkedBefore.includes(target));
  const sort = sortOf(fresh) ?? 'their key';
  return [
    ...when(!was.nullable && is.nullable, 'relation-now-nullable', `"${name}" can be null.`),
    ...when(was.nullable && !is.nullable, 'relation-never-null', `"${name}" is never null.`),
    ...when(!was.single && is.single, 'relation-now-single', `"${name}" has one item at most.`),
    ...when(was.single && !is.single, 'relation-now-many', `"${name}" can have many items.`),
    ...when(lost.length > 0, 'link-target-removed', `"${name}" leads no longer to ${quoted(lost)}.`),
    ...when(won.length > 0, 'link-target-added', `"${name}" can lead to ${quoted(won)}.`),
    ...when(sortOf(old) !== sortOf(fresh), 'relation-sort-changed', `Items of "${name}" are sorted by ${sort}.`),
    ...deselectChanges(name, old, fresh),
    ...deprecationChange('relation', was, is),
  ];
}

function sortOf(relation: RelationDescriptor | undefined): string | null {
  return relation === undefined || relation.kind === 'm2o' ? null : (relation.sort ?? null);
}

function deselectChanges(name: string, old?: RelationDescriptor, is?: RelationDescriptor): readonly Finding[] {
  if (old?.kind !== 'o2m' || is?.kind !== 'o2m' || old.onDeselect === is.onDeselect) return [];
  const isDeleted = is.onDeselect === 'delete';
  return [
    ...when(isDeleted, 'deselect-deletes', `"${name}" now deletes removed items.`),
    ...when(!isDeleted, 'deselect-keeps', `"${name}" now keeps removed items.`),
  ];
}

const kinds: Readonly<Record<RoleRelation['kind'], string>> = {
  m2o: 'one item',
  o2m: 'a list of items',
  m2m: 'a list of items',
  m2a: 'a list of links',
};
