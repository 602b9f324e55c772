/** The arithmetic of the reports. Every function takes numbers in any order and gives `NaN` for none. */

/** The value below which `percent` of the numbers lie (nearest rank). */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const rank = Math.ceil((percent / 100) * sorted.length);
  return sorted[Math.max(rank, 1) - 1] ?? Number.NaN;
}

/** The middle one, or the mean of the two in the middle. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle)] ?? Number.NaN)) / 2;
}

/** The distance between the smallest and the largest number as a share of the median: how noisy they are. */
export function spread(numbers: readonly number[]): number {
  return (Math.max(...numbers) - Math.min(...numbers)) / median(numbers);
}

/**
 * How many times as much as another series, round by round: neighbours in time met the same noise, so the median of
 * the quotients is steadier than the quotient of the medians. The series are equally long.
 */
export function ratio(numbers: readonly number[], others: readonly number[]): number {
  return median(numbers.map((number, round) => number / (others[round] ?? Number.NaN)));
}
