/** Rows of other states than live ones: in a read, in a write, and in history. */
import { sqlTrue } from '../../dialects/fragment.ts';
import { forbidden } from '../../errors.ts';
import { always } from '../../language/index.ts';
import type { Row } from '../row.ts';
import { asRuleSeesIt } from '../rules.ts';
import type { CollectionScope, Scope } from '../scope.ts';
import type { Archived } from './rows-by-state.ts';

/** SQL predicate that is true on rows that are not archived. */
export function isLive(row: Row): string {
  const { live } = row.collection;
  if (live === undefined) return sqlTrue;
  const seen = asRuleSeesIt(row);
  return seen.statement.print.condition(seen, live);
}

/** A collection with the rows that `archived` asks for; undefined where the class may not ask. */
export function withArchived(collection: CollectionScope, archived: Archived): CollectionScope | undefined {
  if (collection.archived === undefined) return undefined;
  const { live: _, ...others } = collection;
  return { ...others, rows: collection.archived[archived] };
}

/** A scope of every row, archived ones included: that in which history reads. */
export function withEveryRow(scope: Scope): Scope {
  if ([...scope.collections.values()].every(({ live }) => live === undefined)) return scope;
  const collections = [...scope.collections].map(([name, collection]): readonly [string, CollectionScope] => {
    const { live, ...others } = collection;
    return [name, live === undefined ? collection : { ...others, rows: [always] }];
  });
  return { ...scope, collections: new Map(collections) };
}

/** The names stage of `archived`: FORBIDDEN for those who may not see which items are archived. */
export function authoriseRows(collection: CollectionScope | undefined, archived?: Archived): CollectionScope {
  const found = collection === undefined || archived === undefined ? collection : withArchived(collection, archived);
  if (found === undefined) throw forbidden();
  return found;
}
