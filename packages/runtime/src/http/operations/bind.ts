/** Declarations of operations with their implementations: access and input are checked before an implementation runs. */
import type { IncomingMessage } from 'node:http';
import { stall } from '../../auth/refusals.ts';
import type { Caller } from '../../caller.ts';
import { PlatformError } from '../../errors.ts';
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
} from '../../language/operations/index.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import type { WriteRequest } from '../../write/write-plan.ts';
import { decodeValues, type InputCode, type Values } from './decode.ts';

/** Request for an operation, beside its input. */
export interface OperationContext extends OperationRequest {
  readonly administrator: boolean;
}

/** Request for an operation as its transport passes it. */
interface OperationRequest {
  readonly caller: Caller;
  readonly sender: RequestOrigin;
  /** The request itself, for its cookies and headers. */
  readonly request: IncomingMessage;
  /** Raw query string, or the text of a form that is encoded as one; empty for GraphQL. */
  readonly query: string;
  /** Reads the answer of a write, where no query says it. */
  readonly returning?: NonNullable<WriteRequest['returning']>;
}

/** Result of an operation. */
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

/** Result without a value. */
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

/** An operation that can be called. */
export interface BoundOperation {
  readonly operation: NamedOperation;
  /** Checks the caller, reads the input, and does the work. Rejects with the error that answers the request. */
  run(read: () => Values, request: OperationRequest): Promise<OperationResult<JsonValue | undefined>>;
}

/** Makes the operations of a resource callable. */
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
