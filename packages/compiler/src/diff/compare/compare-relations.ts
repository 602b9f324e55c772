/** Relations as one role reads them: those without a field of their name. */
import type { RelationDescriptor } from '@tablewright/runtime/language';
import type { RoleRelation } from '../../role-view/role-view.ts';
import {
  type CollectionPair,
  type Found,
  memberAdded,
  memberRemoved,
  operationsIn,
  pairs,
  quoted,
  type Side,
} from '../side.ts';

type RelationFinding = Pick<Found, 'rule' | 'message' | 'verdicts'>;

/** Compares the relations that can be read on both sides. */
export function compareRelations(pair: CollectionPair): readonly Found[] {
  const { before, after, was, is } = pair;
  const [old, fresh] = [operationsIn(before, was.name, 'read'), operationsIn(after, is.name, 'read')];
  return pairs(was.relations, is.relations, pair.renamed).flatMap((relations): readonly Found[] => {
    const subject = `${is.name}.${relations.name}`;
    if (relations.was === undefined) {
      const existed = descriptorOf(before, was.name, relations.name) !== undefined;
      return [{ subject, operations: fresh, ...memberAdded('relation', relations.name, existed, after) }];
    }
    if (relations.is === undefined) {
      const stays = descriptorOf(after, is.name, relations.name) !== undefined;
      return [{ subject, operations: old, ...memberRemoved('relation', relations.name, stays, after) }];
    }
    return compareRelation(pair, relations.was, relations.is).map((found) => ({ subject, operations: old, ...found }));
  });
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
): readonly RelationFinding[] {
  const name = is.name;
  const [old, fresh] = [descriptorOf(before, oldCollection.name, was.name), descriptorOf(after, other.name, name)];
  const renamed: readonly RelationFinding[] =
    was.name === name ? [] : [{ rule: 'relation-renamed', message: `"${was.name}" is "${name}" now.` }];
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
): readonly RelationFinding[] {
  const { name } = is;
  const linked = ({ linked: targets }: RoleRelation): readonly string[] => targets.map(({ collection }) => collection);
  const linkedBefore = linked(was).map((target) => names.get(target) ?? target);
  const lost = linkedBefore.filter((target) => !linked(is).includes(target));
  const won = linked(is).filter((target) => !linkedBefore.includes(target));
  const found: readonly (RelationFinding | null)[] = [
    was.nullable === is.nullable
      ? null
      : is.nullable
        ? { rule: 'relation-now-nullable', message: `"${name}" can be null.` }
        : { rule: 'relation-never-null', message: `"${name}" is never null.` },
    was.single === is.single
      ? null
      : is.single
        ? { rule: 'relation-now-single', message: `"${name}" has one item at most.` }
        : { rule: 'relation-now-many', message: `"${name}" can have many items.` },
    lost.length > 0 ? { rule: 'link-target-removed', message: `"${name}" leads no longer to ${quoted(lost)}.` } : null,
    won.length > 0 ? { rule: 'link-target-added', message: `"${name}" can lead to ${quoted(won)}.` } : null,
    sortOf(old) === sortOf(fresh)
      ? null
      : { rule: 'relation-sort-changed', message: `Items of "${name}" are sorted by ${sortOf(fresh) ?? 'their key'}.` },
    deselectChange(name, old, fresh),
    was.deprecated === is.deprecated
      ? null
      : is.deprecated === null
        ? { rule: 'relation-undeprecated', message: `"${name}" is no longer deprecated.` }
        : { rule: 'relation-deprecated', message: `"${name}" is deprecated.` },
  ];
  return found.filter((change) => change !== null);
}

function sortOf(relation: RelationDescriptor | undefined): string | null {
  return relation === undefined || relation.kind === 'm2o' ? null : (relation.sort ?? null);
}

function deselectChange(name: string, old?: RelationDescriptor, fresh?: RelationDescriptor): RelationFinding | null {
  if (old?.kind !== 'o2m' || fresh?.kind !== 'o2m' || old.onDeselect === fresh.onDeselect) return null;
  return fresh.onDeselect === 'delete'
    ? { rule: 'deselect-deletes', message: `"${name}" now deletes removed items.` }
    : { rule: 'deselect-keeps', message: `"${name}" now keeps removed items.` };
}

const kinds: Readonly<Record<RoleRelation['kind'], string>> = {
  m2o: 'one item',
  o2m: 'a list of items',
  m2m: 'a list of items',
  m2a: 'a list of links',
};
