/** Parameters, which arrive as texts, in the forms that servers ask for. */

import type { ValueType } from '../language/index.ts';
import { decimalDigits } from '../language/types/decimal.ts';
import type { Parameter, ParameterForm, PathForm } from './database.ts';

/** Parameter to send: a text, or an integer where the servers require one. */
export type SentParameter = string | null | bigint;

/** The parameters of a statement in the forms that it asks for; absent: all are texts. */
export function formParameters(
  parameters: readonly Parameter[],
  forms: readonly ParameterForm[] | undefined,
): SentParameter[] {
  if (forms === undefined) return [...parameters];
  return parameters.map((parameter, index) => {
    if (parameter === null) return null;
    const form = forms[index] ?? 'text';
    return form === 'integer' ? BigInt(parameter) : formOf(parameter, form);
  });
}

/** A text in another form than `integer`. */
export function formOf(text: string, form: Exclude<ParameterForm, 'integer'>): string {
  switch (form) {
    case 'text':
      return text;
    case 'boolean':
      return text === 'true' || text === 't' ? '1' : '0';
    case 'instant':
      return instantOf(text);
    case 'months':
      return String(durationOf(text).months);
    case 'microseconds':
      return String(durationOf(text).microseconds);
    case 'whole':
    case 'fraction':
      return partOf(text, form);
    case 'text[]':
    case 'boolean[]':
    case 'instant[]':
      return JSON.stringify(listOf(text).map((item) => formOf(item, elementForm(form))));
    default:
      return pathOf(listOf(text), form);
  }
}

/** A path into JSON of some of the keys of a list, or one of them as the number that it is. */
function pathOf(keys: readonly string[], form: PathForm): string {
  const [from = 0, to = 0] = (form.match(/\d+/g) ?? []).map(Number);
  if (form.startsWith('index:')) return String(Number(keys[from]));
  return `$${keys
    .slice(from, to)
    .map((key) => `.${JSON.stringify(key)}`)
    .join('')}`;
}

/** Digits behind the point that the servers take. */
const maxPlaces = 30;

/** The part of a decimal before its point, or the one behind it, each with the sign of the number. */
function partOf(text: string, part: 'whole' | 'fraction'): string {
  const { sign, whole, fraction } = decimalDigits(text);
  return part === 'whole' ? `${sign}${whole || '0'}` : `${sign}0.${fraction.slice(0, maxPlaces) || '0'}`;
}

function elementForm(form: 'text[]' | 'boolean[]' | 'instant[]'): 'text' | 'boolean' | 'instant' {
  if (form === 'text[]') return 'text';
  return form === 'boolean[]' ? 'boolean' : 'instant';
}

const instantPattern = /^(\d{4}-\d{2}-\d{2})[ T](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:([+-]\d{2}):?(\d{2})?|Z)?$/;

/** The last second that the servers reach, in milliseconds. */
const lastSecond = Date.parse('9999-12-31T23:59:59Z');

/** `2026-01-02 10:00:00+01:00` as the same moment in UTC, in microseconds; out of range it stays as it is. */
function instantOf(text: string): string {
  const [, day, clock = '', fraction = '', hours = '+00', minutes = '00'] = instantPattern.exec(text) ?? [];
  if (day === undefined) return text;
  const isShort = fraction.length <= 6;
  if (isShort && Number(hours) === 0 && Number(minutes) === 0) {
    return `${day} ${clock}${fraction === '' ? '' : `.${fraction}`}`;
  }
  const second = Date.parse(`${day}T${clock}${hours}:${minutes}`);
  const rounded = isShort ? fraction : String(Math.round(Number(`0.${fraction}`) * 1e6)).padStart(6, '0');
  const isFull = rounded.length > 6;
  // The end of time of some clients is not rounded up, to a year that servers lack.
  const [whole, rest] = isFull
    ? second < lastSecond
      ? [second + 1000, '000000']
      : [second, '999999']
    : [second, rounded];
  const [date, time = ''] = new Date(whole).toISOString().split('T');
  return `${date} ${time.slice(0, 8)}${rest === '' ? '' : `.${rest}`}`;
}

const durationPattern =
  /^P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)W)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?$/;

/** An ISO 8601 duration as months, which differ in length, and microseconds. */
function durationOf(text: string): { readonly months: bigint; readonly microseconds: bigint } {
  const [, years, months, weeks, days, hours, minutes, seconds = '0'] = durationPattern.exec(text) ?? [];
  const number = (digits: string | undefined): bigint => BigInt(digits ?? '0');
  const wholeDays = number(weeks) * 7n + number(days);
  const wholeMinutes = (wholeDays * 24n + number(hours)) * 60n + number(minutes);
  return {
    months: number(years) * 12n + number(months),
    microseconds: wholeMinutes * 60_000_000n + BigInt(Math.round(Number(seconds) * 1e6)),
  };
}

/** The elements of an array literal as `arrayLiteral` writes it: one dimension, every element quoted or plain. */
function listOf(literal: string): readonly string[] {
  const items = literal.slice(1, -1).match(/"(?:[^"\\]|\\.)*"|[^,]+/gs) ?? [];
  return items.map((item) => (item.startsWith('"') ? item.slice(1, -1).replaceAll(/\\(.)/gs, '$1') : item));
}

/** Source of the value of a bind parameter in a request. */
export type Binder =
  | { readonly kind: 'fixed'; readonly value: string | null }
  /** `index` into the values that the request's shape left open; already encoded as text. */
  | { readonly kind: 'value'; readonly index: number }
  /** Lists of values side by side, as the JSON of their rows; without lists, so many rows as the value at `count` says. */
  | { readonly kind: 'rows'; readonly of: readonly ListedValues[]; readonly count?: number }
  /** A value of the caller, written as `type`; null when it is missing or no value of that type. */
  | { readonly kind: 'caller'; readonly of: 'user' | 'role'; readonly type: ValueType };

/** A list among the values, as the text of an array, of elements of a type. */
export interface ListedValues {
  readonly index: number;
  readonly native: string;
}
