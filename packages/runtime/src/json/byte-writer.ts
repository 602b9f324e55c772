/**
 * Output buffers of answers and protocol messages. Bytes go straight into large shared slabs and are handed out as
 * views. So an answer costs neither an allocation of its own nor a copy.
 *
 * After sending a view the caller gives it back, and a slab without views starts over. Memory outside the heap that is
 * allocated for every answer would make the collector run as if the heap were full.
 */

/** Slabs are large enough for dozens of usual answers and small enough that a slow reader of one of them pins little. */
const slabSize = 131_072;

/** Long slabs are for answers that outgrow others: an eighth of a megabyte of rows is more as XML. */
const longSize = 8 * slabSize;

/** A slab with less room than this is out of use until its views have been given back. */
const leastRoom = 8_192;

/** Idle slabs kept for the next writer: as many as answers and messages are usually half-written at once. */
const maxSpares = 16;

/** Idle long slabs that are kept: the streams that one process keeps busy gather a few of them each. */
const maxLongSpares = 12;

/** Memory of answers that stand in it one after the other. */
interface Slab {
  readonly bytes: Buffer;
  /** The same memory, for numbers. */
  readonly view: DataView;
  /** Bytes from the start on that are taken; those of a writer under way come after. */
  used: number;
  /** Views that were handed out and not given back. */
  lent: number;
  /** True while a writer owns it or it is among the spares. */
  inUse: boolean;
}

/** Bytes of a character of a string at most, as UTF-8. */
const maxBytes = 3;

const none = Buffer.alloc(0);
const noView = new DataView(new ArrayBuffer(0));

const spares: Slab[] = [];
const longSpares: Slab[] = [];
const slabs = new WeakMap<ArrayBufferLike, Slab>();

/**
 * Gives back bytes that `take` handed out, once they are read no more: they are overwritten. To be called at most once.
 * Bytes that are never given back are left to the garbage collector, and bytes from elsewhere are ignored.
 */
export function giveBack(bytes: Buffer): void {
  const slab = slabs.get(bytes.buffer);
  if (slab === undefined || bytes.length === 0) return;
  slab.lent -= 1;
  if (slab.lent > 0) return;
  if (!slab.inUse) keep(slab);
  else if (sparesLike(slab).includes(slab)) slab.used = 0;
}

function sparesLike({ bytes }: Slab): Slab[] {
  return bytes.length === longSize ? longSpares : spares;
}

/** Puts a slab that no writer owns among the spares, when it has room and there is a place. */
function keep(slab: Slab): void {
  if (slab.lent === 0) slab.used = 0;
  const others = sparesLike(slab);
  const limit = others === spares ? maxSpares : maxLongSpares;
  slab.inUse = others.length < limit && slab.bytes.length - slab.used >= leastRoom;
  if (slab.inUse) others.push(slab);
}

function newSlab(size: number): Slab {
  // Zeroing would cost more than writing; only bytes written since are ever handed out.
  const bytes = Buffer.allocUnsafeSlow(size);
  const slab = { bytes, view: new DataView(bytes.buffer), used: 0, lent: 0, inUse: true };
  if (isShared(slab)) slabs.set(bytes.buffer, slab);
  return slab;
}

/** True if views of it are counted; others are left to the garbage collector. */
function isShared({ bytes }: Slab): boolean {
  return bytes.length === slabSize || bytes.length === longSize;
}

/**
 * A growing run of bytes.
 *
 * Writers of values call `reserve`, then store into `bytes` or, which is the same memory, `view` from `position` on and
 * move `position`. All three change whenever room is made, so read them again after every call that may reserve. Not
 * more than one writer ever owns a slab, so bytes after the position may be scribbled on as far as they are reserved.
 */
export class ByteWriter {
  bytes: Buffer = none;
  view: DataView = noView;
  position = 0;
  #start = 0;
  #slab: Slab | undefined;

  /** Bytes written since the last `take`. */
  get length(): number {
    return this.position - this.#start;
  }

  /** Makes sure that `room` bytes can be stored from `position` on. */
  reserve(room: number): void {
    if (this.bytes.length - this.position < room) this.#grow(room);
  }

  append(source: Uint8Array): void {
    this.reserve(source.length);
    this.bytes.set(source, this.position);
    this.position += source.length;
  }

  appendText(text: string): void {
    this.reserve(text.length * maxBytes);
    this.position += this.bytes.write(text, this.position);
  }

  /** Hands out what was written since the last call, without a copy; the writer can be used on. See `giveBack`. */
  takeBytes(): Buffer {
    const taken = this.bytes.subarray(this.#start, this.position);
    if (taken.length > 0 && this.#slab !== undefined) this.#slab.lent += 1;
    this.#leave(this.position);
    this.bytes = none;
    this.view = noView;
    this.#start = 0;
    this.position = 0;
    return taken;
  }

  #grow(room: number): void {
    const written = this.length;
    const target = claim(written, room);
    this.bytes.copy(target.bytes, target.used, this.#start, this.position);
    this.#leave(this.#start);
    this.#slab = target;
    this.bytes = target.bytes;
    this.view = target.view;
    this.#start = target.used;
    this.position = target.used + written;
  }

  /** Gives up the slab, whose bytes up to `used` are taken. */
  #leave(used: number): void {
    const slab = this.#slab;
    this.#slab = undefined;
    if (slab === undefined || !isShared(slab)) return;
    slab.used = used;
    keep(slab);
  }
}

/** A slab with room for so much, a spare one if any; longer ones get a long slab, then doubled memory. */
function claim(written: number, room: number): Slab {
  const size = written * 2 + room;
  if (size > longSize) return newSlab(size);
  const others = size > slabSize ? longSpares : spares;
  for (let index = others.length - 1; index >= 0; index--) {
    const spare = others[index];
    if (spare === undefined || spare.bytes.length - spare.used < size) continue;
    others.copyWithin(index, index + 1).pop();
    return spare;
  }
  return newSlab(others === spares ? slabSize : longSize);
}
