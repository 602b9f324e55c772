import { invalidQuery } from '../../errors.ts';
import type { NestedRead, NestedReads } from '../authorise/nested.ts';
import type { Selected, Selection } from '../authorise/selection.ts';
import { largestBufferedLimit, type Selector } from '../authorise/shape.ts';
import type { ReadLimits } from '../parse/request.ts';
import type { NestedRows } from './plan.ts';

export function nestedRows({ parts }: Selection): readonly NestedRows[] {
  return parts.flatMap(rowsOf);
}

function rowsOf(part: Selected): readonly NestedRows[] {
  if (part.kind === 'item') {
    return part.items.map(({ of: selection }) =>
      entry(`item:${selection.collection.descriptor.name}`, false, nestedRows(selection)),
    );
  }
  if (part.kind !== 'nested' && part.kind !== 'aggregate') return [];
  const many = part.relation.descriptor.kind !== 'm2o';
  return [entry(part.key, many, part.kind === 'nested' ? nestedRows(part.of) : [])];
}

function entry(name: string, many: boolean, below: readonly NestedRows[]): NestedRows {
  return { name, many, below };
}

/**
 * Maximum number of rows of a list within lists, over all its parents: the product of the limits along the path to it.
 * The result is the highest one of all lists. Lists beside each other only add up, and there is a bounded number of
 * them. So they are left out, as are lists of mere keys.
 *
 * The length of a list without a limit is unknown, so it counts as a long one, and so do those with a higher limit. The
 * bound is on how lists multiply. `limit` is that of the list, `usual` that of nested lists that `deep` does not name.
 */
export function rowBound(limit: number, rows: readonly NestedRows[], reads: NestedReads, usual: number): number {
  return countedRows(limit) * multiplied(rows, reads, usual);
}

/** Rows that the top of a read counts as. The number of written items is not known yet, so they count as a usual list. */
export function topRows(selector: Selector, limit: number, keys: number, usual: number): number {
  if (selector === 'key') return 1;
  if (limit !== -1) return limit;
  if (selector === 'keys') return keys;
  return selector === 'written' ? usual : limit;
}

function multiplied(rows: readonly NestedRows[], reads: NestedReads, usual: number): number {
  let limit = 1;
  for (const { name, many, below } of rows) {
    const read = reads.get(name);
    const rows = many ? countedRows(read === undefined ? usual : rowsOfOne(read)) : 1;
    limit = Math.max(limit, rows * multiplied(below, read?.below ?? new Map(), usual));
  }
  return limit;
}

/** Without groups, aggregated rows are one. */
function rowsOfOne({ request: { limit, aggregate } }: NestedRead): number {
  return aggregate !== undefined && aggregate.groups.length === 0 ? 1 : limit;
}

/** Rows of a list within lists up to which an answer is as usual ones are: 100 items with 100 each. */
const maxUsualRows = 10_000;

/** True if so many rows are more than usual answers have. */
export function isLarge(rows: number): boolean {
  return rows > maxUsualRows;
}

/** Throws INVALID_QUERY for more rows of one nested list than a request may have. */
export function refuseRows(rows: number, { maxRows }: Pick<ReadLimits, 'maxRows'>): void {
  if (rows <= maxRows) return;
  throw invalidQuery(
    `The query can make ${rows} rows of one nested list, which is more than ${maxRows}; give its lists lower limits.`,
  );
}

/** The rows that a list counts as: no more than those of a long one. */
export function countedRows(limit: number): number {
  return limit === -1 ? largestBufferedLimit : Math.min(limit, largestBufferedLimit);
}
