/**
 * Expressions of generated code: plain data, identifiers and calls, laid out as the formatter would.
 *
 * What fits a line stays on it; what does not is broken one element per line, numbers as many as fit.
 */
import { lineWidth, propertyKey, stringLiteral, widthOf } from './text.ts';

/** An expression to print. `code` is text of our own making: an identifier or a number. */
export type Value =
  | { readonly kind: 'string'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'array'; readonly of: readonly Value[] }
  | { readonly kind: 'object'; readonly entries: readonly Entry[] }
  | { readonly kind: 'call'; readonly name: string; readonly of: readonly Value[] }
  /** An object of several properties, whose text on lines of its own is printed once. */
  | { readonly kind: 'kept'; readonly value: () => Value; readonly texts: Map<number, string> };

/** A property of an object. */
export interface Entry {
  readonly key: string;
  readonly value: Value;
}

/** An identifier or other code of our own making. */
export function code(text: string): Value {
  return { kind: 'code', text };
}

/** A call of a function of the runtime. */
export function call(name: string, ...of: readonly Value[]): Value {
  return { kind: 'call', name, of };
}

/** An array of expressions. */
export function array(of: readonly Value[]): Value {
  return { kind: 'array', of };
}

/** An object of expressions; absent ones are left out. */
export function object(entries: readonly (readonly [string, Value | undefined])[]): Value {
  return {
    kind: 'object',
    entries: entries.flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }])),
  };
}

/** Gives objects of data an expression each, which always has several properties, and keeps what is printed of it with them. */
export function createKept<Data extends object>(make: (data: Data) => Value): (data: Data) => Value {
  const texts = new WeakMap<Data, Map<number, string>>();
  return (of) => {
    const own = texts.get(of) ?? new Map<number, string>();
    texts.set(of, own);
    return { kind: 'kept', value: () => make(of), texts: own };
  };
}

/** Plain data as an expression. Properties keep their order; undefined ones are left out. */
export function data(value: unknown): Value {
  if (typeof value === 'string') return { kind: 'string', text: value };
  if (Array.isArray(value)) return array(value.map(data));
  if (typeof value !== 'object' || value === null) return code(String(value));
  return object(Object.entries(value).map(([key, item]) => [key, item === undefined ? undefined : data(item)]));
}

/**
 * Prints an expression.
 *
 * @param before columns already taken on its first line
 * @param after columns that must still fit on its last line
 * @param indent columns before the line that holds it
 */
export function printValue(value: Value, before: number, after: number, indent: number): string {
  const line = flat(value);
  return line !== null && before + widthOf(line) + after <= lineWidth ? line : broken(value, indent);
}

/** Prints an object with every property on a line of its own. */
export function printOpen(value: Value, indent: number): string {
  return broken(value, indent);
}

/** On one line, or null where the formatter never leaves it on one. */
function flat(value: Value): string | null {
  switch (value.kind) {
    case 'string':
      return stringLiteral(value.text);
    case 'code':
      return value.text;
    case 'call':
      return flatList(`${value.name}(`, value.of, ')');
    case 'array':
      return opensAlways(value.of) ? null : flatList('[', value.of, ']');
    case 'object':
      return flatObject(value.entries);
    case 'kept':
      return flat(value.value());
  }
}

function flatList(open: string, values: readonly Value[], close: string): string | null {
  const lines = flatLines(values);
  return lines === null ? null : `${open}${lines.join(', ')}${close}`;
}

/** Each on one line; null where one is never, and where they are too long for one together. */
function flatLines(values: readonly Value[]): readonly string[] | null {
  const lines: string[] = [];
  let width = 0;
  for (const value of values) {
    const line = flat(value);
    if (line === null) return null;
    width += widthOf(line);
    if (width > lineWidth) return null;
    lines.push(line);
  }
  return lines;
}

function flatObject(entries: readonly Entry[]): string | null {
  if (entries.length === 0) return '{}';
  const lines = flatLines(entries.map(({ value }) => value));
  if (lines === null) return null;
  return `{ ${lines.map((line, at) => `${objectKey(entries[at]?.key ?? '')}: ${line}`).join(', ')} }`;
}

/** Several objects, or several arrays, of more than one element each stand one per line. */
function opensAlways(values: readonly Value[]): boolean {
  if (values.length < 2) return false;
  return (
    values.every((value) => value.kind === 'kept' || (value.kind === 'object' && value.entries.length > 1)) ||
    values.every((value) => value.kind === 'array' && value.of.length > 1)
  );
}

function broken(value: Value, indent: number): string {
  switch (value.kind) {
    case 'string':
      return stringLiteral(value.text);
    case 'code':
      return value.text;
    case 'call':
      return block(`${value.name}(`, elements(value.of, indent), ')', indent);
    case 'array':
      return isNumbers(value.of) ? filled(value.of, indent) : block('[', elements(value.of, indent), ']', indent);
    case 'object':
      return block(
        '{',
        value.entries.map((entry) => property(entry, indent + 2)),
        '}',
        indent,
      );
    case 'kept':
      return broken(value.value(), indent);
  }
}

function block(open: string, lines: readonly string[], close: string, indent: number): string {
  const inner = lines.map((line) => `${' '.repeat(indent + 2)}${line},\n`).join('');
  return `${open}\n${inner}${' '.repeat(indent)}${close}`;
}

function elements(values: readonly Value[], indent: number): readonly string[] {
  return values.map((value) => {
    if (value.kind !== 'kept') return printValue(value, indent + 2, 1, indent + 2);
    const text = value.texts.get(indent) ?? printValue(value.value(), indent + 2, 1, indent + 2);
    value.texts.set(indent, text);
    return text;
  });
}

/** A string too long for its line moves to the next one, unless its key is so short that nothing is won. */
function property({ key, value }: Entry, indent: number): string {
  const start = `${objectKey(key)}: `;
  const line = printValue(value, indent + widthOf(start), 1, indent);
  const tooLong = value.kind === 'string' && indent + widthOf(start) + widthOf(line) + 1 > lineWidth;
  return tooLong && widthOf(start) - 2 > 4 ? `${start.trimEnd()}\n${' '.repeat(indent + 2)}${line}` : `${start}${line}`;
}

/** In an object literal a bare `__proto__` would set the prototype; a computed one is a property like any other. */
function objectKey(key: string): string {
  return key === '__proto__' ? "['__proto__']" : propertyKey(key);
}

function isNumbers(values: readonly Value[]): boolean {
  return values.length > 1 && values.every((value) => value.kind === 'code' && /^-?\d/.test(value.text));
}

function filled(values: readonly Value[], indent: number): string {
  const lines: string[] = [];
  for (const value of values) {
    const item = `${flat(value)},`;
    const last = lines.pop();
    if (last === undefined) lines.push(item);
    else if (indent + 2 + last.length + 1 + item.length <= lineWidth) lines.push(`${last} ${item}`);
    else lines.push(last, item);
  }
  return `[\n${lines.map((line) => `${' '.repeat(indent + 2)}${line}\n`).join('')}${' '.repeat(indent)}]`;
}
