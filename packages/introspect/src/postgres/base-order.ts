/**
 * The relations that a relation is built from, itself last: each stands after those that it is built from. Relations
 * that lead back to themselves are not among them, nor are those that are built from one. Nothing follows from a circle
 * without a beginning. A loop and no recursion, because chains of views have any length.
 *
 * `isBuilt` tells which relations are built already and have no place in the list.
 */
export function baseOrder(
  relation: string,
  basesOf: (relation: string) => readonly string[],
  isBuilt: (relation: string) => boolean,
): readonly string[] {
  const waiting = new Map<string, number>();
  const readers = new Map<string, string[]>();
  const found = [relation];
  for (let relation = found.pop(); relation !== undefined; relation = found.pop()) {
    if (waiting.has(relation)) continue;
    const bases = [...new Set(basesOf(relation))].filter((base) => !isBuilt(base));
    waiting.set(relation, bases.length);
    for (const base of bases) {
      const waitingReaders = readers.get(base);
      if (waitingReaders === undefined) readers.set(base, [relation]);
      else waitingReaders.push(relation);
    }
    found.push(...bases);
  }
  const order = [...waiting].flatMap(([relation, bases]) => (bases === 0 ? [relation] : []));
  // The list grows while it is gone through.
  for (const ready of order) {
    for (const reader of readers.get(ready) ?? []) {
      const bases = (waiting.get(reader) ?? 0) - 1;
      waiting.set(reader, bases);
      if (bases === 0) order.push(reader);
    }
  }
  return order;
}
