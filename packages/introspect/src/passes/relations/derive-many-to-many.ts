import type { PlatformConfig } from '../../config/config.ts';
import { groupedBy, sortedBy } from '../../order.ts';
import type { Collection, Relation, Schema, Table } from '../../schema.ts';
import {
  collectionsByName,
  foreignKeyLabel,
  type ManyToOneRelation,
  namesIn,
  reversed,
  withRelations,
} from '../lookup.ts';
import { findJunctions, type Junction } from './find-junctions.ts';

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

/**
 * Chooses which of several junctions between two collections gives its relation the plain name, the target's.
 *
 * First the one that had it in the schema compiled before: a new table never renames what exists. Without such, the one
 * named after both ends (`articles_tags`, `tag_article`), else the first by name.
 */
function plainHolder(owner: Collection, directions: readonly Direction[], previous: Schema | null): Direction | null {
  const held = heldBefore(owner, directions, previous);
  const canonical = directions.find((direction) => isNamedAfterEnds(direction));
  return held ?? canonical ?? directions[0] ?? null;
}

function heldBefore(
  owner: Collection,
  directions: readonly Direction[],
  previous: Schema | null,
): Direction | undefined {
  const before = previous?.collections.find(({ name }) => name === owner.name);
  return directions.find(({ junction, near, far }) =>
    before?.relations.some(
      (relation) =>
        relation.kind === 'm2m' &&
        relation.name === far.target &&
        relation.target === far.target &&
        relation.junction === junction.name &&
        relation.near.map(({ to }) => to).join() === near.on.map(({ from }) => from).join(),
    ),
  );
}

function isNamedAfterEnds({ junction, near, far }: Direction): boolean {
  const [name, left, right] = [junction.name, near.target, far.target].map(bare);
  return name === `${left}${right}` || name === `${right}${left}`;
}

/** A name without case, separators and the plural of its words: `Article-Tags` and `articles_tag` are the same. */
function bare(name: string): string {
  const terms = name
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return terms.map((word) => word.replace(/ies$/, 'y').replace(/s$/, '').replace(/e$/, '')).join('');
}

/** One end of a junction: how the target of `near` reads the target of `far`. */
interface Direction {
  readonly junction: Collection;
  readonly near: ManyToOneRelation;
  readonly far: ManyToOneRelation;
  readonly name: string | null;
  readonly sort: string | null;
}
