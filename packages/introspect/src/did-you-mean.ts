/**
 * The candidate that a misspelt name most likely means, or null if none is near.
 * Near is at most two fifths of the name's length in insertions, deletions, substitutions and swaps of neighbours, and
 * at most three. Letter case and the separators `_`, `-` and space count as equal. Among equally near ones the first in
 * alphabetical order is taken. A relation whose name goes on to tell its key comes first: `deals_by_owner_id` for `deals`.
 */
export function didYouMean(name: string, candidates: Iterable<string>): string | null {
  const requested = folded(name);
  const sorted = [...candidates].sort();
  const longer = sorted.find((candidate) => /^_(?:by|via)_/.test(afterPrefix(candidate, name)));
  if (longer !== undefined) return longer;
  const bound = Math.min(3, Math.max(1, Math.floor(requested.length * 0.4)));
  let best: string | null = null;
  let nearest = bound + 1;
  for (const candidate of sorted) {
    const distance = editDistance(requested, folded(candidate), nearest - 1);
    if (distance >= nearest || candidate === name) continue;
    best = candidate;
    nearest = distance;
  }
  return best;
}

function afterPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : '';
}

/** A sentence that suggests the nearest candidate, or null. */
export function suggest(name: string, candidates: Iterable<string>): string | null {
  const nearest = didYouMean(name, candidates);
  return nearest === null ? null : `Did you mean "${nearest}"?`;
}

function folded(name: string): readonly string[] {
  return [...name.toLowerCase().replaceAll(/[-_ ]/g, '_')];
}

/** Optimal string alignment distance; anything above `bound` is reported as `bound + 1`. */
function editDistance(left: readonly string[], right: readonly string[], bound: number): number {
  if (Math.abs(left.length - right.length) > bound) return bound + 1;
  let before: number[] = [];
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = nextRow(left, right, i, row, before);
    if (Math.min(...next) > bound) return bound + 1;
    before = row;
    row = next;
  }
  return row[right.length] ?? bound + 1;
}

function nextRow(
  left: readonly string[],
  right: readonly string[],
  i: number,
  above: readonly number[],
  twoAbove: readonly number[],
): number[] {
  const row = [i];
  for (let j = 1; j <= right.length; j++) {
    const cost = left[i - 1] === right[j - 1] ? 0 : 1;
    const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1];
    const choices = [at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + cost];
    row.push(Math.min(...choices, swapped ? at(twoAbove, j - 2) + 1 : Number.POSITIVE_INFINITY));
  }
  return row;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
