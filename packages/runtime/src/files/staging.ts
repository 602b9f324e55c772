/** Files that are still on their way: written whole to a folder of their own, before anything else knows of them. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PlatformError } from '../errors.ts';

/** A file that has arrived whole. */
export interface Staged {
  readonly path: string;
  readonly size: number;
  /** Its first bytes, 64 KiB at most. */
  readonly head: Buffer;
  /** SHA-256 of all of it, hexadecimal. */
  readonly sha256: string;
}

const headBytes = 65_536;

/** Age at which a staged file is abandoned: far longer than any request may take, in milliseconds. */
const abandonedMs = 6 * 3_600_000;

/** Writes a stream to a new file, or nothing. Rejects with INVALID_PAYLOAD beyond `maxBytes`, or for a full disk. */
export async function stage(into: string, source: Readable | AsyncIterable<Buffer>, maxBytes: number): Promise<Staged> {
  const path = join(into, randomUUID());
  const hash = createHash('sha256');
  const first: Buffer[] = [];
  let size = 0;
  async function* counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      if (size < headBytes) first.push(chunk.subarray(0, headBytes - size));
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(chunk);
      yield chunk;
    }
  }
  // An error before the source is read is reported when it is read.
  if (source instanceof Readable) source.on('error', () => undefined);
  let file: FileHandle | undefined;
  try {
    await mkdir(into, { recursive: true });
    // A stream that opens its file by itself may do so after the write has failed, and the file been removed.
    file = await open(path, 'wx', 0o600);
    await pipeline(source, counted, file.createWriteStream({ flush: true }));
  } catch (error) {
    await file?.close().catch(() => undefined);
    await unstage(path);
    throw isOfDisk(error) ? new PlatformError('SERVICE_UNAVAILABLE', undefined, {}, { cause: error }) : error;
  }
  return { path, size, head: Buffer.concat(first), sha256: hash.digest('hex') };
}

export function tooLarge(maxBytes: number): PlatformError {
  return new PlatformError('INVALID_PAYLOAD', `A file must have at most ${maxBytes} bytes.`);
}

/** Removes a file that is not needed any more, if it is there. */
export async function unstage(path: string): Promise<void> {
  await rm(path, { force: true }).catch(() => undefined);
}

/** Removes files that were left by processes that have ended. */
export async function purgeStaging(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs >= abandonedMs) await unstage(path);
  }
}

const diskCodes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EACCES', 'EMFILE', 'ENFILE']);

function isOfDisk(error: unknown): boolean {
  return error instanceof Error && 'code' in error && diskCodes.has(error.code);
}
