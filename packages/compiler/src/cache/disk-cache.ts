/** Texts that a compilation keeps for later processes, by digests of their sources. */

import type { Chunk } from '../print/chunks.ts';

/** A question that was asked while something was made: to the source of that number, by name. */
export type CachedLookup = readonly [source: number, kind: 'get' | 'has', name: string];

/** Texts that were made once. */
export interface CachedResult {
  readonly lookups: readonly CachedLookup[];
  /** Digest of all answers, in the order of the questions. */
  readonly results: string;
  readonly texts: readonly Chunk[];
}

/** Keeps texts. It must return exactly the stored text, or nothing where it cannot be sure. */
export interface DiskCache {
  /** Texts that the named generator made of an object with that digest. */
  find(generator: string, digest: string): readonly CachedResult[];
  /** Takes what was made, or what was found and is still good. */
  keep(generator: string, digest: string, made: CachedResult): void;
}

/** The part of the output that a generator works for, so that two compilations that share the work can keep disk caches apart. */
export function partOfGenerator(generator: string): CompilePart {
  return /^(?:openapi|model|graphql)\b/.test(generator) ? 'descriptions' : 'others';
}

/**
 * Descriptions of access classes (`openapi/`, `model/`, `graphql/`), or all other files. Names in GraphQL are checked
 * with the other files only: descriptions are worthless where that check fails.
 */
export type CompilePart = 'descriptions' | 'others';
