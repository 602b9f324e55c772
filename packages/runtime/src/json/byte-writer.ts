/**
 * Where answers and protocol messages are written: bytes go straight into large shared slabs and are handed out as views,
 * so an answer costs neither an allocation of its own nor a copy.
 */

/** Slabs are large enough for dozens of usual answers and small enough that a slow reader of one of them pins little. */
const slabSize = 131_072;

/** A slab with less room than this is left to the garbage collector together with the views on it. */
const leastRoom = 8_192;

/** Idle slabs kept for the next writer: as many as answers are ever half-written at once. */
const mostSpares = 8;

/** The unused end of a slab that nobody is writing to. */
interface Spare {
  readonly bytes: Buffer;
  readonly used: number;
}

const spares: Spare[] = [];

/**
 * A growing run of bytes.
 *
 * Writers of values call `reserve`, then store into `bytes` from `position` on and move `position`. Both change whenever
 * room is made, so read them again after every call that may reserve. Not more than one writer ever owns a slab.
 */
export class ByteWriter {
  bytes: Buffer = none;
  position = 0;
  #start = 0;

  /** Bytes written since the last `take`. */
  get length(): number {
    return this.position - this.#start;
  }

  /** Makes sure that `room` bytes can be stored from `position` on. */
  reserve(room: number): void {
    if (this.bytes.length - this.position < room) this.#grow(room);
  }

  /** Appends bytes as they are. */
  append(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.position);
    this.position += source.length;
  }

  /** Hands out what was written since the last call, without a copy; the writer can be used on. */
  take(): Buffer {
    const taken = this.bytes.subarray(this.#start, this.position);
    if (
      this.bytes.length - this.position >= leastRoom &&
      spares.length < mostSpares &&
      this.bytes.length === slabSize
    ) {
      spares.push({ bytes: this.bytes, used: this.position });
    }
    this.bytes = none;
    this.#start = 0;
    this.position = 0;
    return taken;
  }

  /** Drops what was written since the last `take`. */
  clear(): void {
    this.position = this.#start;
    this.take();
  }

  #grow(room: number): void {
    const written = this.length;
    const target = this.#claim(written, room);
    this.bytes.copy(target.bytes, target.used, this.#start, this.position);
    this.bytes = target.bytes;
    this.#start = target.used;
    this.position = target.used + written;
  }

  /** A spare slab for a fresh answer, a slab of its own for one that outgrew its place, else doubled memory. */
  #claim(written: number, room: number): Spare {
    const spare = written === 0 ? spares.pop() : undefined;
    if (spare !== undefined && spare.bytes.length - spare.used >= room) return spare;
    const size = Math.max(slabSize, written * 2 + room);
    // Zeroing would cost more than writing; only bytes written since are ever handed out.
    return { bytes: Buffer.allocUnsafeSlow(size), used: 0 };
  }
}

const none = Buffer.alloc(0);
