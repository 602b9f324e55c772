/** Bytes that the buffer has at first, and those up to which a larger one is kept. */
const usual = 16_384;
const maxKept = 1024 ** 2;
const fewBytes = 32;

/** The bytes of one row at a time, in a buffer that is kept for the next and grows with the largest. */
export class RowBytes {
  buffer: Buffer = Buffer.allocUnsafeSlow(usual);
  /** The same memory, for numbers. */
  view = viewOf(this.buffer);
  length = 0;

  /** Starts the next row. */
  clear(): void {
    this.length = 0;
    if (this.buffer.length > maxKept) this.#use(Buffer.allocUnsafeSlow(usual));
  }

  /** Appends a number of four bytes and returns where it stands. */
  int32(value: number): number {
    const offset = this.reserve(4);
    this.view.setInt32(offset, value);
    return offset;
  }

  /** Appends a number of eight bytes. */
  int64(value: bigint): void {
    const offset = this.reserve(8);
    this.view.setBigInt64(offset, value);
  }

  bytes(source: Buffer, start = 0, end = source.length): void {
    const size = end - start;
    const offset = this.reserve(size);
    const { buffer } = this;
    // Calling out for a few bytes takes longer than they do.
    if (size > fewBytes) source.copy(buffer, offset, start, end);
    else for (let index = 0; index < size; index++) buffer[offset + index] = source[start + index] ?? 0;
  }

  /** Appends ASCII: other characters would lose bytes. */
  characters(text: string): void {
    const offset = this.reserve(text.length);
    for (let index = 0; index < text.length; index++) this.buffer[offset + index] = text.charCodeAt(index);
  }

  /** Replaces a number that was appended before. */
  patch(offset: number, value: number): void {
    this.view.setInt32(offset, value);
  }

  /** Makes room for so many bytes and returns where they stand. */
  reserve(size: number): number {
    const offset = this.length;
    this.ensure(size);
    this.length = offset + size;
    return offset;
  }

  /** Makes sure that so many bytes can be stored into `buffer` or `view` from `length` on, which then is to be moved. */
  ensure(size: number): void {
    const needed = this.length + size;
    if (needed <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.buffer.length));
    this.buffer.copy(larger, 0, 0, this.length);
    this.#use(larger);
  }

  #use(buffer: Buffer): void {
    this.buffer = buffer;
    this.view = viewOf(buffer);
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}
