import {
  definitions,
  elementwise,
  flags,
  isOperator,
  listed,
  type Operator,
  operatorFits,
  operatorNamed,
  paired,
  ranged,
} from '../operators/index.ts';
import { isTextual } from '../types/index.ts';
import type { JsonValue } from '../values/parse-text.ts';
import { attributeType, decodeValue } from '../values/values.ts';
import type { Condition, Operand } from './condition.ts';
import { isPointer, kindOf, readPointer, readScalar } from './filter-json.ts';
import { comparedWith, readNeighbour, readOperand, readShape } from './filter-operand.ts';
import {
  all,
  below,
  type Compared,
  type Comparing,
  type Place,
  problem,
  type Reader,
  readList,
  refuse,
  valueProblem,
} from './filter-reader.ts';
import { isObject, listOf } from './filter-syntax.ts';
import { isDynamic, textOfDigits } from './operand.ts';

/** Reads what stands under a field: a value, which means `_eq`, or an object of operators. */
export function readComparisons(reader: Reader, compared: Compared, value: JsonValue, location: Place): Condition {
  if (!isObject(value)) return readComparison({ reader, compared, operator: '_eq', location }, value);
  const conditions = Object.entries(value).map(([key, inner]) => {
    const next = below(location, key);
    if (isOperator(key)) return readComparison({ reader, compared, operator: key, location: next }, inner);
    if (key === '_and' || key === '_or') {
      return readList(key, inner, next, (element, where) => readComparisons(reader, compared, element, where));
    }
    if (key === '_some' || key === '_none')
      return problem(reader, 'value', next.path, 'is for relations to many items');
    if (isPointer(key) && compared.type.type === 'composite') return readMember(reader, compared, key, inner, next);
    if (isPointer(key) && compared.type.type === 'json' && compared.members !== true)
      return readInside(reader, compared, key, inner, next);
    return problem(reader, 'name', next.path, 'does not exist');
  });
  return all(conditions);
}

/** Reads what stands under a path into JSON. */
function readInside(reader: Reader, compared: Compared, key: string, value: JsonValue, location: Place): Condition {
  const path = readPointer(key);
  if (path === undefined) return problem(reader, 'value', location.path, 'is not a JSON Pointer');
  return readComparisons(reader, { ...compared, path: [...(compared.path ?? []), ...path] }, value, location);
}

/** Reads what stands under a path to a member of a composite value: JSON and arrays in it can only be there or not. */
function readMember(reader: Reader, compared: Compared, key: string, value: JsonValue, location: Place): Condition {
  const path = readPointer(key);
  if (path === undefined) return problem(reader, 'value', location.path, 'is not a JSON Pointer');
  const [name = '', ...rest] = path;
  const attribute = compared.type.attributes?.find((candidate) => candidate.name === name);
  if (attribute === undefined) return problem(reader, 'value', location.path, 'is no member of the field');
  const found = attributeType(attribute);
  const isPlain = found.type !== 'json' && found.type !== 'array';
  const type = isPlain ? found : { type: 'unknown' as const, native: found.native };
  const member: Compared = { ...compared, path: [...(compared.path ?? []), name], members: true, type };
  if (rest.length === 0) return readComparisons(reader, member, value, location);
  if (found.type !== 'composite') return problem(reader, 'value', location.path, 'is no member of the field');
  return readMember(reader, member, `/${rest.map(escapeSegment).join('/')}`, value, location);
}

function escapeSegment(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1');
}

function readComparison(comparing: Comparing, written: JsonValue): Condition {
  const { reader, compared, operator, location } = comparing;
  if (!operatorFits(operator, compared.type, compared.path !== undefined && compared.members !== true)) {
    return refuse(comparing, 'is not defined for the type of this field');
  }
  if (flags.has(operator)) return readFlag(comparing, written);
  if (compared.type.type === 'geometry') return compare(compared, operator, readShape(comparing, written));
  if (compared.type.type === 'vector') {
    return compare(compared, operator, readNeighbour(reader, compared, written, location));
  }
  const value = readableValue(comparing, written);
  if (listed.has(operator)) return readListed(comparing, value);
  if (isNull(comparing, value)) return readNull(comparing);
  return compare(compared, operator, readOperand(comparing, value));
}

