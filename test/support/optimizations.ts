import {
  type Optimization,
  type Optimizations,
  readOptimizations,
} from '../../packages/runtime/src/environment/optimizations.ts';

const reading = readOptimizations(process.env.PLATFORM_OPTIMIZE ?? 'all');

/** Optimisations of the servers that tests start: PLATFORM_OPTIMIZE of this process is theirs, too. */
export const usedOptimizations: Optimizations = 'problem' in reading ? new Set() : reading.value;

/** True if servers of tests run without one of these, so that a test about them has nothing to look at. */
export function isWithout(...names: readonly Optimization[]): boolean {
  return names.some((name) => !usedOptimizations.has(name));
}
