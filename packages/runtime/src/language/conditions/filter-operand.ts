import { definitions, elementwise, type Operator, operandForm, ranged } from '../operators/index.ts';
import { vectorMetrics } from '../types/definition.ts';
import { boxAround, decodeBox, decodePosition } from '../types/geometry.ts';
import { types } from '../types/index.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';
import { decodeValue, elementOf } from '../values/values.ts';
import { areComparable, type CallerOperand, followCallerPath } from './caller-path.ts';
import type { Condition, Operand } from './condition.ts';
import { jsonOperatorFits, jsonTypes, kindOf } from './filter-json.ts';
import {
  type Compared,
  type Comparing,
  type Place,
  problem,
  type Reader,
  refuse,
  valueProblem,
} from './filter-reader.ts';
import { isObject, listOf } from './filter-syntax.ts';
import { isDynamic, parseOperand } from './operand.ts';

/** Reads one right-hand side and notes where it does not fit what it is compared with. */
export function readOperand(comparing: Comparing, value: JsonValue): Operand {
  const parsed = parseOperand(value, comparing.reader.text);
  if (!parsed.ok) {
    valueProblem(comparing.reader, comparing.location.path, parsed.message, value);
    return { kind: 'literal', value: true };
  }
  const { operand } = parsed;
  if (operand.kind === 'caller') checkCaller(comparing, operand);
  else checkValue(comparing, operand);
  return operand;
}

type Value = Exclude<Operand, CallerOperand>;

function checkValue(comparing: Comparing, operand: Value): void {
  const message = misfit(comparing, operand);
  if (message === undefined) return;
  if (operand.kind === 'now') refuse(comparing, message);
  else valueProblem(comparing.reader, comparing.location.path, message, operand.value);
}

/** Says why an operand does not fit the compared type; undefined when it does. */
function misfit({ compared, operator }: Comparing, operand: Value): string | undefined {
  const type = comparedWith(compared, operator);
  if (operand.kind === 'now')
    return types[type.type].isMoment === true ? undefined : 'compares a time with another type';
  if (compared.type.type === 'json') return misfitJson(compared, operator, operand.value);
  // A part of a label is looked for, so it need not be one; enums have no such operators.
  const decoded = decodeValue(type, operand.value);
  if (!decoded.ok) return decoded.message;
  return operator === '_regex' && !isPattern(operand.value) ? 'is not a regular expression' : undefined;
}

function checkCaller(comparing: Comparing, operand: CallerOperand): void {
  if (comparing.operator === '_regex') refuse(comparing, 'takes a pattern, not a value of the caller');
  else if (operand.path.length > 0) checkCallerPath(comparing, operand);
  else if (comparing.compared.function !== undefined) refuse(comparing, 'compares a key with a number');
}

function checkCallerPath(comparing: Comparing, operand: CallerOperand): void {
  const { reader, compared, operator, location } = comparing;
  const found = followCallerPath(reader.callers, operand);
  if ('stage' in found) {
    reader.problems.push({ ...found, path: location.path });
  } else if (!areComparable(compared.type, found.type)) {
    refuse(comparing, `compares a field of type "${compared.type.type}" with "${found.type.type}"`);
  } else if (found.many && operator !== '_in' && operator !== '_nin') {
    refuse(comparing, 'compares with a list of values, which only _in and _nin take');
  }
}

/** The type of one value beside an operator: that of the field, or of its elements. */
export function comparedWith({ type }: Compared, operator: Operator): ValueType {
  return elementwise.has(operator) || ranged.has(operator) ? (elementOf(type) ?? type) : type;
}

function misfitJson({ path }: Compared, operator: Operator, value: JsonValue): string | undefined {
  const kind = kindOf(value);
  if (kind === undefined) return 'must be text, a number, true or false';
  const decoded = decodeValue(jsonTypes[kind], value);
  if (!decoded.ok) return decoded.message;
  return path === undefined || elementwise.has(operator) || jsonOperatorFits(operator, kind)
    ? undefined
    : 'is of a kind that the operator does not compare';
}

function isPattern(value: JsonValue): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

/** Reads what a geometry is compared with, and notes misfits: the shape as GeoJSON, and for `_near` the distance. */
export function readShape({ reader, compared, operator, location }: Comparing, value: JsonValue): Operand {
  const { type } = compared;
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
    const bounded = type.geometry?.bounded;
    const box = bounded && boxAround(shape.value ?? '', distance, plane, bounded === 'bent');
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
