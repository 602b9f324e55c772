import { forbidden, invalidQuery } from '../../errors.ts';
import { always, type Condition } from '../../language/index.ts';
import { isOrdered } from '../../language/operators/index.ts';
import { type Call, resolveCall } from '../../sql/calls.ts';
import type { CollectionScope, FieldScope, RelationScope, Scope } from '../../sql/scope.ts';
import type { WordsCondition } from '../../sql/words.ts';
import type { SortTerm } from '../parse/request.ts';

/** Key by which rows are ordered: a field, or a function. `unfit` is a name that exists and has no order. */
export type OrderKey =
  | { readonly kind: 'plain'; readonly field: FieldScope }
  | Call
  | { readonly kind: 'words'; readonly condition: WordsCondition }
  | { readonly kind: 'unfit' };

/** One term of an order: the m2o relations that lead to a key, and the key. */
export interface OrderTerm {
  readonly through: readonly RelationScope[];
  readonly by: OrderKey;
  readonly descending: boolean;
}

/** The names stage of `sort`, beside the filter of the same rows. Throws FORBIDDEN for a name that is hidden, unknown or secret. */
export function resolveSort(
  scope: Scope,
  collection: CollectionScope,
  terms: readonly SortTerm[],
  condition: Condition,
): readonly OrderTerm[] {
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
    const filter = path.length === 1 ? condition : always;
    return { through, by: resolveOrderKey(level, path.at(-1) ?? '', filter), descending };
  });
}

function resolveOrderKey(level: CollectionScope, name: string, condition: Condition): OrderKey {
  const field = level.fields.get(name);
  if (field?.secret === true) throw forbidden();
  if (field !== undefined) return { kind: 'plain', field };
  if (level.relations.has(name)) return { kind: 'unfit' };
  const found = resolveCall(level, name, condition)?.found;
  if (found === undefined || found === 'hidden') throw forbidden();
  return found === 'unfit' ? { kind: 'unfit' } : found;
}

/** The last stage of `sort`: checks that the names lead through single rows to something that has an order. */
export function checkSort(order: readonly OrderTerm[]): void {
  for (const { through, by } of order) {
    const ordered = by.kind === 'plain' ? isOrdered(by.field.descriptor) : by.kind !== 'unfit';
    if (!ordered || through.some((relation) => relation.descriptor.kind !== 'm2o')) throw unsortable();
  }
}

function unsortable(): Error {
  return invalidQuery('"sort" takes fields that have an order, also through relations to one item.');
}
