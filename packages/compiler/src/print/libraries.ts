/** Libraries that take long to load, and are loaded when they are first needed. */
import { createRequire } from 'node:module';
import type * as Graphql from 'graphql';
import type * as TsMorph from 'ts-morph';

/** Loads ts-morph when it is needed, so that a process that compiles nothing does not wait for it. `require` says `any`. */
export function loadTsMorph(): typeof TsMorph {
  return createRequire(import.meta.url)('ts-morph');
}

/** Loads graphql when there are documents, so that projects without them do not wait. `require` has type `any`. */
export function loadGraphql(): typeof Graphql {
  return createRequire(import.meta.url)('graphql');
}

/** Version of the product, printed as `info.version`. A test holds it against the package's own description. */
export const productVersion = '0.1.0';
