import { describe, expect, it } from 'vitest';
import { LagMeter } from './positions.ts';

/** A meter that has seen a position each second, from 1 to so many. */
function meterOf(count: number): LagMeter {
  const meter = new LagMeter((position, other) => Number(position) >= Number(other));
  for (let second = 1; second <= count; second++) {
    meter.note({ position: String(second), timeline: 1 }, 1_000 * second);
  }
  return meter;
}

describe('the lag of a server', () => {
  it('counts from the first position that it has not come to', () => {
    const meter = meterOf(10);
    expect(meter.lagOf('10', 10_500)).toBe(0);
    expect(meter.lagOf('7', 10_500)).toBe(2_500);
    expect(meter.lagOf('1', 10_500)).toBe(8_500);
  });

  it('is no less than any other where it is behind all positions that are known', () => {
    const meter = meterOf(1_000);
    expect(meter.lagOf('999', 1_000_500)).toBe(500);
    expect(meter.lagOf('100', 1_000_500)).toBe(Number.POSITIVE_INFINITY);
    // One that is behind the first look may be hours late.
    expect(meterOf(1).lagOf('0', 1_500)).toBe(Number.POSITIVE_INFINITY);
  });

  it('is not known where no position was seen of late, or the server tells none', () => {
    expect(meterOf(10).lagOf('10', 14_000)).toBeUndefined();
    expect(meterOf(10).lagOf(null, 10_500)).toBeUndefined();
    const meter = meterOf(10);
    meter.note({ timeline: 2 }, 11_000);
    expect(meter.lagOf('10', 11_500)).toBeUndefined();
  });
});
