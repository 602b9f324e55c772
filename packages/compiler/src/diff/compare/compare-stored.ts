/** Values that a column accepts beyond the name of its type: ranges of numbers, lengths, digits. */
import { isDeepStrictEqual } from 'node:util';
import type { Column } from '@tablewright/introspect/schema';
import type { FieldDescriptor } from '@tablewright/runtime/language';
import type { Found } from '../side.ts';

type StoredFinding = Pick<Found, 'rule' | 'message'>;

/** One field on one side: its descriptor and its column. */
export interface StoredField {
  readonly descriptor: FieldDescriptor;
  readonly column: Column | undefined;
}

/** Changes of size: fewer or more values fit. Both types have the same form. */
export function sizeChanges(name: string, was: StoredField, is: StoredField): readonly StoredFinding[] {
  const [old, fresh] = [was.descriptor.type, is.descriptor.type];
  // Between string and text the length is all that changes.
  if (old !== fresh && !(isText(old) && isText(fresh))) return [];
  if (was.descriptor.element !== is.descriptor.element) return [];
  const [before, now] = [held(was), held(is)];
  return [...lengthChanges(name, before, now), ...digitChanges(name, before, now)];
}

/** A change of the stored type with the same form, which no other rule reports. */
export function storageChange(name: string, was: StoredField, is: StoredField): StoredFinding | null {
  const [old, fresh] = [was.column, is.column];
  if (old === undefined || fresh === undefined) return null;
  if (isDeepStrictEqual(storageOf(old), storageOf(fresh))) return null;
  return { rule: 'field-type-kept', message: `"${name}" is stored as ${fresh.nativeType}, it was ${old.nativeType}.` };
}

/** Domains are checks with a name, and labels are values: both are told by themselves. */
function storageOf({ type, nativeType }: Column): unknown {
  const { base, precision, scale, maxLength } = type.element ?? type;
  return [base, precision, scale, maxLength, type.portable === 'binary' ? nativeType : null];
}

/** The most that a value has of each. */
interface Held {
  readonly length: number;
  readonly low: number;
  readonly high: number;
  /** Digits before and after the point. */
  readonly digits: number;
  readonly scale: number;
}

/** Type that an element of an array holds. */
function held({ descriptor, column }: StoredField): Held {
  const element = descriptor.type === 'array' ? column?.type.element : null;
  const { maxLength, precision, scale } = element ?? descriptor;
  const base = (element ?? column?.type)?.base ?? '';
  const range = numbers[base];
  const isDecimal = (element?.portable ?? descriptor.type) === 'decimal';
  return {
    length: maxLength ?? (base === 'tinytext' ? 255 : Number.POSITIVE_INFINITY),
    low: range?.[0] ?? Number.NEGATIVE_INFINITY,
    high: range?.[1] ?? Number.POSITIVE_INFINITY,
    // Numbers without limits have 1000 digits at most.
    digits: isDecimal ? (precision ?? 1000) - (scale ?? 0) : 0,
    scale: isDecimal ? (scale ?? 1000) : 0,
  };
}

function lengthChanges(name: string, was: Held, is: Held): readonly StoredFinding[] {
  if (was.length === is.length) return [];
  const text = ({ length }: Held): string => (length === Number.POSITIVE_INFINITY ? 'unlimited' : `${length}`);
  const message = `The length of "${name}" is ${text(is)}, it was ${text(was)}.`;
  return [{ rule: is.length < was.length ? 'length-reduced' : 'length-raised', message }];
}

function digitChanges(name: string, was: Held, is: Held): readonly StoredFinding[] {
  if (is.low > was.low || is.high < was.high) return [finding('precision-reduced', `"${name}" holds fewer numbers.`)];
  if (is.digits < was.digits || is.scale < was.scale)
    return [finding('precision-reduced', `"${name}" has fewer digits.`)];
  if (is.low < was.low || is.high > was.high) return [finding('precision-raised', `"${name}" holds more numbers.`)];
  const isMore = is.digits > was.digits || is.scale > was.scale;
  return isMore ? [finding('precision-raised', `"${name}" has more digits.`)] : [];
}

function finding(rule: StoredFinding['rule'], message: string): StoredFinding {
  return { rule, message };
}

/** True for the two types of text. */
export function isText(type: string): boolean {
  return type === 'string' || type === 'text';
}

const signed = (bits: number): readonly [number, number] => [-(2 ** (bits - 1)), 2 ** (bits - 1) - 1];
const unsigned = (bits: number): readonly [number, number] => [0, 2 ** bits - 1];
const single = 2 ** 128;

/** Ranges of numbers of both families of servers; an unlisted type has the range of its form. */
const numbers: Readonly<Record<string, readonly [number, number]>> = {
  int2: signed(16),
  int4: signed(32),
  float4: [-single, single],
  tinyint: signed(8),
  smallint: signed(16),
  mediumint: signed(24),
  int: signed(32),
  bigint: signed(64),
  'tinyint unsigned': unsigned(8),
  'smallint unsigned': unsigned(16),
  'mediumint unsigned': unsigned(24),
  'int unsigned': unsigned(32),
  'bigint unsigned': unsigned(64),
  float: [-single, single],
};
