import { definitions, type Operator, operandForm } from '../operators/index.ts';
import { boxAround, decodeBox, decodePosition } from '../types/geometry.ts';
import type { JsonValue } from '../values/json.ts';
import { decodeValue } from '../values/values.ts';
import type { Operand } from './condition.ts';
import { type Compared, type Place, problem, type Reader } from './filter-reader.ts';
import { isObject, listOf } from './filter-syntax.ts';
import { isDynamic } from './operand.ts';

/**
 * Reads what a geometry is compared with, and notes where it is none. The operand is a list: the shape as GeoJSON, and
 * for `_near` the distance.
 */
export function readShape(
  reader: Reader,
  { type }: Compared,
  operator: Operator,
  value: JsonValue,
  location: Place,
): Operand {
  const refuse = (message: string): Operand => {
    problem(reader, 'value', location.path, message);
    return { kind: 'literal', value: [] };
  };
  if (value === null) return refuse('does not take null');
  if (isDynamic(value)) return refuse('takes no dynamic values');
  const plane = type.geometry?.form === 'plane';
  const form = operandForm(definitions[operator], 'geometry');
  const read = parsed(reader, value);
  if (form === 'near') {
    if (!isObject(read)) return refuse('must be an object with "to" and "within"');
    const { to = null, within = null, ...others } = read;
    const distance = numberIn(reader, within);
    if (Object.keys(others).length > 0 || distance === undefined || distance < 0)
      return refuse('must be an object with "to" and "within", which is a distance');
    const shape = isObject(to) ? decodeValue(type, to) : decodePosition(numbersIn(reader, to), plane);
    if (!shape.ok) return refuse(shape.message);
    const box = type.geometry?.bounded && boxAround(shape.value ?? '', distance, plane);
    return { kind: 'literal', value: box === undefined ? [shape.value, distance] : [shape.value, distance, box] };
  }
  const box = form === 'box' && !isObject(read);
  const shape = box ? decodeBox(numbersIn(reader, read), plane) : decodeValue(type, read);
  return shape.ok ? { kind: 'literal', value: [shape.value] } : refuse(shape.message);
}

/** In a query string an object may be the text of one. */
export function parsed(reader: Reader, value: JsonValue): JsonValue {
  if (!reader.text || typeof value !== 'string' || !/^[{[]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** In a query string numbers are texts, and a list may be one text with commas. */
export function numbersIn(reader: Reader, value: JsonValue): JsonValue {
  const list = reader.text && typeof value === 'string' ? value.split(',') : listOf(value);
  return list?.map((element) => numberIn(reader, element) ?? null) ?? value;
}

export function numberIn({ text }: Reader, value: JsonValue): number | undefined {
  const number = text && typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
