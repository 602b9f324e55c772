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
