/** The texts of files to write: never a second time in memory as a whole. */
import { readFile, stat, writeFile } from 'node:fs/promises';

/** A file to write, its path relative to the output folder, with `/` on every system. */
export interface OutputFile {
  readonly path: string;
  /** The whole text; of a file in pieces it is put together whenever it is asked for. */
  readonly contents: string;
  /** The same text in pieces. Default: it is in one. */
  readonly pieces?: readonly string[];
}

/** Whether a file holds a text; one of another size is not read. */
export async function holdsText(path: string, file: OutputFile): Promise<boolean> {
  const size = await sizeOf(path);
  if (size === null || size !== bytesOf(file)) return false;
  const present = await readFile(path);
  let at = 0;
  for (const chunk of inChunks(piecesOf(file))) {
    if (!chunk.equals(present.subarray(at, at + chunk.length))) return false;
    at += chunk.length;
  }
  return at === present.length;
}

/** Writes a text into a file. */
export function writeText(path: string, file: OutputFile): Promise<void> {
  return writeFile(path, file.pieces === undefined ? file.contents : inChunks(file.pieces));
}

function piecesOf(file: OutputFile): readonly string[] {
  return file.pieces ?? [file.contents];
}

function bytesOf(file: OutputFile): number {
  return piecesOf(file).reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
}

/** Characters of a chunk at least: enough that it is worth asking the system for it. */
const chunkLength = 1 << 20;

/** The bytes of a text, some pieces at a time. */
export function* inChunks(pieces: Iterable<string>): Generator<Buffer> {
  let open: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    open.push(piece);
    length += piece.length;
    if (length < chunkLength) continue;
    yield Buffer.from(open.join(''));
    [open, length] = [[], 0];
  }
  if (length > 0) yield Buffer.from(open.join(''));
}

/** Bytes of a file; null when there is none, or something else. */
export async function sizeOf(path: string): Promise<number | null> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : null;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** The text of a file, or null when there is none. */
export async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Whether there is no such file or folder. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** Files at a time: enough to keep the disk busy, and few enough to hold their contents. */
const atOnce = 8;

/** Does something with each item, some at a time; results in the order of the items. */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const pending = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of pending) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
