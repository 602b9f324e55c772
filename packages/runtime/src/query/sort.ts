import type { FieldDescriptor } from '../contract/index.ts';
import { forbidden, invalidQuery } from './invalid.ts';
import type { SortTerm } from './parse-read.ts';
import type { CollectionScope, FieldScope, RelationScope, Scope } from './scope.ts';

/** One term of `sort` whose names are known: the relations that lead to a field, and the field; none for a relation. */
export interface NamedTerm extends Omit<OrderTerm, 'field'> {
  readonly field: FieldScope | undefined;
}

/** One term of an order: the m2o relations that lead to a field, and the field. */
export interface OrderTerm {
  readonly through: readonly RelationScope[];
  readonly field: FieldScope;
  readonly descending: boolean;
}

/** The names stage of `sort`. Throws FORBIDDEN for a name that is hidden, unknown or secret. */
export function resolveSort(
  scope: Scope,
  collection: CollectionScope,
  terms: readonly SortTerm[],
): readonly NamedTerm[] {
  return terms.map(({ path, descending }) => {
    const through: RelationScope[] = [];
    let level = collection;
    for (const name of path.slice(0, -1)) {
      const relation = level.relations.get(name);
      const target = relation && scope.collections.get(relation.descriptor.target);
      if (relation === undefined || target === undefined) throw forbidden();
      through.push(relation);
      level = target;
    }
    const last = path.at(-1) ?? '';
    const field = level.fields.get(last);
    if (field === undefined ? !level.relations.has(last) : field.secret) throw forbidden();
    return { through, field, descending };
  });
}

/** The last stage of `sort`: whether the names lead through single rows to something that has an order. */
export function checkSort(terms: readonly NamedTerm[]): readonly OrderTerm[] {
  return terms.map(({ through, field, descending }) => {
    if (through.some((relation) => relation.descriptor.kind !== 'm2o')) throw unsortable();
    if (field === undefined || !isOrdered(field.descriptor)) throw unsortable();
    return { through, field, descending };
  });
}

function unsortable(): Error {
  return invalidQuery('"sort" takes fields that have an order, also through relations to one item.');
}

/** Whether PostgreSQL has an order for the type; what is read as text by `comparison` has one. */
export function isOrdered(field: FieldDescriptor): boolean {
  if (field.comparison !== undefined) return true;
  const type = field.type === 'array' ? (field.element ?? 'unknown') : field.type;
  return type !== 'json' && type !== 'unknown';
}
