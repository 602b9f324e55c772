/** Records and lists of MySQL and MariaDB in PostgreSQL's binary form, so that one transcoder serves every server. */
import { PlatformError } from '../../../errors.ts';
import type { RowBytes } from './row-bytes.ts';

/** Name of a column of an answer that contains a record or a list. */
export const nestedColumn = 'platform: nested';

/** Prefix of a text that ends at a mark: as it is, or a date with a time, without a zone or in UTC. */
export const plainSigns = { as: '=', dateTime: '&', instant: '@' } as const;

export type PlainSign = (typeof plainSigns)[keyof typeof plainSigns];

const signs = {
  open: 40,
  close: 41,
  list: 91,
  end: 93,
  missing: 126,
  plain: plainSigns.as.charCodeAt(0),
  dateTime: plainSigns.dateTime.charCodeAt(0),
  instant: plainSigns.instant.charCodeAt(0),
  plainEnd: 59,
  point: 46,
  colon: 58,
  zero: 48,
  clock: 84,
  tooLong: 33,
} as const;

/** Writes the value of a nested column, its length in front. */
export function writeNested(out: RowBytes, text: Buffer): void {
  const end = writeValue(out, text, 0);
  if (end !== text.length) throw new Error('A nested value has bytes after its end.');
}

/** Writes the value that starts at `offset`; returns where it ends. */
function writeValue(out: RowBytes, text: Buffer, offset: number): number {
  switch (text[offset]) {
    case signs.missing:
      out.int32(-1);
      return offset + 1;
    case signs.open:
      return writeRecord(out, text, offset + 1);
    case signs.list:
      return writeList(out, text, offset + 1);
    case signs.plain:
      return writePlain(out, text, offset + 1);
    case signs.dateTime:
      return writeMoment(out, text, offset + 1, '');
    case signs.instant:
      return writeMoment(out, text, offset + 1, '+00:00');
    case signs.tooLong:
      throw new PlatformError('INVALID_QUERY', 'The related items of one item are more than the database can gather.');
    default:
      return writeScalar(out, text, offset);
  }
}

/** The bytes of a number, and a mark after them. */
function writePlain(out: RowBytes, text: Buffer, offset: number): number {
  const end = markBehind(text, offset);
  out.int32(end - offset);
  out.bytes(text, offset, end);
  return end + 1;
}

/** Positions in `2026-01-02 10:00:00.500000` at which the day ends, and the fraction begins. */
const moment = { clock: 10, fraction: 19 } as const;

/** A time as the server writes it, which becomes `2026-01-02T10:00:00.5` and the zone. */
function writeMoment(out: RowBytes, text: Buffer, offset: number, zone: string): number {
  const placeholder = markBehind(text, offset);
  let end = placeholder;
  if (end - offset > moment.fraction) {
    while (text[end - 1] === signs.zero) end--;
    if (text[end - 1] === signs.point) end--;
  }
  out.int32(end - offset + zone.length);
  const start = out.length;
  out.bytes(text, offset, end);
  out.buffer[start + moment.clock] = signs.clock;
  out.characters(zone);
  return placeholder + 1;
}

function markBehind(text: Buffer, offset: number): number {
  let end = offset;
  for (let sign = text[end]; sign !== signs.plainEnd; sign = text[++end]) {
    if (sign === undefined) throw new Error('A nested value is cut off.');
  }
  return end;
}

/** Its length in digits, a colon, its bytes. */
function writeScalar(out: RowBytes, text: Buffer, offset: number): number {
  let from = offset;
  let length = 0;
  for (let sign = text[from]; sign !== signs.colon; sign = text[++from]) {
    if (sign === undefined || sign < signs.zero || sign > signs.zero + 9) throw new Error('A nested value is cut off.');
    length = length * 10 + sign - signs.zero;
  }
  out.int32(length);
  out.bytes(text, from + 1, from + 1 + length);
  return from + 1 + length;
}

/** The number of columns, then oid, length and bytes of each (`record_send`); the oid is never read. */
function writeRecord(out: RowBytes, text: Buffer, offset: number): number {
  const start = out.int32(0);
  const count = out.int32(0);
  let columns = 0;
  let from = offset;
  for (; text[from] !== signs.close; columns++) {
    out.int32(0);
    from = writeValue(out, text, from);
  }
  out.patch(count, columns);
  out.patch(start, out.length - start - 4);
  return from + 1;
}

/** Dimensions, flags, oid, size and lower bound, then length and bytes of each element (`array_send`). */
function writeList(out: RowBytes, text: Buffer, offset: number): number {
  const start = out.int32(0);
  const dimensions = out.int32(0);
  out.int32(0);
  out.int32(0);
  let from = offset;
  if (text[from] !== signs.end) {
    out.patch(dimensions, 1);
    const size = out.int32(0);
    out.int32(1);
    let elements = 0;
    for (; text[from] !== signs.end; elements++) from = writeValue(out, text, from);
    out.patch(size, elements);
  }
  out.patch(start, out.length - start - 4);
  return from + 1;
}
