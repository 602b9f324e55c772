/** Endpoints of operations: routes, decoding and answers follow from their declarations. */
import type { IncomingMessage } from 'node:http';
import { retryAfterSeconds } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import {
  listMembers,
  type Operation,
  type OperationMethod,
  routeOf,
  type SchemaMember,
} from '../../language/operations/index.ts';
import type { RequestOrigin } from '../../write/write-plan.ts';
import type { Answer, Answerer, EmptyAnswer, Exchange } from '../answer.ts';
import { bodyObject } from '../auth-body.ts';
import type { Endpoint, Handler, Method } from '../endpoints.ts';
import { plainParameters } from '../plain-parameters.ts';
import { readPathTexts, splitTarget } from '../target.ts';
import type { BoundOperation, OperationResult } from './bind.ts';
import type { Values } from './decode.ts';

/** Makes the endpoints, one for each path. */
export function operationEndpoints(
  bound: readonly BoundOperation[],
  answerer: Answerer,
  senderOf: (request: IncomingMessage) => RequestOrigin,
): readonly Endpoint[] {
  const paths = Map.groupBy(bound, ({ operation }) => routeOf(operation).path.replace(/\{(\w+)\}/g, ':$1'));
  return [...paths].map(([url, operations]) => ({
    url,
    handlers: new Map<Method, Handler>(
      operations.map((callable) => [routeOf(callable.operation).method, handlerOf(callable, url, answerer, senderOf)]),
    ),
  }));
}

function handlerOf(
  { operation, run }: BoundOperation,
  url: string,
  answerer: Answerer,
  senderOf: (request: IncomingMessage) => RequestOrigin,
): Handler {
  const reader = valuesReader(operation, url);
  return async function answerOperation(exchange, { caller, query, echo }, body) {
    const { request } = exchange;
    const context = { caller, query, request, sender: senderOf(request), ...(echo && { echo }) };
    const result = await run(() => reader(exchange, query, body), context);
    answerer.send(exchange, answerOf(operation, result));
    result.afterwards?.();
  };
}

/** Reads values by name: those of the path, and those of the query or the body. */
function valuesReader(operation: Operation, url: string) {
  const { method, parameters } = routeOf(operation);
  const others = listMembers(operation.input ?? {}).filter(({ name }) => !parameters.includes(name));
  return function readValues({ request }: Exchange, query: string, body: JsonValue | undefined): Values {
    return {
      ...(others.length > 0 && valuesBeside(method, others, query, body)),
      ...(parameters.length > 0 && pathValues(url, request)),
    };
  };
}

function valuesBeside(
  method: OperationMethod,
  members: readonly SchemaMember[],
  query: string,
  body: JsonValue | undefined,
): Values {
  if (method !== 'GET') return bodyObject(body);
  const texts = plainParameters(
    query,
    members.map(({ name }) => name),
  );
  const entries = members.flatMap(({ name, schema }): [string, JsonValue][] => {
    const text = texts.get(name);
    if (text === undefined) return [];
    return [[name, schema.type === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text]];
  });
  return Object.fromEntries(entries);
}

function pathValues(url: string, { url: target = '' }: IncomingMessage): Values {
  const texts = readPathTexts(url, splitTarget(target).path) ?? new Map<string, readonly string[]>();
  return Object.fromEntries([...texts].map(([name, [text = '']]) => [name, text]));
}

function answerOf({ output }: Operation, result: OperationResult<JsonValue | undefined>): Answer | EmptyAnswer {
  const { value, headers = [], isUnavailable = false } = result;
  if (value === undefined) return { status: output.status ?? 204, headers };
  const answer = { type: `${output.type ?? 'application/json'}; charset=utf-8`, body: bytesOf(output, value) };
  if (!isUnavailable) return { ...answer, status: output.status ?? 200, headers };
  return { ...answer, status: 503, headers: ['Retry-After', String(retryAfterSeconds), ...headers] };
}

function bytesOf({ type, data }: Operation['output'], value: JsonValue | Buffer): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (type === 'text/plain') return Buffer.from(String(value));
  return Buffer.from(JSON.stringify(data === undefined ? value : { data: value }));
}
