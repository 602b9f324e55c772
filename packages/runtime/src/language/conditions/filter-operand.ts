import { elementwise, type Operator, ranged } from '../operators/index.ts';
import { types } from '../types/index.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';
import { decodeValue, elementOf } from '../values/values.ts';
import { areComparable, type CallerOperand, followCallerPath } from './caller-path.ts';
import type { Operand } from './condition.ts';
import { jsonOperatorFits, jsonTypes, kindOf } from './filter-json.ts';
import { type Compared, type Place, problem, type Reader } from './filter-reader.ts';
import { parseOperand } from './operand.ts';

/** Reads one right-hand side and notes where it does not fit what it is compared with. */
export function readOperand(
  reader: Reader,
  compared: Compared,
  operator: Operator,
  value: JsonValue,
  location: Place,
): Operand {
  const parsed = parseOperand(value, reader.text);
  if (!parsed.ok) {
    problem(reader, 'value', location.path, parsed.message);
    return { kind: 'literal', value: true };
  }
  const { operand } = parsed;
  if (operand.kind === 'caller') checkCaller(reader, compared, operator, operand, location);
  else checkValue(reader, compared, operator, operand, location);
  return operand;
}

type Value = Exclude<Operand, CallerOperand>;

function checkValue(reader: Reader, compared: Compared, operator: Operator, operand: Value, location: Place): void {
  const message = misfit(compared, operator, operand);
  if (message !== undefined) problem(reader, 'value', location.path, message);
}

/** Says why an operand does not fit the compared type; undefined when it does. */
function misfit(compared: Compared, operator: Operator, operand: Value): string | undefined {
  const type = comparedWith(compared, operator);
  if (operand.kind === 'now')
    return types[type.type].isMoment === true ? undefined : 'compares a time with another type';
  if (compared.type.type === 'json') return misfitJson(compared, operator, operand.value);
  // A part of a label is looked for, so it need not be one; enums have no such operators.
  const decoded = decodeValue(type, operand.value);
  if (!decoded.ok) return decoded.message;
  return operator === '_regex' && !isPattern(operand.value) ? 'is not a regular expression' : undefined;
}

function checkCaller(
  reader: Reader,
  compared: Compared,
  operator: Operator,
  operand: CallerOperand,
  location: Place,
): void {
  const refuse = (message: string) => problem(reader, 'value', location.path, message);
  if (operator === '_regex') refuse('takes a pattern, not a value of the caller');
  else if (operand.path.length > 0) checkCallerPath(reader, compared, operator, operand, location);
  else if (compared.function !== undefined) refuse('compares a key with a number');
}

function checkCallerPath(
  reader: Reader,
  compared: Compared,
  operator: Operator,
  operand: CallerOperand,
  location: Place,
): void {
  const found = followCallerPath(reader.callers, operand);
  if ('stage' in found) {
    reader.problems.push({ ...found, path: location.path });
  } else if (!areComparable(compared.type, found.type)) {
    problem(
      reader,
      'value',
      location.path,
      `compares a field of type "${compared.type.type}" with "${found.type.type}"`,
    );
  } else if (found.many && operator !== '_in' && operator !== '_nin') {
    problem(reader, 'value', location.path, 'compares with a list of values, which only _in and _nin take');
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
    : 'does not compare values of this kind';
}

function isPattern(value: JsonValue): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
