/** Input of operations: values by name → values that fit the declaration. Source: API specification, section 9. */
import { isEmail } from '../../environment/values.ts';
import { type ErrorCode, PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import { listMembers, type Members, type ValueSchema } from '../../language/operations/index.ts';

/** Values by name. */
export type Values = Readonly<Record<string, JsonValue>>;

/** Error of values that do not fit: INVALID_QUERY in a query, else INVALID_PAYLOAD. */
export type InputCode = Extract<ErrorCode, 'INVALID_QUERY' | 'INVALID_PAYLOAD'>;

/** The declared values, with defaults; others are dropped. Throws the error, or FAILED_VALIDATION for a field's value. */
export function decodeValues(members: Members, values: Values, code: InputCode): Values {
  const entries = listMembers(members).flatMap(({ name, isRequired, schema }): [string, JsonValue][] => {
    const value = Object.hasOwn(values, name) ? values[name] : schema.default;
    if (value !== undefined) return [[name, decodeValue(schema, name, value, code)]];
    if (isRequired) throw new PlatformError(code, `"${name}" is required.`);
    return [];
  });
  return Object.fromEntries(entries);
}

function decodeValue(schema: ValueSchema, name: string, sent: JsonValue, code: InputCode): JsonValue {
  const value = keyText(schema, sent);
  const fitting = choose(schema, value);
  if (fitting === undefined) throw new PlatformError(code, `"${name}" must be ${printTypes(schema)}.`);
  const violation = violationOf(fitting, value);
  if (violation !== null) throw refuse(fitting, name, violation, code);
  if (!Array.isArray(value) || fitting.items === undefined) return value;
  const { items } = fitting;
  return value.map((item) => decodeValue(items, name, item, code));
}

/** The schema, or the first of its choices, that has the type of a value. */
function choose(schema: ValueSchema, value: JsonValue): ValueSchema | undefined {
  if (schema.anyOf !== undefined) return schema.anyOf.find((choice) => choose(choice, value) !== undefined);
  const types = typesOf(schema);
  const type = typeOf(value);
  return types.length === 0 || types.includes(type) || (type === 'integer' && types.includes('number'))
    ? schema
    : undefined;
}

function typesOf({ type = [], members }: ValueSchema): readonly string[] {
  return members === undefined ? [type].flat() : ['object'];
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** The digits of a number that no double holds, where a key may be a text. */
function keyText(schema: ValueSchema, value: JsonValue): JsonValue {
  const types = typesOf(schema);
  return JSON.isRawJSON(value) && types.includes('string') && types.includes('integer') ? value.rawJSON : value;
}

/** A rule that a value breaks: a `type` of FAILED_VALIDATION, and words after "must". */
interface Violation {
  readonly type: string;
  readonly rule: string;
}

function violationOf(schema: ValueSchema, value: JsonValue): Violation | null {
  if (typeof value === 'string') return textViolation(schema, value);
  if (typeof value === 'number') return numberViolation(schema, value);
  const { minItems = 0 } = schema;
  return Array.isArray(value) && value.length < minItems
    ? { type: 'range', rule: `have at least ${minItems} elements` }
    : null;
}

/** The operation itself judges how short a password may be. */
function textViolation(schema: ValueSchema, text: string): Violation | null {
  const { enum: choices, format, minLength = 0, maxLength, maxBytes } = schema;
  if (choices?.includes(text) === false) {
    return { type: 'enum', rule: `be ${choices.map((choice) => `"${choice}"`).join(' or ')}` };
  }
  if (format === 'email' && !isEmail(text)) return { type: 'email', rule: 'be an e-mail address' };
  if (format === 'uuid' && !uuid.test(text)) return { type: 'regex', rule: 'be a UUID' };
  if (text.length < minLength && format !== 'password') return { type: 'min_length', rule: 'not be empty' };
  if (maxLength !== undefined && text.length > maxLength && [...text].length > maxLength) {
    return { type: 'max_length', rule: `have at most ${maxLength} characters` };
  }
  return maxBytes !== undefined && Buffer.byteLength(text) > maxBytes
    ? { type: 'max_length', rule: `have at most ${maxBytes} bytes` }
    : null;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function numberViolation({ minimum, maximum }: ValueSchema, value: number): Violation | null {
  const fits = value >= (minimum ?? value) && value <= (maximum ?? value);
  return fits ? null : { type: 'range', rule: `be an integer from ${minimum} to ${maximum}` };
}

function refuse(
  { field, refusal }: ValueSchema,
  name: string,
  { type, rule }: Violation,
  code: InputCode,
): PlatformError {
  const message = `"${name}" must ${rule}.`;
  if (field === undefined) return new PlatformError(refusal ?? code, message);
  return new PlatformError('FAILED_VALIDATION', message, { collection: field[0], field: field[1], type });
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

function printTypes(schema: ValueSchema): string {
  const types = (schema.anyOf ?? [schema]).flatMap(typesOf);
  return types.map((type) => typeNames[type] ?? type).join(' or ');
}
