/** Whole answers: `{"data":[…]}` or `{"data":{…}}`, with `"meta"` when the plan counts or pages, from the rows of one statement. */
import type { DirectSink, RowSink } from '../database/database.ts';
import { ByteWriter, giveBack } from '../json/byte-writer.ts';
import { int32, sourceOf } from '../json/bytes.ts';
import { writeCount } from '../json/numbers.ts';
import type { ShapeField } from '../json/shape.ts';
import { createTranscoder, type Transcoder } from '../json/transcode.ts';
import { type CursorPlan, writeBackwards, writeCursor } from './parse/cursor.ts';
import type { ReadPlan } from './plan/plan.ts';

/**
 * One answer being written. Pass it as the sink of the plan's statement, then call `end` for the bytes.
 *
 * For a plan that is streamed, call `take` whenever the reader is ready for more. The chunks and the result of `end`
 * are the same bytes in order as the whole answer.
 */
export interface Answer extends RowSink {
  /** Items written so far. For a read of one item, 0 tells that there is none. */
  readonly items: number;
  /** Number of items named by key that were found, for a plan that counts them. */
  readonly found?: number;
  /** Hands out the bytes written since the last call; empty when no row arrived. */
  read(): Buffer;
  /** Completes the answer and hands out its (remaining) bytes; the same again when called again. */
  end(): Buffer;
}

/**
 * Begins an answer. One function serves every request of its plan. `size` is that of a page by cursor: a row after it
 * only tells that there are more. Default -1, every row.
 */
export type AnswerWriter = (size?: number) => Answer;

/** Prepares how the rows of a plan become an answer; once per plan. */
export function createAnswerWriter(plan: ReadPlan): AnswerWriter {
  if (plan.bare === true) return bareAnswers(plan);
  const layout: Layout = {
    many: plan.many,
    fields: plan.meta.length === 0 && plan.cursor === undefined ? plan.fields : undefined,
    meta: plan.meta.map((name, index) => Buffer.from(`${index === 0 ? ',"meta":{' : ','}"${name}":`)),
    cursor: plan.cursor,
    transcode: createTranscoder(plan.fields),
  };
  return (size = -1) => new PlanAnswer(layout, size);
}

/** Answers of one value: the field of the plan is `data`. */
function bareAnswers({ fields }: ReadPlan): AnswerWriter {
  const transcode = createTranscoder(fields);
  return () => new BareAnswer(transcode);
}

class BareAnswer implements Answer {
  items = 0;
  readonly #transcode: Transcoder;
  readonly #out = new ByteWriter();
  #ended: Buffer | undefined;

  constructor(transcode: Transcoder) {
    this.#transcode = transcode;
  }

  row(buffer: Buffer, offset: number): void {
    if (this.items++ === 0) this.#transcode(buffer, offset, this.#out);
  }

  read(): Buffer {
    return this.#out.takeBytes();
  }

  end(): Buffer {
    this.#ended ??= this.items === 0 ? Buffer.from('{"data":null}') : this.#out.takeBytes();
    return this.#ended;
  }
}

interface Layout {
  readonly many: boolean;
  /** Fields of a row that holds nothing else. */
  readonly fields: readonly ShapeField[] | undefined;
  /** The text in front of each count. */
  readonly meta: readonly Buffer[];
  readonly cursor: CursorPlan | undefined;
  readonly transcode: Transcoder;
}

const listStart = Buffer.from('{"data":[');
const itemStart = Buffer.from('{"data":');
const nullText = Buffer.from('null');

/** Room for a count, a comma and the brackets that end an answer. */
const smallRoom = 32;

class PlanAnswer implements Answer, DirectSink {
  items = 0;
  readonly direct: DirectSink | undefined;
  readonly fields: readonly ShapeField[];
  readonly #layout: Layout;
  readonly #out = new ByteWriter();
  #started = false;
  #meta: Buffer | undefined;
  #ended: Buffer | undefined;
  readonly #size: number;
  /** Values for cursors of the first row and of the last one, and a flag that is true if a row came after that one. */
  #first: readonly (string | null)[] = [];
  #last: readonly (string | null)[] = [];
  #more = false;
  /** Offsets of items, of a page whose order is reversed. */
  readonly #starts: number[] | undefined;

  constructor(layout: Layout, size: number) {
    this.#layout = layout;
    this.#size = size;
    this.#starts = layout.cursor?.back && [];
    this.fields = layout.fields ?? [];
    this.direct = layout.fields && this;
  }

