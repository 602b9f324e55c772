/**
 * Declaration of an endpoint of the platform's own. It has all facts for its route, its decoder, the OpenAPI document,
 * the GraphQL schema, the client and the docs. Its implementation is typed by it.
 */
import type { JsonValue } from '../values/parse-text.ts';
import type { FailureName } from './failures.ts';
import type { Members, ValueOf, ValueSchema, ValuesOf } from './schema.ts';

type OperationMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * Callers of an operation.
 *
 * - `unchecked`: everybody, and no token is looked at
 * - `anyone`: everybody
 * - `signed-in`: users, and administrators without a user; others get FORBIDDEN
 * - `own-user`: users; others get INVALID_CREDENTIALS
 * - `administrator`: others get FORBIDDEN
 * - an action: classes that have it on a collection, with those fields; the implementation checks it
 */
export type OperationAccess = 'unchecked' | 'anyone' | 'signed-in' | 'own-user' | 'administrator' | CollectionRight;

interface CollectionRight {
  readonly action: 'create' | 'read' | 'update' | 'delete';
  readonly collection: string;
  readonly fields?: readonly string[];
}

/** Successful answer: empty, JSON, text, or an item. */
interface OperationOutput {
  /** Default: 204 for an empty answer, else 200. */
  readonly status?: number;
  readonly description: string;
  /** Default: JSON. */
  readonly type?: 'text/plain' | 'application/health+json';
  /** Stands in `data`. */
  readonly data?: ValueSchema;
  /** The whole body. */
  readonly body?: ValueSchema;
  /** Collection of an item that stands in `data` as the query selects it. */
  readonly item?: string;
  /** Describes the empty answer for callers who may not read the item. */
  readonly empty?: string;
  /** True if the implementation gives the key of the item, which is read then. Default: it gives the answer of a write. */
  readonly byKey?: true;
  /** Answer that sends the browser elsewhere. */
  readonly redirect?: { readonly status: 302 | 303; readonly description: string };
  /** Answer of the same form with status 503, for a server that cannot serve requests now. */
  readonly unavailable?: Pick<Operation, 'description' | 'administrators'>;
}

/** Form of a request: its body, or the query of a GET. */
interface OperationForm {
  readonly type: 'multipart/form-data' | 'application/x-www-form-urlencoded';
  readonly members: Members;
}

/** Root field of GraphQL. */
interface OperationField {
  readonly query?: string;
  readonly mutation?: string;
  /** Type of the value. Default: that of the output, `Boolean` for an empty one. */
  readonly type?: string;
  /** Order of the arguments. Default: that of the input, then the body. */
  readonly order?: readonly string[];
  /** Argument that holds the body. Default: each of its members is an argument. */
  readonly body?: string;
  /** Inputs that are the members of the value, where the answer is empty. */
  readonly value?: readonly string[];
}

/** An operation. */
export interface Operation {
  /** `POST /users/{id}/tfa/disable` */
  readonly route: `${OperationMethod} /${string}`;
  readonly summary: string;
  readonly description: string;
  /** Sentence of the description that only administrators read. */
  readonly administrators?: string;
  readonly access: OperationAccess;
  /** Error of requests without a token. Default: that of `access`. */
  readonly anonymous?: 'INVALID_CREDENTIALS';
  /** Parameters of the path by their names; the others stand in the query of a GET, else in the body. */
  readonly input?: Members;
  /** Form that the implementation reads itself. */
  readonly form?: OperationForm;
  /** Whole body, which the implementation checks: a payload of a write, or a part of the model. */
  readonly body?: ValueSchema;
  /** True if a body with other members is refused. Default: they mean nothing. */
  readonly closed?: true;
  readonly output: OperationOutput;
  readonly failures: readonly FailureName[];
  readonly graphql?: OperationField;
  /** Method of the client with its arguments: `auth.password.request(email, reset_url)`. Default: none. */
  readonly client?: string;
  /** True if every answer takes LOGIN_STALL_TIME, so that its duration reveals nothing. */
  readonly stalled?: true;
  /** True if an Idempotency-Key makes it happen once. */
  readonly keyed?: true;
}

/** Operations of a resource by `operationId`. */
export interface Resource {
  /** Groups the operations in the OpenAPI document. */
  readonly tag: string;
  /** True if they exist only where the platform's own tables are installed. */
  readonly installed: boolean;
  /** True if the OpenAPI document has the parameters of a path once, for all its methods. */
  readonly parametersOfPaths?: true;
  readonly operations: { readonly [id: string]: Operation };
}

/** Type of what the implementation of an operation gets; parameters of the path are texts. */
export type InputOf<Declared extends Operation> = ValuesOf<Omit<Declared['input'], NamesIn<Declared['route']>>> & {
  readonly [Name in NamesIn<Declared['route']>]: string;
} & (Declared extends { readonly body: ValueSchema } ? { readonly body: JsonValue } : unknown);

type NamesIn<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** Type of an implementation's answer: `undefined` for an empty one, a key or null for an item, bytes for a write. */
export type OutputOf<Declared extends Operation> = Declared['output'] extends { readonly data: infer Data }
  ? ValueOf<Data> | Moved<Declared['output']>
  : Declared['output'] extends { readonly body: infer Body }
    ? ValueOf<Body>
    : Declared['output'] extends { readonly item: string }
      ? string | null
      : undefined;

type Moved<Output> = Output extends { readonly redirect: object } ? undefined : never;

/** An operation with its name and its tag. */
export interface NamedOperation extends Operation {
  readonly id: string;
  readonly tag: string;
  readonly installed: boolean;
}

/** Lists the operations of a resource. */
export function operationsOf({ operations, tag, installed }: Resource): readonly NamedOperation[] {
  return Object.entries(operations).map(([id, operation]) => ({ ...operation, id, tag, installed }));
}

/** Method and path of an operation, `/users/{id}/tfa/disable`, with the names in the path. */
export function routeOf({ route }: Pick<Operation, 'route'>): {
  readonly method: OperationMethod;
  readonly path: string;
  readonly parameters: readonly string[];
} {
  const [, word = '', path = ''] = /^(\w+) (.*)$/.exec(route) ?? [];
  const method = methods.find((name) => name === word) ?? 'GET';
  return { method, path, parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) };
}

const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
