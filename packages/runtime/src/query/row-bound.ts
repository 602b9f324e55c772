import type { NestedReads } from './nested.ts';
import type { Selected, Selection } from './selection.ts';
import { largestBufferedLimit } from './shape.ts';

/**
 * The lists within the rows of a selection, as far as they decide how many rows an answer can have at most. They are the
 * same for every request of a shape, while their limits are not.
 */
export interface NestedRows {
  /** The name under which `deep` speaks of the rows. */
  readonly name: string;
  /** False for a relation to one item. */
  readonly many: boolean;
  readonly below: readonly NestedRows[];
}

/** What a nested list without a limit counts as; more than lists have that people read in one piece. */
const unlimited = 10_000;

/** The lists of a selection. */
export function nestedRows({ parts }: Selection): readonly NestedRows[] {
  return parts.flatMap(rowsOf);
}

function rowsOf(part: Selected): readonly NestedRows[] {
  if (part.kind === 'item') {
    return part.items.map(({ of }) => entry(`item:${of.collection.descriptor.name}`, false, nestedRows(of)));
  }
  if (part.kind === 'field' || part.kind === 'call') return [];
  const many = part.relation.descriptor.kind !== 'm2o';
  return [entry(part.key, many, part.kind === 'nested' ? nestedRows(part.of) : [])];
}

function entry(name: string, many: boolean, below: readonly NestedRows[]): NestedRows {
  return { name, many, below };
}

/**
 * How many rows an answer can have at most: the rows of the list, and for each of them those of its lists, and so on.
 *
 * `limit` is that of the list, -1 for all. Long lists are sent while they are read, so they count as one piece of them.
 * `usual` is the limit of nested lists that `deep` does not name.
 */
export function rowBound(limit: number, rows: readonly NestedRows[], reads: NestedReads, usual: number): number {
  const top = limit === -1 ? largestBufferedLimit : Math.min(limit, largestBufferedLimit);
  return top * (1 + boundOf(rows, reads, usual));
}

function boundOf(rows: readonly NestedRows[], reads: NestedReads, usual: number): number {
  let sum = 0;
  for (const { name, many, below } of rows) {
    const read = reads.get(name);
    const limit = read?.request.limit ?? usual;
    const inner = boundOf(below, read?.below ?? new Map(), usual);
    sum += many ? (limit === -1 ? unlimited : limit) * (1 + inner) : inner;
  }
  return sum;
}
