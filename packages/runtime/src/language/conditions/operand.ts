import { type JsonValue, parseExactly } from '../values/parse-text.ts';
import type { Operand } from './condition.ts';

type LiteralOperand = Extract<Operand, { kind: 'literal' }>;

/** An operand, or why the text that looks like a dynamic value is none. */
type ParsedOperand =
  | { readonly ok: true; readonly operand: Operand }
  | { readonly ok: false; readonly message: string };

interface Unit {
  readonly names: readonly string[];
  /** Writes the ISO 8601 duration of `amount` units. */
  readonly print: (amount: number) => string;
  /** Length in days, for the range check. */
  readonly days: number;
}

const units: readonly Unit[] = [
  { names: ['ms', 'millisecond', 'milliseconds'], print: (n) => `PT${thousandths(n)}S`, days: 1 / 86_400_000 },
  { names: ['s', 'sec', 'secs', 'second', 'seconds'], print: (n) => `PT${n}S`, days: 1 / 86_400 },
  { names: ['m', 'min', 'mins', 'minute', 'minutes'], print: (n) => `PT${n}M`, days: 1 / 1440 },
  { names: ['h', 'hr', 'hrs', 'hour', 'hours'], print: (n) => `PT${n}H`, days: 1 / 24 },
  { names: ['d', 'day', 'days'], print: (n) => `P${n}D`, days: 1 },
  { names: ['w', 'week', 'weeks'], print: (n) => `P${n}W`, days: 7 },
  { names: ['mo', 'month', 'months'], print: (n) => `P${n}M`, days: 31 },
  { names: ['y', 'yr', 'yrs', 'year', 'years'], print: (n) => `P${n}Y`, days: 366 },
];

/** Offsets beyond 4,000 years are refused: the result must stay within what every date type holds. */
const longestOffset = 4_000 * 366;

function thousandths(amount: number): string {
  const size = Math.abs(amount);
  return `${amount < 0 ? '-' : ''}${Math.floor(size / 1000)}.${String(size % 1000).padStart(3, '0')}`;
}

function parseOffset(text: string): string | undefined {
  // A plus sign in a query string arrives as a space, so a leading space means the same as no sign.
  const match = /^\s*([+-]?)\s*(\d{1,9})\s*([a-z]*)\s*$/i.exec(text);
  if (match === null) return undefined;
  const [, sign, digits, name = ''] = match;
  const unit = units.find((candidate) => candidate.names.includes(name === '' ? 'd' : name.toLowerCase()));
  const amount = Number(digits) * (sign === '-' ? -1 : 1);
  return unit === undefined || Math.abs(amount) * unit.days > longestOffset ? undefined : unit.print(amount);
}

function parseNow(text: string): ParsedOperand {
  if (text === '$NOW') return { ok: true, operand: { kind: 'now', offset: 'P0D' } };
  const offset = text.endsWith(')') ? parseOffset(text.slice('$NOW('.length, -1)) : undefined;
  if (offset === undefined) return { ok: false, message: 'must be $NOW or $NOW(<sign><number> <unit>)' };
  return { ok: true, operand: { kind: 'now', offset } };
}

function parseCaller(subject: 'user' | 'role', rest: string): ParsedOperand {
  const path = rest === '' ? [] : rest.slice(1).split('.');
  if (path.includes('')) return { ok: false, message: 'names no field after the dot' };
  return { ok: true, operand: { kind: 'caller', of: subject, path } };
}

/** True if a value is written as a dynamic value (API specification, section 5.3). Text such as `$100` is not. */
export function isDynamic(value: JsonValue): value is string {
  return typeof value === 'string' && /^\$(?:NOW(?:$|\()|CURRENT_(?:USER|ROLE)(?:$|\.))/.test(value);
}

/** Number of names that follow `$CURRENT_USER` or `$CURRENT_ROLE`; 0 for every other value. */
export function pathLength(value: JsonValue): number {
  return isDynamic(value) && !value.startsWith('$NOW') ? value.split('.').length - 1 : 0;
}

/** Reads a right-hand side: a dynamic value, or a literal as written. `text`: it comes from a query string. */
export function parseOperand(value: JsonValue, text = false): ParsedOperand {
  if (!isDynamic(value)) return { ok: true, operand: { kind: 'literal', value, ...(text && { text: true as const }) } };
  if (value.startsWith('$NOW')) return parseNow(value);
  const subject = value.startsWith('$CURRENT_USER') ? 'user' : 'role';
  return parseCaller(subject, value.slice('$CURRENT_USER'.length));
}

/** A whole number as its text; any other value as it is. */
export function textOfDigits(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  return typeof value !== 'string' && /^-?\d+$/.test(text) ? text : value;
}

/** The value of a literal operand, its numbers with all their digits. */
export function literalValue({ value, json }: LiteralOperand): JsonValue {
  return json === true && typeof value === 'string' ? parseExactly(value) : value;
}
