/**
 * A cache file: results of some compilation. It never changes after it was written.
 *
 * One line of JSON comes first: its form, the stamp of the compiler, and the length of the list. The list of entries as
 * JSON, their texts one after the other, and a digest of all that follow.
 */
import { createHash } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CachedResult, Chunk } from '@tablewright/compiler';
import { inChunks, writeChunks } from '../output/output-file.ts';

/** Results of one generator for one input. */
export interface Entry extends CachedResult {
  readonly generator: string;
  readonly digest: string;
}

/** Content of a cache file. */
export interface CacheFile {
  readonly name: string;
  readonly entries: readonly Entry[];
}

interface Head {
  readonly form: 1;
  readonly stamp: string;
  readonly list: number;
}

/** An entry without its texts: generator, digest, questions, answers, and bytes of each text. */
type Listed = readonly [string, string, CachedResult['lookups'], string, readonly number[]];

/** True if a compiler of that stamp has made a cache file: reads its first line. */
export async function isCacheFileOf(folder: string, name: string, stamp: string): Promise<boolean> {
  const file = await open(join(folder, name));
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    const [line = ''] = buffer.toString('utf8', 0, bytesRead).split('\n', 1);
    const head: Head = JSON.parse(line);
    return head.form === 1 && head.stamp === stamp;
  } catch {
    return false;
  } finally {
    await file.close();
  }
}

/** Bytes that the first line takes at most. */
const headBytes = 256;

/** Reads a cache file. Null where it is damaged, or was made by another compiler than that of the stamp. */
export async function readCacheFile(folder: string, name: string, stamp: string): Promise<CacheFile | null> {
  try {
    const content = await readFile(join(folder, name));
    const end = content.indexOf('\n') + 1;
    const head: Head = JSON.parse(content.toString('utf8', 0, end));
    if (head.form !== 1 || head.stamp !== stamp || !isWhole(content)) return null;
    const listed: readonly Listed[] = JSON.parse(content.toString('utf8', end, end + head.list));
    return { name, entries: entriesOf(listed, content.subarray(end + head.list)) };
  } catch {
    return null;
  }
}

function entriesOf(listed: readonly Listed[], content: Buffer): readonly Entry[] {
  let offset = 0;
  return listed.map(([generator, digest, lookups, results, lengths]) => {
    const start = offset;
    for (const length of lengths) offset += length;
    return {
      generator,
      digest,
      lookups,
      results,
      get texts() {
        return textsIn(content, start, lengths);
      },
    };
  });
}

function textsIn(content: Buffer, start: number, lengths: readonly number[]): readonly Chunk[] {
  let position = start;
  return lengths.map((length) => {
    position += length;
    return content.subarray(position - length, position);
  });
}

/** Writes a cache file in one step, under a name that no other has. */
export async function writeCacheFile(
  folder: string,
  name: string,
  entries: readonly Entry[],
  stamp: string,
): Promise<void> {
  const staged = join(folder, `${name}.tmp`);
  try {
    writeChunks(staged, summed(contentOf(entries, stamp)));
    await rename(staged, join(folder, name));
  } finally {
    await rm(staged, { force: true });
  }
}

function* contentOf(entries: readonly Entry[], stamp: string): Generator<Uint8Array> {
  const listed = entries.map(({ generator, digest, lookups, results, texts }): Listed => {
    return [generator, digest, lookups, results, texts.map((text) => Buffer.byteLength(text))];
  });
  const list = Buffer.from(JSON.stringify(listed));
  const head: Head = { form: 1, stamp, list: list.length };
  yield Buffer.from(`${JSON.stringify(head)}\n`);
  yield list;
  yield* inChunks(allTexts(entries));
}

/** One entry after the other: the texts of all at once need not be in memory. */
function* allTexts(entries: readonly Entry[]): Generator<Chunk> {
  for (const { texts } of entries) yield* texts;
}

/** Adds the digest of the preceding content. */
function* summed(content: Iterable<Uint8Array>): Generator<Uint8Array> {
  const hash = createHash('sha256');
  for (const chunk of content) {
    hash.update(chunk);
    yield chunk;
  }
  yield hash.digest();
}

function isWhole(content: Buffer): boolean {
  const end = content.length - digestLength;
  return end > 0 && createHash('sha256').update(content.subarray(0, end)).digest().equals(content.subarray(end));
}

/** Bytes. */
const digestLength = 32;
