import { type Condition, never, type Operand } from '../../language/index.ts';
import { isTextual } from '../../language/types/index.ts';
import type { CollectionScope } from '../../sql/scope.ts';

/**
 * Condition on rows for `search`: some readable text field contains the text, in any case (API specification, section
 * 5.1). It is a condition like every other, so cells that cannot be read cannot be searched; without a readable text
 * field no row meets it.
 */
function searchCondition(collection: CollectionScope, text: string): Condition {
  const operand: Operand = { kind: 'literal', value: text };
  const conditions: Condition[] = [];
  for (const { descriptor, secret } of collection.fields.values()) {
    if (secret || !isTextual(descriptor.type)) continue;
    conditions.push({ kind: 'compare', field: descriptor.name, operator: '_icontains', operand });
  }
  return conditions.length === 0 ? never : { kind: 'or', of: conditions };
}

/** A filter's condition, together with that of a search when there is one. */
export function withSearch(filter: Condition, collection: CollectionScope, search: string | undefined): Condition {
  return search === undefined ? filter : { kind: 'and', of: [filter, searchCondition(collection, search)] };
}
