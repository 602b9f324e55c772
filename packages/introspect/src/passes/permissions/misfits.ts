/** Why a field cannot take the value of a preset, as the end of a sentence; null when it can. */
import {
  areComparable,
  type CallerValue,
  decodeValue,
  isDynamic,
  type JsonValue,
  types,
} from '@tablewright/runtime/language';
import type { PlacedValue } from '../../config/permissions/permission-document.ts';
import { placeIn } from '../../config/yaml/placed-value.ts';
import type { Diagnostic } from '../../diagnostic.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Column, Field } from '../../schema.ts';
import { namedField } from './filter-names.ts';

/** A value as written: it must be of the field's type, and within what the column holds. */
export function literalMisfit(field: Field, column: Column | undefined, value: JsonValue): string | null {
  if (value === null) return column !== undefined && holdsNoNull(column) ? 'must not be null' : null;
  const decoded = decodeValue(namedField(field, column?.type), value);
  if (!decoded.ok) return decoded.message;
  return column === undefined || decoded.value === null ? null : limitMisfit(field, column, decoded.value);
}

function holdsNoNull({ nullable, type }: Column): boolean {
  return !nullable || type.domains.some(({ notNull }) => notNull);
}

function limitMisfit(field: Field, { type }: Column, value: string): string | null {
  const broken = type.values === null ? undefined : types[field.type].limit?.({ values: type.values }, value);
  if (broken?.type === 'enum') return broken.message;
  if (type.maxLength !== null && lengthOf(type.base, value) > type.maxLength) {
    return `is longer than ${type.maxLength} characters`;
  }
  return isBeyond(Number(value), type) ? 'is out of range' : null;
}

/** Blanks at the end are cut off where they are too many. */
function lengthOf(base: string, value: string): number {
  return base === 'varchar' || base === 'bpchar' ? [...value.replace(/ +$/, '')].length : 0;
}

/** True if a number is too large for its column; beyond 15 digits rounding would decide. */
function isBeyond(value: number, { base, precision, scale }: Column['type']): boolean {
  if (base === 'int2') return value < -32_768 || value > 32_767;
  const digits = (precision ?? 0) - (scale ?? 0);
  return base === 'numeric' && precision !== null && digits <= 15 && Math.abs(value) >= 10 ** digits;
}

/** `$NOW` is for fields that hold times. */
export function nowMisfit(field: Field): string | null {
  return types[field.type].isMoment === true ? null : 'sets a time in a field of another type';
}

/** Mismatch of a path from the caller: an array takes a list, every other field one value of its type. */
export function pathMisfit(field: Field, column: Column | undefined, { type, many }: CallerValue): string | null {
  const target = namedField(field, column?.type);
  if (field.type === 'array') {
    const element = target.element ?? 'unknown';
    return many && areComparable({ type: element }, type) ? null : 'takes a list of values of its type';
  }
  if (many) return 'takes one value, not a list';
  if (field.type === 'enum') return takesLabels(target.values, type.values) ? null : 'takes only its own labels';
  return areComparable(target, type) || target.type === type.type ? null : `takes no value of type "${type.type}"`;
}

function takesLabels(ownLabels: readonly string[] | undefined, presetLabels: readonly string[] | undefined): boolean {
  return presetLabels?.every((label) => ownLabels?.includes(label)) ?? false;
}

const dynamicNames = ['$NOW', '$CURRENT_USER', '$CURRENT_ROLE'];

/**
 * Texts in a rule that are almost a dynamic value. Taken as text, `_neq: $CURENT_USER` would match every row, so a
 * near miss is an error; other text that starts with a dollar sign stays text.
 */
export function findMisspeltValues(source: PlacedValue): readonly Diagnostic[] {
  return textsIn(source.value, []).flatMap(({ text, path }): readonly Diagnostic[] => {
    const name = /^\$[A-Za-z_-]+/.exec(text)?.[0];
    if (name === undefined || isDynamic(text)) return [];
    const meant = didYouMean(name, dynamicNames);
    if (meant === null) return [];
    const message = `"${name}" is no dynamic value.`;
    const location = placeIn(source, path);
    return [{ code: 'dynamic-value', severity: 'error', place: location, message, hint: `Did you mean "${meant}"?` }];
  });
}

interface PlacedText {
  readonly text: string;
  readonly path: readonly string[];
}

function textsIn(value: JsonValue, path: readonly string[]): readonly PlacedText[] {
  if (typeof value === 'string') return [{ text: value, path }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
}