/** Text of a query string becomes the list or JSON that it is compared with; digits of a file of rules become text. */
function readableValue({ reader, compared, operator }: Comparing, value: JsonValue): JsonValue {
  const { text, digitsAsText } = reader;
  const { type } = compared;
  if (digitsAsText && isTextual(comparedWith(compared, operator).type)) {
    return Array.isArray(value) ? value.map(textOfDigits) : textOfDigits(value);
  }
  if (!text || isDynamic(value)) return value;
  if (type.type === 'array' && !elementwise.has(operator)) {
    return typeof value === 'string' && value !== 'null' ? splitList(value) : value;
  }
  if (type.type !== 'json') return value;
  const list = listed.has(operator) ? elementsOf(value) : undefined;
  if (list !== undefined) return list.map((element) => (typeof element === 'string' ? readScalar(element) : element));
  return typeof value === 'string' ? readScalar(value) : value;
}

function compare(compared: Compared, operator: Operator, operand: Operand): Condition {
  const call = compared.function === undefined ? {} : { function: compared.function };
  const members = compared.members && ({ members: true } as const);
  const path =
    compared.path === undefined ? {} : { path: { kind: 'literal', value: compared.path, ...members } as const };
  return { kind: 'compare', field: compared.field, ...call, ...path, operator, operand };
}

/** In a query string the four letters mean null, except where the field holds text. */
function isNull({ reader, compared, operator }: Comparing, value: JsonValue): boolean {
  const letters = isJson(compared) || isTextual(comparedWith(compared, operator).type);
  return value === null || (reader.text && value === 'null' && !letters);
}

function isJson({ type }: Compared): boolean {
  return type.type === 'json';
}

const truth: Operand = { kind: 'literal', value: true };

function readNull(comparing: Comparing): Condition {
  if (comparing.operator === '_eq') return compare(comparing.compared, '_null', truth);
  if (comparing.operator === '_neq') return compare(comparing.compared, '_nnull', truth);
  return refuse(comparing, 'does not take null');
}

function readFlag({ reader, compared, operator, location }: Comparing, value: JsonValue): Condition {
  const decoded = value === '' ? ({ ok: true, value: 'true' } as const) : decodeValue({ type: 'boolean' }, value);
  if (!decoded.ok || decoded.value === null) return valueProblem(reader, location.path, 'must be true or false', value);
  return compare(compared, decoded.value === 'true' ? operator : operatorNamed(definitions[operator].otherwise), truth);
}

function readListed(comparing: Comparing, value: JsonValue): Condition {
  const { reader, compared, operator } = comparing;
  // A value of the caller may be a list; the time is one value, as a text without commas is.
  if (isDynamic(value) && !value.startsWith('$NOW') && (operator === '_in' || operator === '_nin')) {
    return compare(compared, operator, readOperand(comparing, value));
  }
  const elements = elementsOf(value);
  if (elements === undefined) return refuse(comparing, 'must be a list');
  if (paired.has(operator) && elements.length !== 2) return refuse(comparing, 'must have exactly two values');
  if (ranged.has(operator)) return readRange(comparing, elements);
  if (elements.some((element) => isNull(comparing, element))) return refuse(comparing, 'does not take null');
  if (isJson(compared) && !elementwise.has(operator) && new Set(elements.map(kindOf)).size > 1) {
    return refuse(comparing, 'must have values of one kind');
  }
  const operands = elements.map((element) => readOperand(comparing, element));
  return operands.every((operand) => operand.kind === 'literal')
    ? compare(compared, operator, listOperand(reader, elements))
    : spread(compared, operator, operands);
}

function listOperand(reader: Reader, value: readonly JsonValue[]): Operand {
  return { kind: 'literal', value, ...(reader.text && { text: true as const }) };
}

function elementsOf(value: JsonValue): readonly JsonValue[] | undefined {
  return typeof value === 'string' ? splitList(value) : listOf(value);
}

/** The ends of a range; in a query string the empty text is none, as null is. */
function readRange(comparing: Comparing, elements: readonly JsonValue[]): Condition {
  const { reader, compared, operator } = comparing;
  const ends = elements.map((end) => (end === null || (reader.text && (end === '' || end === 'null')) ? null : end));
  for (const end of ends) {
    if (isDynamic(end)) return refuse(comparing, 'takes no dynamic values');
    if (end !== null) readOperand(comparing, end);
  }
  return compare(compared, operator, listOperand(reader, ends));
}

function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

/** Writes a list that holds dynamic values as single comparisons. */
function spread(compared: Compared, operator: Operator, operands: readonly Operand[]): Condition {
  const [kind, each, second = each] = definitions[operator].spread ?? ['and', '_eq'];
  const operatorFor = (operand: Operand, index: number): Operator => {
    // Where a path leads to many values, each of them is an element.
    const path = operand.kind === 'caller' && operand.path.length > 0;
    if (path && (operator === '_in' || operator === '_nin')) return operator;
    return operatorNamed(index === 0 ? each : second);
  };
  return { kind, of: operands.map((operand, index) => compare(compared, operatorFor(operand, index), operand)) };
}
