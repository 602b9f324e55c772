/** Compares two texts by their UTF-16 code units: the same order on every machine and in every locale. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

/** Sorts a copy of `values` by one or more texts of each. */
export function sortedBy<T>(values: readonly T[], ...keys: readonly ((value: T) => string)[]): T[] {
  return [...values].sort((left, right) => {
    for (const key of keys) {
      const order = compareText(key(left), key(right));
      if (order !== 0) return order;
    }
    return 0;
  });
}
