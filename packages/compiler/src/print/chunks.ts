/** Long texts in chunks, so that what several texts have in common is there once. */

/** A text, or its bytes as UTF-8 where only a file needs it. */
export type Chunk = string | Uint8Array;

/** A text that grows at its end. */
export type ChunkList = ReturnType<typeof createChunks>;

/** Shorter ones are put together with their neighbours: characters. */
const worthwhile = 1024;

/** Bytes of memory that packed chunks share. */
const packBytes = 1 << 20;

/** Bytes of a character of a string at most, as UTF-8. */
const maxBytes = 3;

let pack: { readonly bytes: Buffer; used: number } = { bytes: Buffer.alloc(0), used: 0 };

/** A text for files only, as bytes if it is long: encoded once for all files, and out of the collector's way. */
export function packChunk(text: string): Chunk {
  if (text.length < worthwhile) return text;
  // The exact length is only worked out where it matters.
  if (pack.used + text.length * maxBytes > pack.bytes.length) {
    const bytes = Buffer.byteLength(text);
    if (pack.used + bytes > pack.bytes.length) {
      pack = { bytes: Buffer.allocUnsafeSlow(Math.max(packBytes, bytes)), used: 0 };
    }
  }
  const start = pack.used;
  pack.used += pack.bytes.write(text, start);
  return pack.bytes.subarray(start, pack.used);
}

/** Starts an empty text. */
export function createChunks() {
  const done: Chunk[] = [];
  let open = '';
  return {
    add(text: Chunk): void {
      if (typeof text === 'string' && text.length < worthwhile) {
        open += text;
        return;
      }
      if (open !== '') done.push(open);
      done.push(text);
      open = '';
    },
    /** The whole text, when nothing is added any more. */
    all: (): readonly Chunk[] => (open === '' ? done : [...done, open]),
  };
}

/** The text of chunks as a whole. */
export function joinChunks(chunks: readonly Chunk[]): string {
  return chunks.map(textOfChunk).join('');
}

export function textOfChunk(chunk: Chunk): string {
  return typeof chunk === 'string' ? chunk : decoder.decode(chunk);
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
