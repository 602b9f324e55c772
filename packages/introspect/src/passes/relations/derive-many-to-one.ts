import type { PlatformConfig } from '../../config/config.ts';
import { sortedBy } from '../../order.ts';
import type { Collection, ForeignKey, JoinPair, Relation, Table } from '../../schema.ts';
import {
  fieldNames,
  foreignKeyLabel,
  type ManyToOneRelation,
  manyToOnesOf,
  namesIn,
  reversed,
  tablesById,
  withRelations,
} from '../lookup.ts';
import { relationKey } from './configure-relations.ts';

/**
 * Reads every foreign key between shown tables and columns as a many-to-one.
 * A single-column key is named as its field. A composite one is named as the collection it references, and
 * `<target>_by_<fields>` where that name is a field's or several keys lead there. If several keys use one column, the
 * first by constraint name takes the field, the others are `<target>_by_<field>`. A key that repeats another is left
 * out. The result is the same object for the same collection, table and targets as the last time.
 */
export function deriveManyToOne(collections: readonly Collection[], tables: readonly Table[]): readonly Collection[] {
  const byId = tablesById(tables);
  const targets = new Map(collections.map((collection) => [collection.table, collection.name]));
  return collections.map((collection) => {
    const table = byId.get(collection.table);
    if (table === undefined || table.foreignKeys.length === 0) return collection;
    const named = table.foreignKeys.map(({ target }) => targets.get(target));
    const cached = last.get(collection);
    if (cached?.table === table && cached.targets.every((target, index) => target === named[index])) return cached.made;
    const made = withManyToOne(collection, table, targets);
    last.set(collection, { table, targets: named, made });
    return made;
  });
}

/** The last collection made of a table, and its sources: the names of its foreign keys' targets. */
interface Made {
  readonly table: Table;
  readonly targets: readonly (string | undefined)[];
  readonly made: Collection;
}

const last = new WeakMap<Collection, Made>();

function withManyToOne(
  collection: Collection,
  { columns, foreignKeys }: Table,
  targets: ReadonlyMap<string, string>,
): Collection {
  const keys = visibleKeys(collection, foreignKeys, targets);
  if (keys.length === 0) return collection;
  const nullable = new Set(columns.filter((column) => column.nullable).map(({ name }) => name));
  const single = keys.filter(({ on }) => on.length === 1);
  const composite = keys.filter(({ on }) => on.length > 1);
  const relations = [...nameSingle(collection, single), ...nameComposite(collection, composite)];
  return withRelations(
    collection,
    relations.map((relation) => ({ ...relation, nullable: relation.on.some(({ from }) => nullable.has(from)) })),
  );
}

interface Key {
  readonly foreignKey: string;
  readonly target: string;
  readonly on: readonly JoinPair[];
}

type Named = Omit<Extract<Relation, { readonly kind: 'm2o' }>, 'nullable'>;

/** Foreign keys whose columns and target are in the API, without repetitions, by constraint name. */
function visibleKeys(
  collection: Collection,
  foreignKeys: readonly ForeignKey[],
  targets: ReadonlyMap<string, string>,
): readonly Key[] {
  const shown = new Set(collection.fields.map(({ column }) => column));
  const keys = foreignKeys.flatMap((key) => {
    const target = targets.get(key.target);
    if (target === undefined || !key.columns.every((column) => shown.has(column))) return [];
    return [{ foreignKey: key.name, target, on: pairsOf(key) }];
  });
  if (keys.length < 2) return keys;
  const distinct = Map.groupBy(keys, ({ target, on }) =>
    JSON.stringify([target, on.map(({ from, to }) => [from, to])]),
  );
  return [...distinct.values()].flatMap((group) => group.slice(0, 1));
}

function pairsOf(key: ForeignKey): readonly JoinPair[] {
  return key.columns.flatMap((from, index) => {
    const to = key.targetColumns[index];
    return to === undefined ? [] : [{ from, to }];
  });
}

