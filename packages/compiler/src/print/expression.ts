/** Expressions of generated code: plain data, identifiers and calls. */
import { findOrCreate } from '@tablewright/runtime/language';
import { fitsLine, lineWidth, literalWidth, propertyKey, stringLiteral, widthOf } from './text.ts';

/**
 * An expression to print: plain data, in which `code`, `call` and what `createKept` gives may stand anywhere. Properties
 * keep their order; undefined ones are left out.
 */
export type Value = string | number | boolean | null | undefined | object;

type Data = Readonly<Record<string, Value>>;

/** Values that are no plain data: made by `code`, `call`, or `createKept`. */
abstract class Expression {}

/** Text of our own making. */
class Code extends Expression {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }
}

class Call extends Expression {
  readonly name: string;
  readonly of: readonly Value[];

  constructor(name: string, parameters: readonly Value[]) {
    super();
    this.name = name;
    this.of = parameters;
  }
}

/** An object of several properties, whose text on lines of its own is printed once. */
class Kept extends Expression {
  readonly value: () => object;
  readonly texts: Map<number, string>;

  constructor(value: () => object, texts: Map<number, string>) {
    super();
    this.value = value;
    this.texts = texts;
  }
}

/** An identifier or other code of our own making. */
export function code(text: string): Value {
  return new Code(text);
}

export function call(name: string, ...parameters: readonly Value[]): Value {
  return new Call(name, parameters);
}

export type MakeCall = typeof call;

/** Uses of the runtime in one file. */
export interface Calls {
  /** Names that the file imports. */
  readonly used: ReadonlySet<string>;
  readonly call: MakeCall;
  constant(name: string): Value;
}

/** Makes calls, and takes down the functions and constants that are used. */
export function createCalls(): Calls {
  const used = new Set<string>();
  return {
    used,
    call(name, ...parameters) {
      used.add(name);
      return call(name, ...parameters);
    },
    constant(name) {
      used.add(name);
      return code(name);
    },
  };
}

/** True if it is an object of data, whose properties stand for themselves. */
function isData(value: object): value is Data {
  return !(value instanceof Expression) && !Array.isArray(value);
}

/** Gives objects of data an expression each, which always has several properties, and keeps what is printed of it with them. */
export function createKept<Data extends object>(create: (data: Data) => object): (data: Data) => Value {
  const texts = new WeakMap<Data, Map<number, string>>();
  return (source) => {
    const kept = findOrCreate(texts, source, () => new Map<number, string>());
    return new Kept(() => create(source), kept);
  };
}

/**
 * Prints an expression.
 *
 * Expressions of generated code → text, laid out as the formatter would. An expression that fits a line stays on it;
 * others are broken one element per line, numbers as many as fit. Fitting is measured before printing, because most
 * expressions do not fit.
 *
 * @param before columns already taken on its first line
 * @param after columns that must still fit on its last line
 * @param indent columns before the line that holds it
 */
export function printValue(value: Value, before: number, after: number, indent: number): string {
  return roomAfter(value, lineWidth - before - after) >= 0
    ? flat(value)
    : value instanceof Call
      ? openCall(value, before, indent)
      : printOpen(value, indent);
}

/** The columns that are left of `room` when an expression stands on one line; negative where it does not fit, or never does. */
function roomAfter(value: Value, room: number): number {
  if (typeof value === 'string') return room - literalWidth(value);
  if (typeof value !== 'object' || value === null) return room - String(value).length;
  if (isData(value)) return roomAfterObject(value, room);
  if (Array.isArray(value)) return opensAlways(value) ? -1 : roomAfterAll(value, room - 2);
  if (value instanceof Code) return room - widthOf(value.text);
  return value instanceof Call
    ? roomAfterAll(value.of, room - value.name.length - 2)
    : roomAfter(keptValue(value), room);
}

/** With what separates them. */
function roomAfterAll(values: readonly Value[], room: number): number {
  let left = values.length > 0 ? room + 2 : room;
  for (let index = 0; index < values.length && left >= 0; index += 1) left = roomAfter(values[index], left - 2);
  return left;
}

function roomAfterObject(value: Data, room: number): number {
  // `{ ` and ` }`, less the separator that the first property does not have.
  let left = room - 2;
  let isEmpty = true;
  for (const key in value) {
    if (value[key] === undefined) continue;
    isEmpty = false;
    left = roomAfter(value[key], left - 2 - widthOf(objectKey(key)) - 2);
    if (left < 0) return left;
  }
  return isEmpty ? room - 2 : left;
}

