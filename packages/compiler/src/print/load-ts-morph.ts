import { createRequire } from 'node:module';
import type * as TsMorph from 'ts-morph';

/** Loads ts-morph when it is needed, so that a process that compiles nothing does not wait for it. `require` says `any`. */
export function loadTsMorph(): typeof TsMorph {
  return createRequire(import.meta.url)('ts-morph');
}
