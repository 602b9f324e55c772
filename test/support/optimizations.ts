import { type Optimization, readOptimizations } from '../../packages/runtime/src/environment/optimizations.ts';

/** Optimisations of the servers that tests start: PLATFORM_OPTIMIZE of this process is theirs, too. */
const reading = readOptimizations(process.env.PLATFORM_OPTIMIZE ?? 'all');

/** True if servers of tests run without one of these, so that a test about them has nothing to look at. */
export function isWithout(...names: readonly Optimization[]): boolean {
  return 'problem' in reading || names.some((name) => !reading.value.has(name));
}
