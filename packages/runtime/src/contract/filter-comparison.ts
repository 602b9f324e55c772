import { areComparable, type CallerOperand, followCallerPath } from './caller-path.ts';
import type { Condition, Operand, Operator } from './condition.ts';
import { all, below, type Compared, type Place, problem, type Reader, readList } from './filter-reader.ts';
import { isObject, listOf } from './filter-syntax.ts';
import { isDynamic, parseOperand } from './operand.ts';
import { flags, isOperator, isTextual, listed, operatorFits } from './operators.ts';
import type { JsonValue, PortableType } from './types.ts';
import { decodeValue } from './values.ts';

/** Reads what stands under a field: a value, which means `_eq`, or an object of operators. */
export function readComparisons(reader: Reader, compared: Compared, value: JsonValue, place: Place): Condition {
  if (!isObject(value)) return readComparison(reader, compared, '_eq', value, place);
  const conditions = Object.entries(value).map(([key, inner]) => {
    const at = below(place, key);
    if (isOperator(key)) return readComparison(reader, compared, key, inner, at);
    if (key === '_and' || key === '_or') {
      return readList(key, inner, at, (element, where) => readComparisons(reader, compared, element, where));
    }
    if (key === '_some' || key === '_none') return problem(reader, 'value', at.path, 'is for relations to many items');
    return problem(reader, 'name', at.path, 'does not exist');
  });
  return all(conditions);
}

function readComparison(
  reader: Reader,
  compared: Compared,
  operator: Operator,
  value: JsonValue,
  place: Place,
): Condition {
  if (!operatorFits(operator, compared.type.type)) {
    return problem(reader, 'value', place.path, 'is not defined for the type of this field');
  }
  if (flags.has(operator)) return readFlag(reader, compared, operator, value, place);
  if (listed.has(operator)) return readListed(reader, compared, operator, value, place);
  if (isNull(reader, compared, value)) return readNull(reader, compared, operator, place);
  return compare(compared, operator, readOperand(reader, compared, operator, value, place));
}

function compare(compared: Compared, operator: Operator, operand: Operand): Condition {
  const call = compared.function === undefined ? {} : { function: compared.function };
  return { kind: 'compare', field: compared.field, ...call, operator, operand };
}

/** In a query string the four letters mean null, except where the field holds text. */
function isNull(reader: Reader, compared: Compared, value: JsonValue): boolean {
  return value === null || (reader.text && value === 'null' && !isTextual(compared.type.type));
}

const truth: Operand = { kind: 'literal', value: true };

function readNull(reader: Reader, compared: Compared, operator: Operator, place: Place): Condition {
  if (operator === '_eq') return compare(compared, '_null', truth);
  if (operator === '_neq') return compare(compared, '_nnull', truth);
  return problem(reader, 'value', place.path, 'does not take null');
}

function readFlag(reader: Reader, compared: Compared, operator: Operator, value: JsonValue, place: Place): Condition {
  const decoded = value === '' ? ({ ok: true, value: 'true' } as const) : decodeValue({ type: 'boolean' }, value);
  if (!decoded.ok || decoded.value === null) return problem(reader, 'value', place.path, 'must be true or false');
  return compare(compared, decoded.value === 'true' ? operator : (flags.get(operator) ?? operator), truth);
}

function readListed(reader: Reader, compared: Compared, operator: Operator, value: JsonValue, place: Place): Condition {
  if (isDynamic(value) && (operator === '_in' || operator === '_nin')) {
    return compare(compared, operator, readOperand(reader, compared, operator, value, place));
  }
  const elements = typeof value === 'string' ? splitList(value) : listOf(value);
  if (elements === undefined) return problem(reader, 'value', place.path, 'must be a list');
  if ((operator === '_between' || operator === '_nbetween') && elements.length !== 2) {
    return problem(reader, 'value', place.path, 'must have exactly two values');
  }
  if (elements.some((element) => isNull(reader, compared, element))) {
    return problem(reader, 'value', place.path, 'does not take null');
  }
  const operands = elements.map((element) => readOperand(reader, compared, operator, element, place));
  return operands.every((operand) => operand.kind === 'literal')
    ? compare(compared, operator, { kind: 'literal', value: elements, ...(reader.text && { text: true as const }) })
    : spread(compared, operator, operands);
}

function splitList(text: string): readonly string[] {
  return text === '' ? [] : text.split(',');
}

/** Writes a list that holds dynamic values as single comparisons. */
function spread(compared: Compared, operator: Operator, operands: readonly Operand[]): Condition {
  const between = operator === '_between' ? (['_gte', '_lte'] as const) : (['_lt', '_gt'] as const);
  const each = operands.map((operand, index) => {
    // Where a path leads to many values, each of them is an element.
    const path = operand.kind === 'caller' && operand.path.length > 0;
    if (operator === '_in') return compare(compared, path ? '_in' : '_eq', operand);
    if (operator === '_nin') return compare(compared, path ? '_nin' : '_neq', operand);
    return compare(compared, index === 0 ? between[0] : between[1], operand);
  });
  return { kind: operator === '_in' || operator === '_nbetween' ? 'or' : 'and', of: each };
}

const temporal: ReadonlySet<PortableType> = new Set(['date', 'time', 'dateTime', 'timestamp']);

function readOperand(reader: Reader, compared: Compared, operator: Operator, value: JsonValue, place: Place): Operand {
  const parsed = parseOperand(value, reader.text);
  if (!parsed.ok) {
    problem(reader, 'value', place.path, parsed.message);
    return truth;
  }
  const { operand } = parsed;
  if (operand.kind === 'caller') checkCaller(reader, compared, operator, operand, place);
  else checkValue(reader, compared, operator, operand, place);
  return operand;
}

type Value = Exclude<Operand, CallerOperand>;

function checkValue(reader: Reader, compared: Compared, operator: Operator, operand: Value, place: Place): void {
  const message = misfit(compared, operator, operand);
  if (message !== undefined) problem(reader, 'value', place.path, message);
}

/** Says why an operand does not fit the compared type; undefined when it does. */
function misfit(compared: Compared, operator: Operator, operand: Value): string | undefined {
  if (operand.kind === 'now') return temporal.has(compared.type.type) ? undefined : 'compares a time with another type';
  // A part of a label is looked for, so it need not be one; enums have no such operators.
  const decoded = decodeValue(compared.type, operand.value);
  if (!decoded.ok) return decoded.message;
  return operator === '_regex' && !isPattern(operand.value) ? 'is not a regular expression' : undefined;
}

function checkCaller(
  reader: Reader,
  compared: Compared,
  operator: Operator,
  operand: CallerOperand,
  place: Place,
): void {
  const refuse = (message: string) => problem(reader, 'value', place.path, message);
  if (operator === '_regex') refuse('takes a pattern, not a value of the caller');
  else if (operand.path.length > 0) checkCallerPath(reader, compared, operator, operand, place);
  else if (compared.function !== undefined) refuse('compares a key with a number');
}

function checkCallerPath(
  reader: Reader,
  compared: Compared,
  operator: Operator,
  operand: CallerOperand,
  place: Place,
): void {
  const found = followCallerPath(reader.callers, operand);
  if ('stage' in found) {
    reader.problems.push({ ...found, path: place.path });
  } else if (!areComparable(compared.type, found.type)) {
    problem(reader, 'value', place.path, `compares a field of type "${compared.type.type}" with "${found.type.type}"`);
  } else if (found.many && operator !== '_in' && operator !== '_nin') {
    problem(reader, 'value', place.path, 'compares with a list of values, which only _in and _nin take');
  }
}

function isPattern(value: JsonValue): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
