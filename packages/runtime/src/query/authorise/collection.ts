import { forbidden, missingCollection, PlatformError } from '../../errors.ts';
import { authoriseRows } from '../../sql/archived/other-rows.ts';
import type { Archived } from '../../sql/archived/rows-by-state.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';
import type { Selector } from './shape.ts';

/** The names stage of a collection: FORBIDDEN when hidden or unknown; ROUTE_NOT_FOUND for an item of a singleton. */
export function authoriseCollection(
  scope: Scope,
  name: string,
  selector: Selector,
  archived?: Archived,
): CollectionScope {
  const live = scope.collections.get(name);
  if (live === undefined) throw missingCollection(name);
  const collection = authoriseRows(live, archived);
  if (selector === 'list') return collection;
  if (collection.descriptor.singleton && selector !== 'written') throw new PlatformError('ROUTE_NOT_FOUND');
  if (collection.descriptor.key.length === 0) throw forbidden();
  return collection;
}
