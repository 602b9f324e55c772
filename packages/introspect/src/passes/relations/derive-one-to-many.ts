import { groupedBy, sortedBy } from '../../order.ts';
import type { Collection, Relation, Table } from '../../schema.ts';
import {
  foreignKeyLabel,
  type ManyToOneRelation,
  manyToOnesOf,
  namesIn,
  reversed,
  tablesById,
  withRelations,
} from '../lookup.ts';

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
  const children = groupedBy(childrenOf(collections, tables), ({ parent }) => parent);
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
      const groups = groupedBy(manyToOnesOf(collection), ({ target }) => target);
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

/** True when some key of the table lies within the foreign key, so that a parent has at most one child. */
function isUnique(table: Table | undefined, { on }: ManyToOneRelation): boolean {
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
