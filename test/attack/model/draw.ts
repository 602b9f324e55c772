/** Choices as fast-check makes them, so that what is built of them repeats by its seed and shrinks. */
import fc from 'fast-check';

/** Makes choices. What comes first is the simplest: failures are shrunk towards it. */
export interface Draw {
  integer(from: number, to: number): number;
  /** True in so many of a hundred cases. */
  chance(percent: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  /** Each value with a chance of its own, in their order. */
  some<Value>(values: readonly Value[], percent: number): readonly Value[];
}

/** Every number alike: fast-check on its own prefers small ones, and chances would not be what they say. */
function even(min: number, max: number): fc.Arbitrary<number> {
  return fc.noBias(fc.integer({ min, max }));
}

/** An arbitrary whose values are built from choices. */
export function drawn<Value>(build: (draw: Draw) => Value): fc.Arbitrary<Value> {
  return fc.gen().map((generate) => {
    const integer = (from: number, to: number): number => generate(even, from, to);
    const chance = (percent: number): boolean => integer(0, 99) >= 100 - percent;
    return build({
      integer,
      chance,
      pick(values) {
        const value = values[integer(0, values.length - 1)];
        if (value === undefined) throw new Error('there is nothing to pick from');
        return value;
      },
      some: (values, percent) => values.filter(() => chance(percent)),
    });
  });
}
