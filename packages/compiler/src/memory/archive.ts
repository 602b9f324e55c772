/** Texts that a compilation keeps for later processes, by digests of their sources. */

import type { CompilePart } from '../compile.ts';
import type { Piece } from '../print/pieces.ts';

/** A question that was asked while something was made: to the source of that number, by name. */
export type ArchivedQuestion = readonly [source: number, kind: 'get' | 'has', name: string];

/** Texts that were made once. */
export interface Archived {
  readonly asked: readonly ArchivedQuestion[];
  /** Digest of all answers, in the order of the questions. */
  readonly answers: string;
  readonly texts: readonly Piece[];
}

/** Keeps texts. It must return exactly the stored text, or nothing where it cannot be sure. */
export interface Archive {
  /** Texts that the named maker made of an object with that digest. */
  find(maker: string, digest: string): readonly Archived[];
  /** Takes what was made, or what was found and is still good. */
  keep(maker: string, digest: string, made: Archived): void;
}

/** The part of the output that a maker works for, so that two compilations that share the work can keep archives apart. */
export function partOfMaker(maker: string): CompilePart {
  return /^(?:openapi|model|graphql)\b/.test(maker) ? 'descriptions' : 'others';
}
