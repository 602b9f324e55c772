import type { ManyToManyConfig, PlatformConfig } from '../../config/config.ts';
import { sortedBy } from '../../order.ts';
import type { Collection, Key, Relation, Schema, Table } from '../../schema.ts';
import {
  collectionsByName,
  foreignKeyLabel,
  type ManyToOneRelation,
  manyToOnesOf,
  namesIn,
  reversed,
  tablesById,
  withRelations,
} from '../lookup.ts';

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
  const owners = Map.groupBy(directions, ({ near }) => near.target);
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
  for (const [target, group] of Map.groupBy(unnamed, ({ far }) => far.target)) {
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

function heldBefore(owner: Collection, sides: readonly Direction[], previous: Schema | null): Direction | undefined {
  const before = previous?.collections.find(({ name }) => name === owner.name);
  return sides.find(({ junction, near, far }) =>
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

/** Two foreign keys of one collection that make it a junction, with the names the configuration gives, if any. */
interface Junction {
  readonly collection: Collection;
  readonly near: ManyToOneRelation;
  readonly far: ManyToOneRelation;
  /** Name on the target of `near`. */
  readonly name: string | null;
  /** Name on the target of `far`. */
  readonly inverseName: string | null;
  readonly sort: string | null;
}

/**
 * Finds the junctions: those the configuration declares, and every collection whose primary key is exactly two foreign
 * keys. A collection with a key of its own and a unique pair of foreign keys that are never null is one, too.
 *
 * The `tenantColumn` may stand beside the pair in its key. Source: API specification, section 7.1. A declaration stands
 * for the derived junction over the same pair.
 */
function findJunctions(
  collections: readonly Collection[],
  tables: readonly Table[],
  declared: readonly ManyToManyConfig[],
  tenantColumn: string | undefined,
): readonly Junction[] {
  const byId = tablesById(tables);
  return collections.flatMap((collection) => {
    const named = declared
      .filter(({ junction }) => junction === collection.name)
      .flatMap((config) => declaredJunction(collection, config));
    const table = byId.get(collection.table);
    const derived = table === undefined ? [] : derivedJunctions(collection, table, tenantColumn);
    return [...named, ...derived.filter((junction) => !named.some((other) => samePair(junction, other)))];
  });
}

function declaredJunction(collection: Collection, config: ManyToManyConfig): readonly Junction[] {
  const relations = manyToOnesOf(collection);
  const near = relations.find(({ name }) => name === config.near);
  const far = relations.find(({ name }) => name === config.far);
  if (near === undefined || far === undefined || near === far) return [];
  const sort = collection.fields.find(({ name }) => name === config.sort)?.name ?? null;
  return [{ collection, near, far, name: config.name ?? null, inverseName: config.inverseName ?? null, sort }];
}

function derivedJunctions(collection: Collection, table: Table, tenantColumn?: string): readonly Junction[] {
  if (table.primaryKey === null || collection.key.length === 0) return [];
  const relations = manyToOnesOf(collection);
  const keyed = pairOver(table.primaryKey, relations, tenantColumn);
  const pairs = keyed === null ? surrogatePairs(table, relations, tenantColumn) : [keyed];
  return pairs.map(([near, far]) => ({ collection, near, far, name: null, inverseName: null, sort: null }));
}

type Pair = readonly [ManyToOneRelation, ManyToOneRelation];

/** Unique pairs of foreign keys beside a primary key that is part of neither. */
function surrogatePairs(table: Table, relations: readonly ManyToOneRelation[], tenantColumn?: string): readonly Pair[] {
  const surrogate = new Set(table.primaryKey?.columns);
  const required = relations.filter(({ nullable, on }) => !nullable && !on.some(({ from }) => surrogate.has(from)));
  const pairs = table.uniques.flatMap((unique) => {
    const pair = pairOver(unique, required, tenantColumn);
    return pair === null ? [] : [pair];
  });
  return pairs.filter((pair, index) => pairs.findIndex((other) => sameRelations(pair, other)) === index);
}

/** The first two foreign keys, by name, that part the columns of a key; the tenant's may be left over or in both. */
function pairOver({ columns }: Key, relations: readonly ManyToOneRelation[], tenantColumn?: string): Pair | null {
  const has = ({ on }: ManyToOneRelation, column: string): boolean => on.some(({ from }) => from === column);
  const isOwned = ({ on }: ManyToOneRelation): boolean => on.some(({ from }) => from !== tenantColumn);
  const inside = relations.filter(({ on }) => on.every(({ from }) => columns.includes(from)));
  for (const near of inside) {
    const far = inside.find((other) =>
      columns.every((column) => {
        if (column !== tenantColumn) return has(near, column) !== has(other, column);
        return !(has(near, column) && has(other, column)) || (isOwned(near) && isOwned(other));
      }),
    );
    if (far !== undefined) return [near, far];
  }
  return null;
}

function samePair(left: Junction, right: Junction): boolean {
  return sameRelations([left.near, left.far], [right.near, right.far]);
}

function sameRelations(left: Pair, right: Pair): boolean {
  return left.every((relation) => right.includes(relation));
}