  row(buffer: Buffer, offset: number): void {
    const { meta, cursor, transcode } = this.#layout;
    this.#start();
    const position = meta.length === 0 ? offset : this.#readCounts(buffer, offset);
    if (position < 0) return;
    if (this.items === this.#size) {
      this.#more = true;
      return;
    }
    this.#starts?.push(this.#out.length);
    if (this.items++ > 0 && this.#starts === undefined) this.#put(comma);
    transcode(buffer, cursor === undefined ? position : this.#readCursor(cursor, buffer, position), this.#out);
  }

  item(transcode: Transcoder, buffer: Buffer, offset: number): void {
    this.#start();
    if (this.items++ > 0) this.#put(comma);
    transcode(buffer, offset, this.#out);
  }

  read(): Buffer {
    return this.#starts === undefined ? this.#out.takeBytes() : noBytes;
  }

  end(): Buffer {
    this.#ended ??= this.#complete();
    return this.#ended;
  }

  #complete(): Buffer {
    this.#start();
    if (this.#starts !== undefined) this.#turnRound(this.#starts);
    if (!this.#layout.many && this.items === 0) this.#out.append(nullText);
    if (this.#layout.many) this.#put(bracket);
    this.#writeMeta();
    this.#put(brace);
    return this.#out.takeBytes();
  }

  #writeMeta(): void {
    const { meta, cursor } = this.#layout;
    if (meta.length > 0) this.#out.append(this.#meta ?? countsText(meta));
    if (cursor !== undefined) {
      const { next, previous } = this.#neighbours(cursor);
      const names = `"next_cursor":${JSON.stringify(next)},"previous_cursor":${JSON.stringify(previous)}`;
      this.#out.append(Buffer.from(`${meta.length > 0 ? ',' : ',"meta":{'}${names}`));
    }
    if (meta.length > 0 || cursor !== undefined) this.#put(brace);
  }

  /** The pages beside this one; a reversed page has met its last item first. */
  #neighbours({ order, back, open }: CursorPlan): { readonly next: string | null; readonly previous: string | null } {
    const beside = this.items > 0 && !open;
    const [ahead, behind] = back ? [beside, this.#more] : [this.#more, beside];
    const [first, last] = back ? [this.#last, this.#first] : [this.#first, this.#last];
    return {
      next: ahead ? writeCursor(order, last) : null,
      previous: behind ? writeBackwards(order, first) : null,
    };
  }

  /** Writes the items again, the last one first. */
  #turnRound(starts: readonly number[]): void {
    const bytes = this.#out.takeBytes();
    this.#out.append(listStart);
    for (let index = starts.length - 1; index >= 0; index -= 1) {
      this.#out.append(bytes.subarray(starts[index], starts[index + 1] ?? bytes.length));
      if (index > 0) this.#put(comma);
    }
    giveBack(bytes);
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    if (this.#starts !== undefined) return;
    this.#out.append(this.#layout.many ? listStart : itemStart);
  }

  /** Keeps the counts of the first row and returns where the item's columns start, or -1 when there is no item. */
  #readCounts(buffer: Buffer, offset: number): number {
    this.#meta ??= countsText(this.#layout.meta, buffer, offset);
    let position = offset;
    for (let i = 0; i < this.#layout.meta.length; i++) position = afterColumn(buffer, position);
    const present = int32(buffer, position) > 0 && buffer[position + 4] !== 0;
    return present ? afterColumn(buffer, position) : -1;
  }

  /** Keeps what the last row of a page is ordered by, and returns where the item's columns start. */
  #readCursor({ types }: CursorPlan, buffer: Buffer, offset: number): number {
    const [first, last] = [this.items === 1, this.items === this.#size];
    const values: (string | null)[] = [];
    let position = offset;
    for (let i = 0; i < types.length; i++) {
      const end = afterColumn(buffer, position);
      if (first || last) values.push(int32(buffer, position) < 0 ? null : buffer.toString('utf8', position + 4, end));
      position = end;
    }
    if (first) this.#first = values;
    if (last) this.#last = values;
    return position;
  }

  #put(byte: number): void {
    this.#out.reserve(smallRoom);
    this.#out.bytes[this.#out.position++] = byte;
  }
}

const noBytes = Buffer.alloc(0);
const comma = 44;
const bracket = 93;
const brace = 125;

export function afterColumn(buffer: Buffer, offset: number): number {
  return offset + 4 + Math.max(int32(buffer, offset), 0);
}

/** Writes `,"meta":{"total_count":n,…` from the int8 columns at `offset`; zeros when there was no row at all. */
function countsText(meta: readonly Buffer[], buffer?: Buffer, offset = 0): Buffer {
  const out = new ByteWriter();
  let position = offset;
  for (const prefix of meta) {
    out.append(prefix);
    out.reserve(smallRoom);
    if (buffer === undefined) out.bytes[out.position++] = 48;
    else {
      writeCount(out, sourceOf(buffer), position + 4);
      position = afterColumn(buffer, position);
    }
  }
  return out.takeBytes();
}

/**
 * Takes the count off the front of every row, and lets another writer write the rest.
 *
 * Without `meta` the column that tells an item from an empty answer is taken off too, because only answers with `meta`
 * know it.
 */
export function withNamed({ meta }: ReadPlan, start: AnswerWriter): AnswerWriter {
  const flagged = meta.length === 0;
  return () => new NamedAnswer(start(), flagged);
}

class NamedAnswer implements Answer {
  found = 0;
  readonly #inner: Answer;
  readonly #flagged: boolean;

  constructor(inner: Answer, flagged: boolean) {
    this.#inner = inner;
    this.#flagged = flagged;
  }

  get items(): number {
    return this.#inner.items;
  }

  row(buffer: Buffer, offset: number, length: number): void {
    // A count is an int8 that is never null.
    this.found = Number(buffer.readBigInt64BE(offset + 4));
    const rest = offset + 12;
    const item = this.#flagged ? rest + 5 : rest;
    if (!this.#flagged || buffer[rest + 4] !== 0) this.#inner.row(buffer, item, length - (item - offset));
  }

  read(): Buffer {
    return this.#inner.read();
  }

  end(): Buffer {
    return this.#inner.end();
  }
}
