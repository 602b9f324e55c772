import { dialectFacts } from '@tablewright/runtime/language';
import { tablesById } from '../passes/lookup.ts';
import type { Rule } from './rule.ts';
import { columnPlace } from './rule.ts';

/** A server without distances cannot serve vectors. */
export const vectors: Rule = (schema) => {
  const { title, measuresVectors } = dialectFacts[schema.dialect];
  if (measuresVectors) return [];
  const byId = tablesById(schema.tables);
  return schema.collections.flatMap(({ table, fields }) => {
    const columns = byId.get(table)?.columns.filter(({ type }) => type.portable === 'vector') ?? [];
    const served = columns.filter(({ name }) => fields.some(({ column }) => column === name));
    return served.map(({ name }) => ({
      code: 'vector-unsupported',
      severity: 'error' as const,
      place: columnPlace(schema, table, name),
      message: `${title} has no distances of vectors, so "${name}" cannot be served.`,
      hint: 'Leave it out: `hidden: true` for the field in platform.config.ts.',
    }));
  });
};
