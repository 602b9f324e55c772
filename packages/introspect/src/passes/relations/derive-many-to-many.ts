import type { PlatformConfig } from '../../config/config.ts';
import { groupedBy, sortedBy } from '../../order.ts';
import type { Collection, Relation, Schema, Table } from '../../schema.ts';
import { collectionsByName, foreignKeyLabel, namesIn, reversed, withRelations } from '../lookup.ts';
import { findJunctions, type Junction } from './find-junctions.ts';
import { type Direction, plainHolder } from './plain-holder.ts';

/**
 * Derives both directions of every junction.
 * A relation is named as its target; `<target>_via_<junction>` when that name is in use, and
 * `<target>_via_<junction>_<far foreign key>` when both ends are one collection. If several junctions join the same two
 * collections, one holds the plain name (see `plainHolder`).
 */
export function deriveManyToMany(
  collections: readonly Collection[],
  tables: readonly Table[],
  { manyToMany = [], tenant }: Pick<PlatformConfig, 'manyToMany' | 'tenant'>,
  declared: ReadonlyMap<string, ReadonlySet<string>>,
  previous: Schema | null,
): readonly Collection[] {
  const byName = collectionsByName(collections);
  const directions = findJunctions(collections, tables, manyToMany, tenant?.column)
    .flatMap(bothDirections)
    .filter(({ far }) => (byName.get(far.target)?.key.length ?? 0) > 0);
  const owners = groupedBy(directions, ({ near }) => near.target);
  return collections.map((collection) => {
    const taken = namesIn(collection);
    for (const name of declared.get(collection.name) ?? []) taken.add(name);
    return withRelations(collection, nameDirections(collection, owners.get(collection.name) ?? [], taken, previous));
  });
}

function bothDirections({ collection, near, far, name, inverseName, sort }: Junction): readonly Direction[] {
  return [
    { junction: collection, near, far, name, sort },
    { junction: collection, near: far, far: near, name: inverseName, sort },
  ];
}

function nameDirections(
  owner: Collection,
  directions: readonly Direction[],
  taken: Set<string>,
  previous: Schema | null,
): readonly Relation[] {
  const named = directions.filter(({ name }) => name !== null);
  const unnamed = sortedBy(
    directions.filter(({ name }) => name === null),
    ({ far }) => far.target,
    ({ junction }) => junction.name,
    ({ far }) => far.name,
  );
  const relations = named.map((direction) => relationOf(direction, direction.name ?? ''));
  for (const [target, group] of groupedBy(unnamed, ({ far }) => far.target)) {
    const holder = target === owner.name || taken.has(target) ? null : plainHolder(owner, group, previous);
    for (const direction of group) {
      const name = direction === holder ? target : viaName(owner, direction, taken);
      relations.push(relationOf(direction, claim(name, taken)));
    }
  }
  return relations;
}

function claim(name: string, taken: Set<string>): string {
  taken.add(name);
  return name;
}

function viaName(owner: Collection, { junction, far }: Direction, taken: ReadonlySet<string>): string {
  const name = `${far.target}_via_${junction.name}`;
  const ambiguous = far.target === owner.name || taken.has(name);
  return ambiguous ? `${name}_${foreignKeyLabel(junction, far)}` : name;
}

function relationOf({ junction, near, far, sort }: Direction, name: string): Relation {
  const pairs = { near: reversed(near.on), far: far.on };
  return { kind: 'm2m', name, target: far.target, junction: junction.name, ...pairs, sort };
}