/** Several objects, or several arrays, of more than one element each stand one per line. */
function opensAlways(values: readonly Value[]): boolean {
  const first = values[0];
  if (values.length < 2 || typeof first !== 'object' || first === null) return false;
  return Array.isArray(first)
    ? values.every((value) => Array.isArray(value) && value.length > 1)
    : values.every((value) => value instanceof Kept || hasManyProperties(value));
}

function hasManyProperties(value: Value): boolean {
  if (typeof value !== 'object' || value === null || !isData(value)) return false;
  let count = 0;
  for (const key in value) if (value[key] !== undefined) count += 1;
  return count > 1;
}

function flat(value: Value): string {
  if (typeof value === 'string') return stringLiteral(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (isData(value)) return flatObject(value);
  if (Array.isArray(value)) return `[${value.map(flat).join(', ')}]`;
  if (value instanceof Code) return value.text;
  return value instanceof Call ? `${value.name}(${value.of.map(flat).join(', ')})` : flat(keptValue(value));
}

function flatObject(value: Data): string {
  let text = '';
  for (const key in value) {
    if (value[key] !== undefined) text += `${text === '' ? '{ ' : ', '}${objectKey(key)}: ${flat(value[key])}`;
  }
  return text === '' ? '{}' : `${text} }`;
}

/** Prints an expression with every property or element on a line of its own. */
export function printOpen(value: Value, indent: number): string {
  if (typeof value !== 'object' || value === null || value instanceof Code) return flat(value);
  if (isData(value)) return block('{', properties(value, indent + 2), '}', indent);
  if (value instanceof Call) return openCall(value, indent, indent);
  if (!Array.isArray(value)) return printOpen(keptValue(value), indent);
  return isNumbers(value) ? completed(value, indent) : block('[', elements(value, indent + 2), ']', indent);
}

/** A list or object at the end of a call opens alone, if what comes before it fits the line. */
function openCall({ name, of: parameters }: Call, before: number, indent: number): string {
  const last = parameters.at(-1);
  const others = parameters.slice(0, -1);
  const start = `${name}(${others.map((value) => `${flat(value)}, `).join('')}`;
  const isOpen = typeof last === 'object' && last !== null && (Array.isArray(last) || isData(last));
  return isOpen && before + widthOf(start) < lineWidth
    ? `${start}${printOpen(last, indent)})`
    : block(`${name}(`, elements(parameters, indent + 2), ')', indent);
}

function keptValue(value: object): Value {
  return value instanceof Kept ? value.value() : null;
}

/** The text is made at once, because much of it is kept: one of many parts would be kept with all of them. */
function block(open: string, lines: readonly string[], close: string, indent: number): string {
  const space = ' '.repeat(indent);
  return lines.length === 0
    ? `${open}\n${space}${close}`
    : `${open}\n  ${space}${lines.join(`,\n  ${space}`)},\n${space}${close}`;
}

function properties(value: Data, indent: number): readonly string[] {
  const lines: string[] = [];
  for (const key in value) if (value[key] !== undefined) lines.push(property(key, value[key], indent));
  return lines;
}

function elements(values: readonly Value[], indent: number): readonly string[] {
  return values.map((value) => element(value, indent));
}

function element(value: Value, indent: number): string {
  if (!(value instanceof Kept)) return printValue(value, indent, 1, indent);
  const text = value.texts.get(indent) ?? printValue(value.value(), indent, 1, indent);
  value.texts.set(indent, text);
  return text;
}

/** A string too long for its line moves to the next one, unless its key is so short that nothing is won. */
function property(key: string, value: Value, indent: number): string {
  const start = objectKey(key);
  const before = indent + widthOf(start) + 2;
  if (typeof value !== 'string') return `${start}: ${printValue(value, before, 1, indent)}`;
  const text = stringLiteral(value);
  const isMoved = widthOf(start) > 4 && !fitsLine(before + 1, text);
  return isMoved ? `${start}:\n${' '.repeat(indent + 2)}${text}` : `${start}: ${text}`;
}

/** In an object literal a bare `__proto__` would set the prototype; a computed one is a property like any other. */
function objectKey(key: string): string {
  return key === '__proto__' ? "['__proto__']" : propertyKey(key);
}

function isNumbers(values: readonly Value[]): values is readonly number[] {
  return values.length > 1 && values.every((value) => typeof value === 'number');
}

function completed(values: readonly number[], indent: number): string {
  const lines: string[] = [];
  for (const value of values) {
    const item = `${value},`;
    const last = lines.pop();
    if (last === undefined) lines.push(item);
    else if (indent + 2 + last.length + 1 + item.length <= lineWidth) lines.push(`${last} ${item}`);
    else lines.push(last, item);
  }
  return `[\n${lines.map((line) => `${' '.repeat(indent + 2)}${line}\n`).join('')}${' '.repeat(indent)}]`;
}
