/**
 * Expressions of generated code → text, laid out as the formatter would.
 *
 * What fits a line stays on it; what does not is broken one element per line, numbers as many as fit. Whether it fits is
 * measured before anything is printed, because most of what is asked does not.
 */
import { Call, Code, Kept, type Value } from './expression.ts';
import { lineWidth, literalWidth, propertyKey, stringLiteral, widthOf } from './text.ts';

/**
 * Prints an expression.
 *
 * @param before columns already taken on its first line
 * @param after columns that must still fit on its last line
 * @param indent columns before the line that holds it
 */
export function printValue(value: Value, before: number, after: number, indent: number): string {
  return roomAfter(value, lineWidth - before - after) >= 0 ? flat(value) : printOpen(value, indent);
}

/** The columns that are left of `room` when an expression stands on one line; negative where it does not fit, or never does. */
function roomAfter(value: Value, room: number): number {
  if (typeof value === 'string') return room - literalWidth(value);
  if (typeof value !== 'object' || value === null) return room - String(value).length;
  if (Array.isArray(value)) return opensAlways(value) ? -1 : roomAfterAll(value, room - 2);
  if (value instanceof Code) return room - widthOf(value.text);
  if (value instanceof Call) return roomAfterAll(value.of, room - value.name.length - 2);
  return roomAfterObject(value instanceof Kept ? value.value() : value, room);
}

/** With what separates them. */
function roomAfterAll(values: readonly Value[], room: number): number {
  let left = room + (values.length > 0 ? 2 : 0);
  for (const value of values) {
    left = roomAfter(value, left - 2);
    if (left < 0) return left;
  }
  return left;
}

function roomAfterObject(value: object, room: number): number {
  // `{ ` and ` }`, less the separator that the first property does not have.
  let left = room - 2;
  let isEmpty = true;
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue;
    isEmpty = false;
    left = roomAfter(item, left - 2 - widthOf(objectKey(key)) - 2);
    if (left < 0) return left;
  }
  return isEmpty ? room - 2 : left;
}

/** Several objects, or several arrays, of more than one element each stand one per line. */
function opensAlways(values: readonly Value[]): boolean {
  if (values.length < 2) return false;
  const [first] = values;
  if (typeof first !== 'object' || first === null) return false;
  return Array.isArray(first)
    ? values.every((value) => Array.isArray(value) && value.length > 1)
    : values.every((value) => value instanceof Kept || hasSeveralProperties(value));
}

function hasSeveralProperties(value: Value): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (value instanceof Code || value instanceof Call) return false;
  let count = 0;
  for (const item of Object.values(value)) if (item !== undefined) count += 1;
  return count > 1;
}

/** On one line. */
function flat(value: Value): string {
  if (typeof value === 'string') return stringLiteral(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${flatAll(value)}]`;
  if (value instanceof Code) return value.text;
  if (value instanceof Call) return `${value.name}(${flatAll(value.of)})`;
  return flatObject(value instanceof Kept ? value.value() : value);
}

function flatAll(values: readonly Value[]): string {
  let text = '';
  for (const value of values) text += text === '' ? flat(value) : `, ${flat(value)}`;
  return text;
}

function flatObject(value: object): string {
  let text = '';
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) text += `${text === '' ? '' : ', '}${objectKey(key)}: ${flat(item)}`;
  }
  return text === '' ? '{}' : `{ ${text} }`;
}

/** Prints an expression with every property or element on a line of its own. */
export function printOpen(value: Value, indent: number): string {
  if (typeof value !== 'object' || value === null || value instanceof Code) return flat(value);
  if (value instanceof Call) return `${value.name}(\n${elements(value.of, indent)}${' '.repeat(indent)})`;
  if (Array.isArray(value)) {
    return `[\n${isNumbers(value) ? filled(value, indent) : elements(value, indent)}${' '.repeat(indent)}]`;
  }
  const own = value instanceof Kept ? value.value() : value;
  const space = ' '.repeat(indent + 2);
  let text = '{\n';
  for (const [key, item] of Object.entries(own)) {
    if (item !== undefined) text += `${space}${property(key, item, indent + 2)},\n`;
  }
  return `${text}${' '.repeat(indent)}}`;
}

function elements(values: readonly Value[], indent: number): string {
  const space = ' '.repeat(indent + 2);
  let text = '';
  for (const value of values) text += `${space}${element(value, indent + 2)},\n`;
  return text;
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
  const tooLong = before + literalWidth(value) + 1 > lineWidth && widthOf(start) > 4;
  return `${start}:${tooLong ? `\n${' '.repeat(indent + 2)}` : ' '}${stringLiteral(value)}`;
}

/** In an object literal a bare `__proto__` would set the prototype; a computed one is a property like any other. */
function objectKey(key: string): string {
  return key === '__proto__' ? "['__proto__']" : propertyKey(key);
}

function isNumbers(values: readonly Value[]): values is readonly number[] {
  return values.length > 1 && values.every((value) => typeof value === 'number');
}

function filled(values: readonly number[], indent: number): string {
  const lines: string[] = [];
  for (const value of values) {
    const item = `${value},`;
    const last = lines.pop();
    if (last === undefined) lines.push(item);
    else if (indent + 2 + last.length + 1 + item.length <= lineWidth) lines.push(`${last} ${item}`);
    else lines.push(last, item);
  }
  return lines.map((line) => `${' '.repeat(indent + 2)}${line}\n`).join('');
}
