import { createRequire } from 'node:module';
import type * as Graphql from 'graphql';

/** Loads graphql when there are documents, so that nobody else waits for it. `require` says `any`. */
export function loadGraphql(): typeof Graphql {
  return createRequire(import.meta.url)('graphql');
}
