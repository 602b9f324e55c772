import { forbidden } from '../../errors.ts';
import { withArchived } from '../../sql/archived/other-rows.ts';
import type { Archived } from '../../sql/archived/rows-by-state.ts';
import type { CollectionScope } from '../../sql/scope.ts';

/** The names stage of `archived`: FORBIDDEN for those who may not see which items are archived. */
export function authoriseRows(collection: CollectionScope | undefined, archived?: Archived): CollectionScope {
  const found = collection === undefined || archived === undefined ? collection : withArchived(collection, archived);
  if (found === undefined) throw forbidden();
  return found;
}
