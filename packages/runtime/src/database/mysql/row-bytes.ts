/** Bytes that the buffer has at first, and those up to which a larger one is kept. */
const usual = 16_384;
const mostKept = 1024 ** 2;
const fewBytes = 32;

/** The bytes of one row at a time, in a buffer that is kept for the next and grows with the largest. */
export class RowBytes {
  buffer = Buffer.allocUnsafe(usual);
  length = 0;

  /** Starts the next row. */
  clear(): void {
    this.length = 0;
    if (this.buffer.length > mostKept) this.buffer = Buffer.allocUnsafe(usual);
  }

  /** Appends a number of four bytes and returns where it stands. */
  int32(value: number): number {
    const at = this.reserve(4);
    this.buffer.writeInt32BE(value, at);
    return at;
  }

  /** Appends a number of eight bytes. */
  int64(value: bigint): void {
    this.buffer.writeBigInt64BE(value, this.reserve(8));
  }

  bytes(source: Buffer, start = 0, end = source.length): void {
    const size = end - start;
    const at = this.reserve(size);
    // Calling out for a few bytes takes longer than they do.
    if (size > fewBytes) source.copy(this.buffer, at, start, end);
    else for (let index = 0; index < size; index++) this.buffer[at + index] = source[start + index] ?? 0;
  }

  /** Appends a text of ASCII characters. */
  characters(text: string): void {
    const at = this.reserve(text.length);
    for (let index = 0; index < text.length; index++) this.buffer[at + index] = text.charCodeAt(index);
  }

  /** Replaces a number that was appended before. */
  patch(at: number, value: number): void {
    this.buffer.writeInt32BE(value, at);
  }

  /** Makes room for so many bytes, which the caller writes into `buffer`, and returns where they stand. */
  reserve(size: number): number {
    const at = this.length;
    this.length = at + size;
    if (this.length > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.length, 2 * this.buffer.length));
      this.buffer.copy(larger, 0, 0, at);
      this.buffer = larger;
    }
    return at;
  }
}
