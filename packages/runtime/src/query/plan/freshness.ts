/** Answers that shared caches may keep, and reads that a replica may answer. Source: scale-out notes, section 2. */

import type { KeptAnswers, Statement } from '../../database/database.ts';
import type { Condition } from '../../language/index.ts';
import type { CollectionScope, Scope } from '../../sql/scope.ts';
import type { ReadQuery } from './plan.ts';
import { batchKey } from './plan-keys.ts';

/** The platform's own collections that change by writes of requests alone. */
const watched: ReadonlySet<string> = new Set(['platform_files', 'platform_folders']);

/** Describes how long answers are kept; undefined where they depend on more than rows that writes of requests change. */
export function keptAnswers(
  { scope, selector, source }: Pick<ReadQuery, 'scope' | 'selector' | 'source'>,
  root: CollectionScope,
  { tables = [], timed, repeated }: Statement,
): KeptAnswers | undefined {
  const { cache, table } = root.descriptor;
  if (cache === undefined || source !== undefined || timed === true) return undefined;
  for (const { descriptor } of (scope.rules ?? scope).collections.values()) {
    if (descriptor.system === true && tables.includes(descriptor.table) && !watched.has(descriptor.name)) {
      return undefined;
    }
  }
  const isOneItem = selector === 'key' && batchKey(root) !== undefined && repeated?.has(table) !== true;
  return { seconds: cache.public, ...(isOneItem && { item: table }) };
}

/**
 * True if a replica may answer a read of these tables that begins at a collection. The platform's own collections are none:
 * they are sessions and rights. Neither are those whose rules look elsewhere, unless they are configured so.
 */
export function mayAnswerLate(scope: Scope, root: CollectionScope, tables: readonly string[] | undefined): boolean {
  if (tables === undefined || root.descriptor.system === true) return false;
  const isAllowed = root.descriptor.reads === 'replica';
  for (const collection of scope.collections.values()) {
    if (!tables.includes(collection.descriptor.table)) continue;
    if (
      collection.descriptor.system === true
        ? !isAllowed
        : !looksAtRowsAlone(collection, scope.rules?.everything !== undefined)
    )
      return false;
  }
  return true;
}

/** True if rules of a collection judge a row by the row, or may be late. `isBound` tells that its tenant is one of them. */
function looksAtRowsAlone({ descriptor, rows, fields, relations }: CollectionScope, isBound: boolean): boolean {
  const grants = [...fields.values(), ...relations.values()].flatMap(({ grant }) => grant ?? []);
  const tenants = isBound && descriptor.tenant !== undefined ? [descriptor.tenant] : [];
  return descriptor.reads === 'replica' || [...rows, ...grants, ...tenants].every(isOfRow);
}

/** The caller's own key is no look at the database; facts that lead on from it are. */
function isOfRow(condition: Condition): boolean {
  if (condition.kind === 'related') return false;
  if (condition.kind !== 'compare') return condition.of.every(isOfRow);
  return condition.operand.kind !== 'caller' || condition.operand.path.length === 0;
}
