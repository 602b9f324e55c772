/** Files in chunks on their way to another thread: bytes that both have, every chunk once however many files have it. */
import { type Chunk, type GeneratedFile, longFile } from '@tablewright/compiler/files';

/** Such files; plain data. */
export interface PackedFiles {
  readonly buffers: readonly SharedArrayBuffer[];
  /** Where chunks stand: three numbers of each, the number of the buffer, the first byte, and how many bytes. */
  readonly places: Uint32Array;
  /** The chunks of every file by their numbers. */
  readonly files: readonly { readonly path: string; readonly chunks: Uint32Array }[];
}

/** Packs files. Shared bytes are used as they are, and must not change any more. */
export function packFiles(files: readonly GeneratedFile[]): PackedFiles {
  const bytes = createBytes();
  const numbers = new Map<Chunk, number>();
  const places: number[] = [];
  const packed = files.map((file) => ({
    path: file.path,
    // The whole text of a file in chunks is not asked for: it would be put together.
    chunks: Uint32Array.from(file.chunks ?? [file.contents], (chunk) => {
      const existing = numbers.get(chunk);
      if (existing !== undefined) return existing;
      const number = numbers.size;
      numbers.set(chunk, number);
      places.push(...bytes.add(chunk));
      return number;
    }),
  }));
  return { buffers: bytes.buffers, places: Uint32Array.from(places), files: packed };
}

/** The files again. */
export function unpackFiles({ buffers, places, files }: PackedFiles): readonly GeneratedFile[] {
  const chunks = Array.from({ length: places.length / 3 }, (_, index): Chunk => {
    const [buffer = 0, start = 0, length = 0] = places.subarray(3 * index, 3 * index + 3);
    return new Uint8Array(buffers[buffer] ?? new SharedArrayBuffer(0), start, length);
  });
  return files.map((file) =>
    longFile(
      file.path,
      Array.from(file.chunks, (number) => chunks[number] ?? ''),
    ),
  );
}

type Place = readonly [buffer: number, start: number, length: number];

/** Bytes of a buffer into which chunks are copied, if they fit. */
const bufferBytes = 1 << 22;

/** Bytes of a character of a string at most, as UTF-8. */
const maxBytes = 3;

/** A buffer by its number, of which some bytes are used. */
interface Room {
  readonly number: number;
  readonly bytes: Buffer;
  used: number;
}

function createBytes() {
  const buffers: SharedArrayBuffer[] = [];
  const numbers = new Map<ArrayBufferLike, number>();
  let open: Room = { number: 0, bytes: Buffer.alloc(0), used: 0 };

  function numberOf(buffer: SharedArrayBuffer): number {
    const number = numbers.get(buffer) ?? buffers.push(buffer) - 1;
    numbers.set(buffer, number);
    return number;
  }

  /** Room for so many bytes. */
  function room(bytes: number): Room {
    if (open.used + bytes <= open.bytes.length) return open;
    const buffer = new SharedArrayBuffer(Math.max(bufferBytes, bytes));
    open = { number: numberOf(buffer), bytes: Buffer.from(buffer), used: 0 };
    return open;
  }

  function copy(chunk: Chunk): Place {
    const to = room(typeof chunk === 'string' ? chunk.length * maxBytes : chunk.length);
    const start = to.used;
    if (typeof chunk === 'string') to.used += to.bytes.write(chunk, start);
    else {
      to.bytes.set(chunk, start);
      to.used += chunk.length;
    }
    return [to.number, start, to.used - start];
  }

  return {
    buffers,
    add(chunk: Chunk): Place {
      if (typeof chunk === 'string' || !(chunk.buffer instanceof SharedArrayBuffer)) return copy(chunk);
      return [numberOf(chunk.buffer), chunk.byteOffset, chunk.length];
    },
  };
}