function nameSingle(collection: Collection, keys: readonly Key[]): readonly Named[] {
  const groups = Map.groupBy(keys, (key) => fieldNames(collection, key).join());
  return [...groups].flatMap(([field, group]) =>
    group.map((key, index) =>
      index === 0
        ? { kind: 'm2o', name: field, field, ...key }
        : { kind: 'm2o', name: `${key.target}_by_${field}`, field: null, ...key },
    ),
  );
}

function nameComposite(collection: Collection, keys: readonly Key[]): readonly Named[] {
  const taken = new Set(collection.fields.map(({ name }) => name));
  const groups = Map.groupBy(keys, ({ target }) => target);
  return keys.map((key) => {
    const plain = groups.get(key.target)?.length === 1 && !taken.has(key.target);
    const name = plain ? key.target : `${key.target}_by_${fieldNames(collection, key).join('_')}`;
    return { kind: 'm2o', name, field: null, ...key };
  });
}

/** Leaves out the many-to-ones that the configuration hides, before anything is derived from them. */
export function hideManyToOne(collections: readonly Collection[], config: PlatformConfig): readonly Collection[] {
  const configs = new Map(Object.entries(config.relations ?? {}));
  return collections.map((collection) => ({
    ...collection,
    relations: collection.relations.filter(
      (relation) => configs.get(relationKey(collection, relation))?.hidden !== true,
    ),
  }));
}

/**
 * Derives the inverse of every many-to-one whose collection has a key.
 *
 * It is named as the child when the child has one foreign key to the parent, else `<child>_by_<foreign key>`. A name
 * that the parent uses already takes that form too. `single` tells that the foreign key is unique: one-to-one.
 */
export function deriveOneToMany(
  collections: readonly Collection[],
  tables: readonly Table[],
  declared: ReadonlyMap<string, ReadonlySet<string>>,
): readonly Collection[] {
  const children = Map.groupBy(childrenOf(collections, tables), ({ parent }) => parent);
  return collections.map((collection) => {
    const taken = namesIn(collection);
    for (const name of declared.get(collection.name) ?? []) taken.add(name);
    return withRelations(collection, nameInverses(children.get(collection.name) ?? [], taken));
  });
}

interface Child {
  readonly parent: string;
  readonly child: string;
  /** The child has no other foreign key to the parent. */
  readonly only: boolean;
  readonly label: string;
  readonly single: boolean;
  readonly relation: ManyToOneRelation;
}

function childrenOf(collections: readonly Collection[], tables: readonly Table[]): readonly Child[] {
  const byId = tablesById(tables);
  return collections
    .filter(({ key }) => key.length > 0)
    .flatMap((collection) => {
      const groups = Map.groupBy(manyToOnesOf(collection), ({ target }) => target);
      const table = byId.get(collection.table);
      return [...groups].flatMap(([parent, group]) =>
        group.map((relation) => ({
          parent,
          child: collection.name,
          only: group.length === 1,
          label: foreignKeyLabel(collection, relation),
          single: isUnique(table, relation),
          relation,
        })),
      );
    });
}

/** True when some key of the table lies within the foreign key, and holds of all its rows: a parent has at most one child. */
function isUnique(table: Table | undefined, { on }: ManyToOneRelation): boolean {
  if (table?.inherited === true) return false;
  const columns = new Set(on.map(({ from }) => from));
  const keys = [...(table?.uniques ?? []), ...(table?.primaryKey ? [table.primaryKey] : [])];
  return keys.some((key) => key.columns.every((column) => columns.has(column)));
}

/** Plain names are given out first, so that no `_by_` form can take one. */
function nameInverses(children: readonly Child[], taken: Set<string>): readonly Relation[] {
  const ordered = sortedBy(
    children,
    ({ only }) => (only ? '0' : '1'),
    ({ child }) => child,
    ({ label }) => label,
  );
  return ordered.map((child) => {
    const plain = child.only && !taken.has(child.child);
    const name = plain ? child.child : `${child.child}_by_${child.label}`;
    taken.add(name);
    return inverseOf(child, name);
  });
}

function inverseOf({ child, single, relation }: Child, name: string): Relation {
  return {
    kind: 'o2m',
    name,
    target: child,
    on: reversed(relation.on),
    inverse: relation.name,
    single,
    sort: null,
    onDeselect: 'nullify',
    language: null,
  };
}
