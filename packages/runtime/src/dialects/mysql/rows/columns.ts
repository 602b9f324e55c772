/**
 * Formats of the columns in an answer of MySQL or MariaDB, by their types and, if we have named them, by their names.
 */
import { nestedColumn } from './nested.ts';
import { type IntegerForm, rawColumns } from './spelled.ts';

/** A column as the server describes it. */
export interface ColumnDefinition {
  readonly columnType: number;
  readonly flags: number;
  readonly name: string;
}

/**
 * Forms in which the cells of a column are sent, and converted. These are texts and bytes with their length in front,
 * and nested values as such texts. Integers stay integers, or become texts as times do.
 */
export type CellForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'nested' }
  | { readonly kind: 'whole'; readonly size: number; readonly unsigned: boolean }
  | { readonly kind: 'integer'; readonly form: IntegerForm }
  | { readonly kind: 'time'; readonly zone: '' | '+00:00' };

/** Sizes of integers by their column type; every other column is a text or bytes. */
const integerSizes: ReadonlyMap<number, number> = new Map([
  [1, 1],
  [2, 2],
  [3, 4],
  [8, 8],
  [9, 4],
]);
const unsignedFlag = 32;
const yearType = 13;
/** Timestamps, and dates with times. */
const timeTypes: ReadonlySet<number> = new Set([7, 12]);

/** The form of the cells of a column. Throws if its name contradicts its type. */
export function cellFormOf({ columnType, flags, name }: ColumnDefinition): CellForm {
  const unsigned = (flags & unsignedFlag) !== 0;
  const size = integerSizes.get(columnType);
  switch (name) {
    case nestedColumn:
      return { kind: 'nested' };
    case rawColumns.integer:
      return { kind: 'integer', form: integerForm(columnType, size, unsigned) };
    case rawColumns.dateTime:
      return { kind: 'time', zone: checkedZone(columnType, '') };
    case rawColumns.instant:
      return { kind: 'time', zone: checkedZone(columnType, '+00:00') };
    default:
      return size === undefined ? { kind: 'text' } : { kind: 'whole', size, unsigned };
  }
}

function integerForm(columnType: number, storedSize: number | undefined, unsigned: boolean): IntegerForm {
  const year = columnType === yearType;
  const size = year ? 2 : storedSize;
  if (size === undefined) throw new Error(`A column of type ${columnType} holds no integers.`);
  return { size, unsigned: unsigned || year, year };
}

function checkedZone<Zone>(columnType: number, zone: Zone): Zone {
  if (!timeTypes.has(columnType)) throw new Error(`A column of type ${columnType} holds no dates with times.`);
  return zone;
}

/** First bytes of numbers that stand after them, in two, three or eight bytes; a smaller one is the number. */
export const wider = { two: 252, three: 253, eight: 254 } as const;

/** Bytes that a number takes, by its first one. */
export function widthOf(first: number): number {
  if (first < wider.two) return 1;
  return first === wider.two ? 3 : first === wider.three ? 4 : 9;
}

/** The number that starts at `offset`, as one that counts bytes or columns. */
export function lengthAt(buffer: Buffer, offset: number): number {
  const first = buffer[offset] ?? 0;
  if (first < wider.two) return first;
  if (first === wider.two) return buffer.readUInt16LE(offset + 1);
  return first === wider.three ? buffer.readUIntLE(offset + 1, 3) : Number(buffer.readBigUInt64LE(offset + 1));
}

/** The number that starts at `offset`, exactly and with a sign: rows or a key. */
export function integerAt(buffer: Buffer, offset: number): number | bigint {
  return buffer[offset] === wider.eight ? buffer.readBigInt64LE(offset + 1) : lengthAt(buffer, offset);
}
