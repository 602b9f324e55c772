import { groupedBy } from '../../order.ts';
import { manyToOnesOf } from '../../passes/lookup.ts';
import { isFieldsOwn } from '../../passes/relations/configure-relations.ts';
import { columnPlace, type Rule } from '../rule.ts';

/** If several foreign keys use one column, the first by name is read through the field. */
export const repeatedForeignKeys: Rule = (schema) =>
  schema.collections.flatMap((collection) => {
    const single = manyToOnesOf(collection).filter(({ on }) => on.length === 1);
    const groups = groupedBy(single, ({ on }) => on.map(({ from }) => from).join());
    return [...groups].flatMap(([column, group]) => {
      const first = group.find(isFieldsOwn);
      return group
        .filter((relation) => first !== undefined && relation !== first)
        .map((relation) => ({
          code: 'several-foreign-keys',
          severity: 'info' as const,
          place: columnPlace(schema, collection.table, column),
          message: `The foreign key "${relation.foreignKey}" is read as "${relation.name}"; the field reads "${first?.foreignKey}".`,
          hint: null,
        }));
    });
  });
