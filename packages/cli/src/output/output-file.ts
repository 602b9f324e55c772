/** The texts of files to write: never a second time in memory as a whole. */
import { createHash, hash } from 'node:crypto';
import { closeSync, linkSync, openSync, writeFileSync, writev } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Chunk } from '@tablewright/compiler';
import type { GeneratedFile } from '@tablewright/compiler/files';

/** A file to write, its path relative to the output folder, with `/` on every system. */
export type OutputFile = GeneratedFile;

/** The text of a file that is in one chunk; null of one in several, which is not put together. */
export function wholeText(file: OutputFile): Chunk | null {
  const chunks = chunksOf(file);
  return chunks.length > 1 ? null : (chunks[0] ?? '');
}

/** True if two files in chunks have the same text. Files with different chunk boundaries are not compared. */
export function haveSameChunks({ chunks: some = [] }: OutputFile, { chunks: others = [] }: OutputFile): boolean {
  return some.length === others.length && some.every((chunk, index) => isSameChunk(chunk, others[index] ?? ''));
}

/** True if two files have the same text; null if different chunk boundaries would require comparing the whole text. */
export function haveSameText(file: OutputFile, other: OutputFile): boolean | null {
  const [some, others] = withoutCommonEnds(chunksOf(file), chunksOf(other));
  const areCutAlike = some.length === others.length && some.every((chunk, index) => isAsLong(chunk, others[index]));
  if (areCutAlike) return some.every((chunk, index) => isSameChunk(chunk, others[index] ?? ''));
  return bytesIn(some) === bytesIn(others) ? null : false;
}

/** Removes the common beginning and the common end of two lists. */
function withoutCommonEnds(
  some: readonly Chunk[],
  others: readonly Chunk[],
): readonly [readonly Chunk[], readonly Chunk[]] {
  const least = Math.min(some.length, others.length);
  let start = 0;
  while (start < least && some[start] === others[start]) start += 1;
  let end = 0;
  while (end < least - start && some.at(-1 - end) === others.at(-1 - end)) end += 1;
  return [some.slice(start, some.length - end), others.slice(start, others.length - end)];
}

function isAsLong(chunk: Chunk, other: Chunk | undefined): boolean {
  return typeof chunk === typeof other && chunk.length === other?.length;
}

function isSameChunk(chunk: Chunk, other: Chunk): boolean {
  if (typeof chunk === 'string' && typeof other === 'string') return chunk === other;
  return chunk === other || (chunk.length === other.length && Buffer.compare(bytesOf(chunk), bytesOf(other)) === 0);
}

/** True if a file holds a text in chunks; a file of another size is not read. */
export async function holdsText(path: string, chunks: readonly Chunk[]): Promise<boolean> {
  const size = await sizeOf(path);
  if (size === null || size !== bytesIn(chunks)) return false;
  if (chunks.length < 2) return (await readFile(path)).equals(bytesOf(chunks[0] ?? ''));
  const present = await open(path);
  try {
    return await holdsChunks(present, chunks);
  } finally {
    await present.close();
  }
}

/** Never the whole file in memory. */
async function holdsChunks(present: FileHandle, chunks: readonly Chunk[]): Promise<boolean> {
  let buffer = Buffer.alloc(0);
  for (const chunk of inChunks(chunks)) {
    if (buffer.length < chunk.length) buffer = Buffer.allocUnsafe(Math.max(chunk.length, chunkBytes));
    const { bytesRead } = await present.read(buffer, 0, chunk.length);
    if (bytesRead !== chunk.length || Buffer.compare(chunk, buffer.subarray(0, bytesRead)) !== 0) return false;
  }
  return true;
}

/** Writes a text into a file in this thread: several threads would wait for each other's folder. */
export function writeWhole(path: string, text: Chunk): void {
  writeFileSync(path, text);
}

/** Pieces that are handed over at once; between two hands this thread may be busy with something else. */
const maxChunks = 8192;

/** Writes the chunks of a long file from where they are, while this thread does something else: it begins at once. */
export async function writeTextChunks(path: string, chunks: readonly Chunk[]): Promise<void> {
  const file = openSync(path, 'w');
  try {
    for (let offset = 0; offset < chunks.length; offset += maxChunks) {
      const bytes = chunks.slice(offset, offset + maxChunks).map(bytesOf);
      const length = bytes.reduce((sum, chunk) => sum + chunk.length, 0);
      const { bytesWritten } = await writeAll(file, bytes);
      // The system may take less, as where the disk is full; then the next attempt says why.
      if (bytesWritten < length) writeFileSync(file, Buffer.concat(bytes).subarray(bytesWritten));
    }
  } finally {
    closeSync(file);
  }
}

const writeAll = promisify(writev);

/** Gives a file a second name. False where the file system has no second names. */
export function isLinked(path: string, second: string): boolean {
  try {
    linkSync(path, second);
    return true;
  } catch {
    return false;
  }
}

/** Digest of the text of a file, as `manifest.json` has it. It is taken again only where the text is another. */
export function digestOf(file: OutputFile): string {
  const before = digested.get(file.path);
  const isSame = before !== undefined && (before.file === file || haveSameText(before.file, file) === true);
  const digest = isSame ? before.digest : digestOfChunks(chunksOf(file));
  digested.set(file.path, { file, digest });
  return digest;
}

/** Last digests of this process, by path. */
const digested = new Map<string, { readonly file: OutputFile; readonly digest: string }>();

/** Texts in one chunk, which thousands of files are, need no buffer. */
function digestOfChunks(chunks: readonly Chunk[]): string {
  const [only = ''] = chunks;
  return chunks.length < 2 ? hash('sha256', only, 'base64url') : digestOfBytes(inChunks(chunks));
}

/** Digest of bytes, as `digestOf` takes it. */
export function digestOfBytes(chunks: Iterable<Uint8Array>): string {
  const digest = createHash('sha256');
  for (const chunk of chunks) digest.update(chunk);
  return digest.digest('base64url');
}

/** The text of a file in chunks, also where it is in one. */
export function chunksOf(file: OutputFile): readonly Chunk[] {
  return file.chunks ?? [file.contents];
}

function bytesIn(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, chunk) => sum + Buffer.byteLength(chunk), 0);
}

/** Bytes at a time: enough that it is worth asking the system for them. */
const chunkBytes = 1 << 20;

/** Bytes of a character of a string at most, as UTF-8. */
const maxBytes = 3;

/** The bytes of a text, some chunks at a time; the next chunk overwrites the one before. */
function* inChunks(chunks: Iterable<Chunk>): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(chunkBytes);
  let used = 0;
  for (const chunk of chunks) {
    const maxLength = typeof chunk === 'string' ? chunk.length * maxBytes : chunk.length;
    if (used + maxLength > buffer.length) {
      if (used > 0) yield buffer.subarray(0, used);
      used = 0;
    }
    if (maxLength > buffer.length) yield bytesOf(chunk);
    else if (typeof chunk === 'string') used += buffer.write(chunk, used);
    else {
      buffer.set(chunk, used);
      used += chunk.length;
    }
  }
  if (used > 0) yield buffer.subarray(0, used);
}

function bytesOf(chunk: Chunk): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
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
    if (isMissing(error) || isFolder(error)) return null;
    throw error;
  }
}

function isFolder(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EISDIR';
}

/** A text as it was written: version control may have checked it out with the line breaks of Windows. */
export function withLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** True if there is no such file or folder. */
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
