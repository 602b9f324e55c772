/** Where the contents of files lie: a folder, or a bucket. Contents have names of our own and never change. */
import type { Readable } from 'node:stream';

/** A part of a content: its first and its last byte. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** One place for contents. Rejects with SERVICE_UNAVAILABLE if it cannot be reached. */
export interface Storage {
  /** Folder in which files are written that are still on their way; it may not exist. */
  readonly staging: string;
  /** Moves a file of the staging folder here, which may be gone afterwards. A part of it is never visible. */
  put(name: string, path: string, type: string): Promise<void>;
  /** The same for bytes. */
  putBytes(name: string, bytes: Buffer, type: string): Promise<void>;
  /** Null when there is none of this name. */
  open(name: string, range?: ByteRange): Promise<Readable | null>;
  /** Removes a content and everything whose name begins with `renditionsOf` it. Nothing happens when they are not there. */
  remove(name: string): Promise<void>;
}

/** The storages of a server. */
export interface Storages {
  /** Where new files are put. */
  readonly first: { readonly name: string; readonly storage: Storage };
  /** By the name of a row. Throws SERVICE_UNAVAILABLE for one that is configured no more. */
  of(name: string): Storage;
  /** Every folder in which files are written that are still on their way. */
  readonly stagings: readonly string[];
}

/** Prefix of the names of all renditions of a content. */
export function renditionsOf(name: string): string {
  return `renditions/${name}/`;
}
