/** What a compilation leaves behind for those in later processes: texts, by digests of what they were made from. */

import type { CompilePart } from '../compile.ts';
import type { Piece } from '../print/pieces.ts';

/** A question that was asked while something was made: to the source of that number, by name. */
export type ArchivedQuestion = readonly [source: number, kind: 'get' | 'has', name: string];

/** Texts that were made once. */
export interface Archived {
  readonly asked: readonly ArchivedQuestion[];
  /** Of all answers, in the order of the questions. */
  readonly answers: string;
  readonly texts: readonly Piece[];
}

/** Keeps texts. What it gives must be what it was given: whoever cannot be sure of that gives nothing. */
export interface Archive {
  /** What was made of a thing with that digest, by whoever has that name. */
  find(maker: string, digest: string): readonly Archived[];
  /** Takes what was made, or what was found and is still good. */
  keep(maker: string, digest: string, made: Archived): void;
}

/** The part of the output that a maker works for, so that two compilations that share the work can keep archives apart. */
export function partOfMaker(maker: string): CompilePart {
  return /^(?:openapi|model|graphql)\b/.test(maker) ? 'descriptions' : 'others';
}
