import type { ManyToManyConfig } from '../../config/config.ts';
import type { Collection, Key, Table } from '../../schema.ts';
import { type ManyToOneRelation, manyToOnesOf, tablesById } from '../lookup.ts';

/** Two foreign keys of one collection that make it a junction, with the names the configuration gives, if any. */
export interface Junction {
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
export function findJunctions(
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

/**
 * The first two foreign keys, by name, into which the columns of a key can be parted. That of the tenant may be left over,
 * or be in both.
 */
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
