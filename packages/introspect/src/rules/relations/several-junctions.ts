import { groupedBy } from '../../order.ts';
import { type ManyToManyRelation, manyToManysOf } from '../../passes/lookup.ts';
import type { Collection } from '../../schema.ts';
import type { Rule } from '../rule.ts';
import { quotedList } from '../rule.ts';

/** Where several junctions lead to one collection, people should know which has the plain name. */
export const ambiguousJunctions: Rule = (schema, { config }) => {
  const named = new Set(Object.values(config.relations ?? {}).flatMap(({ name }) => name ?? []));
  return schema.collections.flatMap((collection) =>
    [...groupedBy(manyToManysOf(collection), ({ target }) => target)].flatMap(([target, group]) => {
      const plain = group.find(({ name }) => name === target && !named.has(name));
      return plain === undefined || group.length < 2 ? [] : [plainName(collection, plain, group)];
    }),
  );
};

function plainName(collection: Collection, plain: ManyToManyRelation, group: readonly ManyToManyRelation[]) {
  const others = group.filter((relation) => relation !== plain).map(({ name }) => name);
  return {
    code: 'several-junctions',
    severity: 'info' as const,
    place: `collection ${collection.name}`,
    message: `"${plain.name}" goes through "${plain.junction}"; beside it there is ${quotedList(others)}.`,
    hint: `To choose names: relations: { ${JSON.stringify(`${collection.name}.${plain.name}`)}: { name: … } }.`,
  };
}
