import { invalidQuery, missingName } from '../../errors.ts';
import { neighboursIn } from '../../language/conditions/filter-operand.ts';
import { always, type Condition, never, type Operand } from '../../language/index.ts';
import { isOrdered } from '../../language/operators/index.ts';
import { isTextual } from '../../language/types/index.ts';
import { type Call, resolveCall } from '../../sql/calls.ts';
import type { WordsCondition } from '../../sql/condition.ts';
import type { CollectionScope, FieldScope, RelationScope, Scope } from '../../sql/scope.ts';
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
      if (relation === undefined || target === undefined) throw missingName(level, name);
      through.push(relation);
      level = target;
    }
    const filter = path.length === 1 ? condition : always;
    return { through, by: resolveOrderKey(level, path.at(-1) ?? '', filter), descending };
  });
}

function resolveOrderKey(level: CollectionScope, name: string, condition: Condition): OrderKey {
  const field = level.fields.get(name);
  if (field?.secret === true) throw missingName(level, name);
  if (field !== undefined) return { kind: 'plain', field };
  if (level.relations.has(name)) return { kind: 'unfit' };
  const found = resolveCall(level, name, condition)?.found;
  if (found === undefined || found === 'hidden') throw missingName(level, name);
  return found === 'unfit' ? { kind: 'unfit' } : found;
}

/** The last stage of `sort`: checks that the names lead through single rows to something that has an order. */
export function checkSort(order: readonly OrderTerm[]): void {
  for (const { through, by } of order) {
    const ordered = by.kind === 'plain' ? isOrdered(by.field.descriptor) : by.kind !== 'unfit';
    if (!ordered || through.some((relation) => relation.descriptor.kind !== 'm2o')) {
      throw invalidQuery('"sort" takes fields that have an order, also through relations to one item.');
    }
  }
}

/**
 * Condition on rows for `search`: a readable text field contains the text, in any case (API specification, section
 * 5.1). As in every condition, cells that cannot be read cannot be searched; without a readable text field no row meets
 * it.
 */
function searchCondition(collection: CollectionScope, text: string): Condition {
  const operand: Operand = { kind: 'literal', value: text };
  const [indexed] = indexedFields(collection);
  if (indexed !== undefined && text.trim() !== '')
    return { kind: 'compare', field: indexed, operator: '_words', operand };
  const conditions: Condition[] = [];
  for (const { descriptor, secret } of collection.fields.values()) {
    if (secret || descriptor.computed !== undefined || !isTextual(descriptor.type)) continue;
    conditions.push({ kind: 'compare', field: descriptor.name, operator: '_icontains', operand });
  }
  return conditions.length === 0 ? never : { kind: 'or', of: conditions };
}

/** Fields with an index of words, if all can be read on every row: else words would find hidden texts. */
function indexedFields({ descriptor, fields }: CollectionScope): readonly string[] {
  const { search } = descriptor;
  const isOpen = search?.fields.every((name) => fields.get(name)?.grant === null && fields.get(name)?.secret !== true);
  return isOpen === true ? (search?.fields ?? []) : [];
}

/** The order of a list: what was asked for, else the best first where words are looked for, or the nearest vector. */
export function orderBySearch(
  order: readonly OrderTerm[],
  condition: Condition,
  collection: CollectionScope,
): readonly OrderTerm[] {
  if (order.length > 0) return order;
  const [near, ...others] = neighboursIn(condition);
  const field = near && collection.fields.get(near.field);
  if (field !== undefined && near !== undefined && others.length === 0)
    return [{ through: [], by: { kind: 'distance', field, near: near.operand }, descending: false }];
  if (condition.kind !== 'and') return order;
  const comparison = condition.of.find((part) => part.kind === 'compare' && part.operator === '_words');
  if (comparison?.kind !== 'compare') return order;
  return [{ through: [], by: { kind: 'words', condition: comparison }, descending: true }];
}

/** Throws INVALID_QUERY for a list that only orders by vectors, and has no limit or a high one. */
export function refuseUnlimited(condition: Condition, limit: number): void {
  if (limit !== -1 && limit <= maxNeighbours) return;
  if (neighboursIn(condition).length > 0)
    throw invalidQuery(`"_near" without "within" needs a "limit" of at most ${maxNeighbours}.`);
}

const maxNeighbours = 1_000;

/** A filter's condition, together with that of a search when there is one. */
export function withSearch(filter: Condition, collection: CollectionScope, search: string | undefined): Condition {
  return search === undefined ? filter : { kind: 'and', of: [filter, searchCondition(collection, search)] };
}
