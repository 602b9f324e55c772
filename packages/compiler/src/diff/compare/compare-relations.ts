/** Relations as one role reads them: those without a field of their name. */
import type { Collection, JoinPair } from '@tablewright/introspect/schema';
import type { RelationDescriptor } from '@tablewright/runtime/language';
import type { RoleRelation } from '../../role-view/role-view.ts';
import {
  type CollectionPair,
  compareMembers,
  deprecationChange,
  type Finding,
  type Found,
  itemChanges,
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

/** A relation is what it does: one of the same kind on the same way is the same under another name. */
export function renamedRelations(pair: CollectionPair): readonly (readonly [string, string])[] {
  const { was, is } = pair;
  const gone = was.relations.filter(({ name }) => !is.relations.some((other) => other.name === name));
  const fresh = is.relations.filter(({ name }) => !was.relations.some((other) => other.name === name));
  return gone.flatMap(({ name, kind }) => {
    const way = wayBefore(pair, name);
    const same = fresh.filter((relation) => relation.kind === kind && wayAfter(pair, relation.name) === way);
    const [found] = same;
    return found && same.length === 1 ? [[name, found.name] as const] : [];
  });
}

/** Finds that a relation leads to items of the same collection by other columns, or through another one. */
export function wayChange(pair: CollectionPair, was: string, is: string): readonly Finding[] {
  const [old, fresh] = [wayBefore(pair, was), wayAfter(pair, is)];
  const message = `"${is}" leads to ${fresh}, it led to ${old}.`;
  return when(old !== fresh, 'relation-source-changed', message);
}

/** Names under which ways are compared. */
interface Naming {
  readonly collection: (name: string) => string;
  readonly column: (collection: string, name: string) => string;
  readonly field: (collection: string, name: string) => string;
}

/** Under the names that collections, fields and columns have after the change. */
function wayBefore({ before, was, renames: { collections, members, stored } }: CollectionPair, name: string): string {
  const { resolved } = before.version;
  const nameOf = (collection: string): string => collections.get(collection) ?? collection;
  return wayOf(resolved.get(was.name), name, {
    collection: nameOf,
    column: (collection, column) => stored.columns.get(resolved.get(collection)?.table ?? '')?.get(column) ?? column,
    field: (collection, field) => members.get(nameOf(collection))?.get(field) ?? field,
  });
}

function wayAfter({ after, is }: CollectionPair, name: string): string {
  const asItIs = (_: string, part: string): string => part;
  return wayOf(after.version.resolved.get(is.name), name, {
    ...{ collection: (collection) => collection, column: asItIs, field: asItIs },
  });
}

/** `articles by (id to author_id)`, `tags by articles_tags (id to article_id; tag_id to id)` */
function wayOf(owner: Collection | undefined, name: string, named: Naming): string {
  const relation = owner?.relations.find((candidate) => candidate.name === name);
  if (owner === undefined || relation === undefined) return '';
  const { target } = relation;
  const joined = (pairsOf: readonly JoinPair[], from: string, to: string): string =>
    pairsOf
      .map((pair) => `${named.column(from, pair.from)} to ${named.column(to, pair.to)}`)
      .sort()
      .join(', ');
  const start = `${named.collection(target)} by `;
  if (relation.kind === 'm2m') {
    const { junction, near, far } = relation;
    const links = `${joined(near, owner.name, junction)}; ${joined(far, junction, target)}`;
    return `${start}${named.collection(junction)} (${links})`;
  }
  const on = `(${joined(relation.on, owner.name, target)})`;
  if (relation.kind !== 'm2a') return `${start}${on}`;
  const { collectionField, itemField } = relation;
  return `${start}${named.field(target, collectionField)} and ${named.field(target, itemField)} ${on}`;
}

function descriptorOf({ version }: Side, collection: string, name: string): RelationDescriptor | undefined {
  return version.collections.get(collection)?.descriptor.relations.find((relation) => relation.name === name);
}

function compareRelation(pair: CollectionPair, was: RoleRelation, is: RoleRelation): readonly Finding[] {
  const { before, after, was: oldCollection, is: other, renames } = pair;
  const { collections } = renames;
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
  return [...renamed, ...wayChange(pair, was.name, name), ...detailChanges(was, is, old, fresh, collections)];
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
    ...itemChanges('relation', was, is),
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
