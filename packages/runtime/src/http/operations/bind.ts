/** Declarations of operations with their implementations: access and input are checked before an implementation runs. */

import type { IncomingMessage } from 'node:http';
import { stall } from '../../auth/refusals.ts';
import type { Caller } from '../../caller.ts';
import { isEmail } from '../../environment/values.ts';
import { type ErrorCode, PlatformError } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import {
  type InputOf,
  listMembers,
  type Members,
  type NamedOperation,
  type Operation,
  type OutputOf,
  operationsOf,
  type Resource,
  routeOf,
  type ValueSchema,
} from '../../language/operations/index.ts';
import { isUuid } from '../../language/types/uuid.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { WriteRequest } from '../../write/write-plan.ts';

export interface OperationContext extends OperationRequest {
  readonly administrator: boolean;
}

interface OperationRequest {
  readonly caller: Caller;
  readonly sender: RequestOrigin;
  /** The request itself, for its cookies and headers. */
  readonly request: IncomingMessage;
  /** Raw query string, or the text of a form that is encoded as one; empty for GraphQL. */
  readonly query: string;
  /** The Idempotency-Key of a request that it makes happen once. */
  readonly key?: RequestKey;
  /** Reads the answer of a write, where no query says it. */
  readonly returning?: NonNullable<WriteRequest['returning']>;
}

/** A key with what it stands for, beside the caller and the query. */
export interface RequestKey {
  readonly text: string;
  readonly path: string;
  /** Default: the input of the operation. */
  readonly payload?: JsonValue;
}

export interface OperationResult<Value> {
  /** Bytes are the whole answer, as it is sent. */
  readonly value: Value | Buffer;
  /** Address that the browser is sent to, in place of the value. */
  readonly location?: URL;
  /** True if the server cannot serve requests now, as the output declares it. */
  readonly isUnavailable?: boolean;
  /** Headers as a flat list of names and values. */
  readonly headers?: readonly string[];
  /** Runs once the answer is sent. */
  readonly afterwards?: () => void;
}

export const done: OperationResult<undefined> = { value: undefined };

/** Implementation of an operation. It rejects with the error that answers the request. */
type Implementation<Declared extends Operation> = (
  input: InputOf<Declared>,
  context: OperationContext,
) => Promise<OperationResult<OutputOf<Declared>>>;

/** Implementations of a resource; null for operations that a server does not have. */
export type Implementations<Declared extends Resource> = {
  readonly [Id in keyof Declared['operations']]: Implementation<Declared['operations'][Id]> | null;
};

export interface BoundOperation {
  readonly operation: NamedOperation;
  /** Checks the caller, reads the input, and does the work. Rejects with the error that answers the request. */
  run(read: () => Values, request: OperationRequest): Promise<OperationResult<JsonValue | undefined>>;
}

export type Bind = <Declared extends Resource>(
  resource: Declared,
  implementations: Implementations<Declared>,
) => readonly BoundOperation[];

type AnyImplementation = (input: Values, context: OperationContext) => Promise<OperationResult<JsonValue | undefined>>;

/** Makes the binder of a server; `stallTime` is in milliseconds. */
export function createBind(isAdmin: (caller: Caller) => boolean, stallTime: number): Bind {
  return (resource, implementations) =>
    operationsOf(resource).flatMap((operation): BoundOperation[] => {
      // The decoder gives values of the declared types only, so each implementation gets what its type says.
      const implementation = Reflect.get(implementations, operation.id) as AnyImplementation | null;
      return implementation === null ? [] : [bind(operation, implementation, isAdmin, stallTime)];
    });
}

function bind(
  operation: NamedOperation,
  implementation: AnyImplementation,
  isAdmin: (caller: Caller) => boolean,
  stallTime: number,
): BoundOperation {
  const { method, parameters } = routeOf(operation);
  const code = method === 'GET' ? 'INVALID_QUERY' : 'INVALID_PAYLOAD';
  const members = operation.input ?? {};
  const decoded = Object.fromEntries(Object.entries(members).filter(([name]) => !parameters.includes(name)));
  const body = operation.body === undefined ? [] : ['body'];
  async function work(read: () => Values, request: OperationRequest) {
    const administrator = isAdmin(request.caller);
    checkAccess(operation, request.caller, administrator);
    const values = read();
    if (operation.closed) refuseOthers(members, values, code);
    // An object that a path names is looked for as it is written, and the implementation checks a whole body.
    const plain = Object.fromEntries([...parameters, ...body].map((name) => [name, values[name] ?? '']));
    return implementation({ ...decodeValues(decoded, values, code), ...plain }, { ...request, administrator });
  }
  return {
    operation,
    run: (read, request) => (operation.stalled ? stall(stallTime, () => work(read, request)) : work(read, request)),
  };
}

function refuseOthers(members: Members, values: Values, code: InputCode): void {
  const names = listMembers(members).map(({ name }) => name);
  const other = Object.keys(values).find((name) => !names.includes(name));
  if (other !== undefined) throw new PlatformError(code, `"${other}" is not known here.`);
}

function checkAccess({ access, anonymous }: Operation, { user }: Caller, administrator: boolean): void {
  if (user === null && !administrator && anonymous !== undefined) throw new PlatformError(anonymous);
  if (access === 'own-user' && user === null) throw new PlatformError('INVALID_CREDENTIALS');
  if (access === 'signed-in' && user === null && !administrator) throw new PlatformError('FORBIDDEN');
  if (access === 'administrator' && !administrator) throw new PlatformError('FORBIDDEN');
}

export type Values = Readonly<Record<string, JsonValue>>;

/** Error of values that do not fit: INVALID_QUERY in a query, else INVALID_PAYLOAD. */
type InputCode = Extract<ErrorCode, 'INVALID_QUERY' | 'INVALID_PAYLOAD'>;

/** The declared values, with defaults; others are dropped. Throws the error, or FAILED_VALIDATION for a field's value. */
function decodeValues(members: Members, values: Values, code: InputCode): Values {
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
  if (format === 'uuid' && !isUuid(text)) return { type: 'regex', rule: 'be a UUID' };
  if (text.length < minLength && format !== 'password') return { type: 'min_length', rule: 'not be empty' };
  if (maxLength !== undefined && text.length > maxLength && [...text].length > maxLength) {
    return { type: 'max_length', rule: `have at most ${maxLength} characters` };
  }
  return maxBytes !== undefined && Buffer.byteLength(text) > maxBytes
    ? { type: 'max_length', rule: `have at most ${maxBytes} bytes` }
    : null;
}

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
