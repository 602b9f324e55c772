/** The bytes of one row at a time, in a buffer that is kept for the next and grows with the largest. */
export class RowBytes {
  buffer = Buffer.allocUnsafe(16_384);
  length = 0;

  /** Starts the next row. */
  clear(): void {
    this.length = 0;
  }

  /** Appends a number of four bytes and returns where it stands. */
  int32(value: number): number {
    const at = this.#reserve(4);
    this.buffer.writeInt32BE(value, at);
    return at;
  }

  /** Appends a number of eight bytes. */
  int64(value: bigint): void {
    this.buffer.writeBigInt64BE(value, this.#reserve(8));
  }

  bytes(source: Buffer, start = 0, end = source.length): void {
    const at = this.#reserve(end - start);
    source.copy(this.buffer, at, start, end);
  }

  /** Replaces a number that was appended before. */
  patch(at: number, value: number): void {
    this.buffer.writeInt32BE(value, at);
  }

  #reserve(size: number): number {
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
