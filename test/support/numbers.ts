/** Numbers from 0 to below 1 out of a seed: the same ones again for the same seed. */
export function numbers(seed: number): () => number {
  let at = seed;
  return () => {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0;
    return at / 2 ** 32;
  };
}
