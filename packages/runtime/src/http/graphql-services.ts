/**
 * Root fields of GraphQL that are no collection's. Each is the route of the same meaning over REST: its handler runs
 * with an answerer that stores the answer, so that GraphQL and REST do the same. Source: specification, 14.3.
 */
import { type IncomingMessage, ServerResponse } from 'node:http';
import { isErrorCode, PlatformError } from '../errors.ts';
import type { ServiceField } from '../graphql/compile-query.ts';
import { inputValue, isJson, type Variables } from '../graphql/input.ts';
import type { OperationCall } from '../graphql/operation.ts';
import type { ServiceAnswer } from '../graphql/run-mutation.ts';
import { isObject } from '../language/filter-syntax.ts';
import type { GraphqlService, JsonValue } from '../language/index.ts';
import type { NamedOperation } from '../language/operations/index.ts';
import type { RequestOrigin } from '../write/write-plan.ts';
import type { Answer, Answerer, EmptyAnswer, Exchange } from './answer.ts';
import type { Call } from './call.ts';
import type { Endpoint, Method } from './endpoints.ts';
import type { BoundOperation } from './operations/bind.ts';

/** Options for answering the services. */
export interface GraphqlServicesOptions {
  /** The addresses of the server, with handlers that answer by an answerer. */
  readonly endpointsFor: (answerer: Answerer) => readonly Endpoint[];
  /** The schema of an access class as text. */
  readonly printSchema: (accessClass: string, scope: 'items' | 'system') => Promise<string>;
  readonly bound: readonly BoundOperation[];
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Gives the value of a root field. Rejects with the error of the route. */
export type CallService = (field: ServiceField, call: OperationCall) => Promise<ServiceAnswer>;

/**
 * A route. Its answer is the value of the field, or stands in `data`, or confirms an action, with true or the
 * requested key. `recorded` is the key of the row that it answers, true if there is none to read. Arguments are the
 * parameters of the path, and the body of a POST or PATCH or the query of a GET. For changes of the model `data` is the
 * body, `discard` allows loss of data, and a collection is named by itself.
 */
interface ServiceRoute {
  readonly method: Method;
  readonly url: string;
  readonly value: 'data' | 'recorded' | 'id' | 'keys';
  readonly model?: true;
}

const routes: Readonly<Record<string, ServiceRoute>> = {
  collections: { method: 'GET', url: '/collections', value: 'data' },
  collections_by_name: { method: 'GET', url: '/collections/:name', value: 'data' },
  fields: { method: 'GET', url: '/fields', value: 'data' },
  fields_in_collection: { method: 'GET', url: '/fields/:collection', value: 'data' },
  fields_by_name: { method: 'GET', url: '/fields/:collection/:field', value: 'data' },
  relations: { method: 'GET', url: '/relations', value: 'data' },
  relations_in_collection: { method: 'GET', url: '/relations/:collection', value: 'data' },
  relations_by_name: { method: 'GET', url: '/relations/:collection/:field', value: 'data' },
  create_comment: { method: 'POST', url: '/activity/comment', value: 'recorded' },
  update_comment: { method: 'PATCH', url: '/activity/comment/:id', value: 'recorded' },
  delete_comment: { method: 'DELETE', url: '/activity/comment/:id', value: 'id' },
  import_file: { method: 'POST', url: '/files/import', value: 'data' },
  create_collections_item: { method: 'POST', url: '/collections', value: 'data', model: true },
  update_collections_item: { method: 'PATCH', url: '/collections/:name', value: 'data', model: true },
  delete_collections_item: { method: 'DELETE', url: '/collections/:name', value: 'keys', model: true },
  create_fields_item: { method: 'POST', url: '/fields/:collection', value: 'data', model: true },
  update_fields_item: { method: 'PATCH', url: '/fields/:collection/:field', value: 'data', model: true },
  delete_fields_item: { method: 'DELETE', url: '/fields/:collection/:field', value: 'keys', model: true },
  create_relations_item: { method: 'POST', url: '/relations', value: 'data', model: true },
  update_relations_item: { method: 'PATCH', url: '/relations/:collection/:field', value: 'data', model: true },
  delete_relations_item: { method: 'DELETE', url: '/relations/:collection/:field', value: 'keys', model: true },
};

/** Length of the text in front of the value of an answer. */
const dataText = '{"data":'.length;

/** Makes the function that answers them. */
export function createGraphqlServices(options: GraphqlServicesOptions): CallService {
  const { endpointsFor, printSchema, bound, senderOf } = options;
  const operations = new Map(bound.map((callable) => [fieldOf(callable.operation), callable]));
  const answers = new WeakMap<Exchange, Answer | EmptyAnswer>();
  const endpoints = new Map(endpointsFor(keeping(answers)).map((endpoint) => [endpoint.url, endpoint]));

  async function ask(
    service: GraphqlService,
    call: OperationCall,
    input: Arguments,
    echo: Call['echo'],
  ): Promise<ServiceTold> {
    const route = routes[service];
    if (route === undefined) throw new PlatformError('ROUTE_NOT_FOUND');
    const { method, url, value, model = false } = route;
    const { path, rest: left } = addressOf(
      url,
      url.includes(':name') ? { name: input.collection ?? null, ...input } : input,
    );
    const rest = model ? (left.data ?? {}) : left;
    const query = method === 'GET' ? queryOf(left) : model && left.discard === true ? 'data=discard' : '';
    const handler = endpoints.get(url)?.handlers.get(method);
    if (handler === undefined) throw new PlatformError('ROUTE_NOT_FOUND');
    const exchange = exchangeOf(call, path);
    const asked = { caller: call.caller, query, item: null, ...(echo && { echo }) };
    await handler(exchange, asked, method === 'POST' || method === 'PATCH' ? rest : undefined);
    const answer = answers.get(exchange);
    if (answer === undefined) throw new Error(`${method} ${url} gave no answer.`);
    const result = valueIn(answer, value);
    // An answer that was read as the document selects it is passed on byte by byte.
    const isEchoed = echo !== undefined && answer.status === 200 && 'body' in answer;
    const json = isEchoed ? answer.body.subarray(dataText, -1) : undefined;
    return {
      value: value === 'id' ? { id: input.id ?? null } : value === 'keys' ? keysOf(input) : result,
      headers: answer.headers ?? [],
      ...(json && { json }),
    };
  }

  return async function callService(field, call) {
    const { service, tell } = field;
    const input = argumentsOf(field, call.variables);
    if (service === 'users_me' || service === 'update_users_me') return { json: tell(ownUser(call)), headers: [] };
    if (service === 'server_specs_graphql') {
      const scope = input.scope === 'system' ? 'system' : 'items';
      return { json: tell(await printSchema(call.caller.accessClass, scope)), headers: [] };
    }
    const echo = field.echo?.(call.variables, call.caller);
    const operation = operations.get(service);
    if (operation !== undefined) {
      const { caller, request } = call;
      const context = { caller, request, sender: senderOf(request), query: '', ...(echo && { echo }) };
      const result = await operation.run(() => input, context);
      result.afterwards?.();
      const { value, headers = [] } = result;
      return { json: Buffer.isBuffer(value) ? value : tell(confirmed(operation.operation, value)), headers };
    }
    const { value, headers, json } = await ask(service, call, input, echo);
    return { json: json ?? tell(value), headers };
  };
}

function fieldOf({ graphql: { query, mutation } = {} }: NamedOperation): string | undefined {
  return query ?? mutation;
}

/** Value of a field; an empty answer confirms an action. */
function confirmed({ graphql }: NamedOperation, value: JsonValue | undefined): JsonValue {
  return value ?? (graphql?.type === 'Void' ? null : true);
}

type Arguments = Readonly<Record<string, JsonValue>>;

/** The path with its parameters filled in, and the arguments that are none of them. */
function addressOf(url: string, input: Arguments): { readonly path: string; readonly rest: Arguments } {
  const names = new Set([...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name));
  const path = url.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(input[name])));
  return { path, rest: Object.fromEntries(Object.entries(input).filter(([name]) => !names.has(name))) };
}

