import { definitions, type Operator, operandForm } from '../operators/index.ts';
import { vectorMetrics } from '../types/definition.ts';
import { boxAround, decodeBox, decodePosition } from '../types/geometry.ts';
import type { JsonValue } from '../values/parse-text.ts';
import { decodeValue } from '../values/values.ts';
import type { Condition, Operand } from './condition.ts';
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
function parsed(reader: Reader, value: JsonValue): JsonValue {
  if (!reader.text || typeof value !== 'string' || !/^[{[]/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** In a query string numbers are texts, and a list may be one text with commas. */
function numbersIn(reader: Reader, value: JsonValue): JsonValue {
  const list = reader.text && typeof value === 'string' ? value.split(',') : listOf(value);
  return list?.map((element) => numberIn(reader, element) ?? null) ?? value;
}

function numberIn({ text }: Reader, value: JsonValue): number | undefined {
  const number = text && typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Reads the vector of a `_near`: a list of its text, the metric and, where there is one, the greatest distance. */
export function readNeighbour(reader: Reader, { type }: Compared, value: JsonValue, location: Place): Operand {
  const refuse = (message: string): Operand => {
    problem(reader, 'value', location.path, message);
    return { kind: 'literal', value: [] };
  };
  if (isDynamic(value)) return refuse('takes no dynamic values');
  const read = parsed(reader, value);
  if (!isObject(read)) return refuse('must be an object with "to"');
  const { metrics = vectorMetrics, metric: usual = 'cosine' } = type.vector ?? {};
  const { to = null, metric: written = usual, within = null, ...others } = read;
  if (Object.keys(others).length > 0) return refuse('must be an object with "to", "metric" and "within"');
  const metric = metrics.find((name) => name === written);
  if (metric === undefined) return refuse(`must have one of the metrics ${metrics.join(', ')}`);
  const numbers = numbersIn(reader, parsed(reader, to));
  const vector = decodeValue(type, numbers);
  if (!vector.ok) return refuse(`has "to", which ${vector.message}`);
  const isZero = Array.isArray(numbers) && numbers.every((number: JsonValue) => number === 0);
  if (metric === 'cosine' && isZero) return refuse('must have "to" with a direction');
  if (within === null) return { kind: 'literal', value: [vector.value, metric] };
  const distance = numberIn(reader, within);
  if (distance === undefined || (distance < 0 && metric !== 'inner'))
    return refuse('must have "within", which is a distance');
  return { kind: 'literal', value: [vector.value, metric, distance] };
}

/** Vectors that a condition on rows only orders by: those of a `_near` without a distance. */
export function neighboursIn(condition: Condition): readonly Extract<Condition, { kind: 'compare' }>[] {
  if (condition.kind === 'and' || condition.kind === 'or') return condition.of.flatMap(neighboursIn);
  return condition.kind === 'compare' && isUnbounded(condition) ? [condition] : [];
}

/** True for a `_near` of a vector that has no distance. */
function isUnbounded({ operator, operand }: Extract<Condition, { kind: 'compare' }>): boolean {
  if (operator !== '_near' || operand.kind !== 'literal' || !Array.isArray(operand.value)) return false;
  return operand.value.length === 2 && typeof operand.value[1] === 'string';
}
