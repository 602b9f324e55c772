/** Which answers to requests without a token shared caches may keep. Source: scale-out notes, section 8. */
import type { KeptAnswers, Statement } from '../../database/database.ts';
import type { CollectionScope } from '../../sql/scope.ts';
import type { ReadQuery } from '../authorise/read-query.ts';
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
