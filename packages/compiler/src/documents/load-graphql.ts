import { createRequire } from 'node:module';
import type * as Graphql from 'graphql';

/** Loads graphql when there are documents, so that projects without them do not wait. `require` has type `any`. */
export function loadGraphql(): typeof Graphql {
  return createRequire(import.meta.url)('graphql');
}