/** Names of the deleted collection or field. */
function keysOf({ collection = null, field = null }: Arguments): JsonValue {
  return { collection, field };
}

function queryOf(input: Arguments): string {
  const texts = Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]);
  return new URLSearchParams(texts).toString();
}

/** Answer of a route. */
interface ServiceTold {
  readonly value: JsonValue;
  /** The value as the answer holds it, where nothing has to be made of it. */
  readonly json?: Buffer;
  readonly headers: readonly string[];
}

function ownUser({ caller: { user } }: OperationCall): JsonValue {
  if (user === null) throw new PlatformError('INVALID_CREDENTIALS');
  return { id: user };
}

/** Arguments that are null are as those that are not there. */
function argumentsOf(field: ServiceField, variables: Variables): Arguments {
  const entries = [...field.arguments].flatMap(([name, input]) => {
    const value = inputValue(input, variables);
    return value !== undefined && value !== null && isJson(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(entries);
}

function keeping(answers: WeakMap<Exchange, Answer | EmptyAnswer>): Answerer {
  return {
    send: (exchange, answer) => void answers.set(exchange, answer),
    fail(_, error) {
      throw error;
    },
    streamHeaders: () => [],
    hangUp() {},
  };
}

/** A handler reads the request, at its own address. Its answer goes elsewhere, so the response is never sent. */
function exchangeOf({ request }: OperationCall, url: string): Exchange {
  const addressed: typeof request = Object.create(request, { url: { value: url } });
  return { request: addressed, response: new ServerResponse(request) };
}

function valueIn(answer: Answer | EmptyAnswer, kind: ServiceRoute['value']): JsonValue {
  const { status } = answer;
  const text = 'body' in answer ? answer.body.toString('utf8') : '';
  const value: JsonValue = text === '' ? null : JSON.parse(text);
  if (status >= 400) throw errorIn(value);
  if (kind === 'recorded' && value === null) return true;
  return (kind === 'data' || kind === 'recorded') && isObject(value) ? (value.data ?? null) : value;
}

/** The error of an answer that was kept under a key. */
function errorIn(value: JsonValue): PlatformError {
  const [first] = isObject(value) && Array.isArray(value.errors) ? value.errors : [];
  const { message = null, extensions = null } = first !== undefined && isObject(first) ? first : {};
  const { code = null } = isObject(extensions) ? extensions : {};
  const knownCode = typeof code === 'string' && isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR';
  return new PlatformError(knownCode, typeof message === 'string' ? message : undefined);
}
