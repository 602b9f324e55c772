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
 * How likely two series are to differ as much as they do when both are drawn from the same: Mann and Whitney's test, two
 * sided, by the normal approximation with ties. From some 20 values each on; near 0 they are different.
 */
export function sameness(numbers: readonly number[], others: readonly number[]): number {
  const all = [...numbers, ...others].toSorted((a, b) => a - b);
  const ranks = new Map<number, number>();
  let ties = 0;
  for (let first = 0; first < all.length; ) {
    const value = all[first] ?? Number.NaN;
    const next = all.findIndex((other, place) => place > first && other !== value);
    const end = next === -1 ? all.length : next;
    ranks.set(value, (first + 1 + end) / 2);
    ties += (end - first) ** 3 - (end - first);
    first = end;
  }
  const [count, otherCount, total] = [numbers.length, others.length, all.length];
  const ranked = numbers.reduce((sum, number) => sum + (ranks.get(number) ?? Number.NaN), 0);
  const u = ranked - (count * (count + 1)) / 2;
  const variance = ((count * otherCount) / 12) * (total + 1 - ties / (total * (total - 1)));
  if (variance === 0) return 1;
  return 2 * upperTail(Math.max(0, Math.abs(u - (count * otherCount) / 2) - 0.5) / Math.sqrt(variance));
}

/** The share of a normal distribution above so many standard deviations (Abramowitz and Stegun, 26.2.17). */
function upperTail(deviations: number): number {
  const t = 1 / (1 + 0.231_641_9 * deviations);
  const weights = [0.319_381_53, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
  const polynomial = weights.reduceRight((sum, weight) => (sum + weight) * t, 0);
  return (polynomial * Math.exp((-deviations * deviations) / 2)) / Math.sqrt(2 * Math.PI);
}

/**
 * How many times as much as another series, round by round: neighbours in time met the same noise, so the median of
 * the quotients is steadier than the quotient of the medians. The series are equally long.
 */
export function ratio(numbers: readonly number[], others: readonly number[]): number {
  return median(ratios(numbers, others));
}

/** The quotients of two series, round by round. */
export function ratios(numbers: readonly number[], others: readonly number[]): readonly number[] {
  return numbers.map((number, round) => number / (others[round] ?? Number.NaN));
}
