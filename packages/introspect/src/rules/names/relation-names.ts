import { groupedBy } from '../../order.ts';
import { isFieldsOwn } from '../../passes/relations/configure-relations.ts';
import type { Relation } from '../../schema.ts';
import type { Rule } from '../rule.ts';

/** No relation has the name of a field that is not its own, nor of another relation. */
export const relationNames: Rule = (schema) =>
  schema.collections.flatMap((collection) => {
    const fields = new Set(collection.fields.map(({ name }) => name));
    const groups = groupedBy(collection.relations, ({ name }) => name);
    return [...groups].flatMap(([name, group]) => {
      const hasField = group.some(isFieldsOwn);
      const others = group.filter((relation) => !isFieldsOwn(relation));
      const colliding = hasField || fields.has(name) ? others : others.slice(1);
      return colliding.map((relation) => ({
        code: 'name-collision',
        severity: 'error' as const,
        place: `collection ${collection.name}`,
        message: `The relation to "${relation.target}" (${describe(relation)}) would have the name "${name}", which is in use.`,
        hint: `Name it in the configuration: relations: { ${JSON.stringify(`${collection.name}.${name}`)}: { name: … } }.`,
      }));
    });
  });

function describe(relation: Relation): string {
  switch (relation.kind) {
    case 'm2o':
      return `foreign key "${relation.foreignKey}"`;
    case 'o2m':
      return `inverse of "${relation.target}.${relation.inverse}"`;
    case 'm2m':
      return `through "${relation.junction}"`;
    case 'm2a':
      return 'many-to-any of the configuration';
  }
}
