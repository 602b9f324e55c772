/** Endpoints of operations: routes, decoding and answers follow from their declarations. */
import type { IncomingMessage } from 'node:http';
import { PlatformError, retryAfterSeconds } from '../../errors.ts';
import type { JsonValue } from '../../language/index.ts';
import {
  listMembers,
  type Operation,
  routeOf,
  type SchemaMember,
  type ValueSchema,
} from '../../language/operations/index.ts';
import { readPathTexts, splitTarget } from '../../query/parse/target.ts';
import { readIdempotencyKey } from '../../write/execute/idempotency.ts';
import type { RequestOrigin } from '../../write/execute/running.ts';
import { plainParameters } from '../call.ts';
import type { Endpoint, Handler, Method } from '../endpoints.ts';
import type { ItemHandlers } from '../items.ts';
import type { Answer, EmptyAnswer, HttpContext, Responder } from '../responses/answer.ts';
import type { BoundOperation, OperationResult, Values } from './bind.ts';

interface OperationEndpointsOptions {
  readonly responder: Responder;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
  readonly items: Pick<ItemHandlers, 'read'>;
}

export function operationEndpoints(
  bound: readonly BoundOperation[],
  options: OperationEndpointsOptions,
): readonly Endpoint[] {
  const paths = Map.groupBy(bound, ({ operation }) => routeOf(operation).path.replace(/\{(\w+)\}/g, ':$1'));
  return [...paths].map(([url, operations]) => ({
    url,
    takesParts: operations.some(({ operation }) => operation.form?.type === 'multipart/form-data'),
    takesForms: operations.some(({ operation }) => operation.form?.type === 'application/x-www-form-urlencoded'),
    handlers: new Map<Method, Handler>(
      operations.map((callable) => [routeOf(callable.operation).method, handlerOf(callable, url, options)]),
    ),
  }));
}

function handlerOf(
  { operation, run }: BoundOperation,
  url: string,
  { responder, senderOf, items }: OperationEndpointsOptions,
): Handler {
  const reader = valuesReader(operation, url);
  return async function answerOperation(httpContext, { caller, query }, body) {
    const { request } = httpContext;
    const text = takesText(operation) ? formText(body) : query;
    const key = operation.keyed ? readIdempotencyKey(request.headers['idempotency-key']) : undefined;
    const keyed = key !== undefined && { key: { text: key, path: splitTarget(request.url ?? '').path } };
    const context = { caller, query: text, request, sender: senderOf(request), ...keyed };
    const result = await run(() => reader(httpContext, query, body), context);
    const { value } = result;
    const { item: collection, byKey } = operation.output;
    const isAnswered =
      byKey === true &&
      collection !== undefined &&
      typeof value === 'string' &&
      (await isRead(items.read({ httpContext, caller, collection, query }, value)));
    if (!isAnswered) responder.send(httpContext, answerOf(operation, result));
    result.afterwards?.();
  };
}

/** True if the body is a form that is encoded as a query is. */
function takesText({ form, ...operation }: Operation): boolean {
  return form?.type === 'application/x-www-form-urlencoded' && routeOf(operation).method === 'POST';
}

function formText(body: JsonValue = ''): string {
  if (typeof body === 'string') return body;
  throw new PlatformError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as a form.');
}

/** False for an item that the caller may not read. */
async function isRead(reading: Promise<void>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (error instanceof PlatformError && error.code === 'FORBIDDEN') return false;
    throw error;
  }
}

/** Reads values by name: those of the path, and those of the query or the body. */
function valuesReader(operation: Operation, url: string) {
  const { method, parameters } = routeOf(operation);
  const others = listMembers(operation.input ?? {}).filter(({ name }) => !parameters.includes(name));
  const queried = others.filter(({ schema }) => method === 'GET' || schema.flag !== undefined);
  return function readValues({ request }: HttpContext, query: string, body: JsonValue | undefined): Values {
    return {
      ...(operation.body
        ? { body: wholeBody(operation.body, body) }
        : others.length > queried.length && bodyObject(body)),
      ...(queried.length > 0 && queryValues(queried, query)),
      ...(parameters.length > 0 && pathValues(url, request)),
    };
  };
}

function wholeBody({ members }: ValueSchema, body: JsonValue | undefined): JsonValue {
  if (members !== undefined) return bodyObject(body);
  if (body === undefined) throw new PlatformError('INVALID_PAYLOAD', 'The body is missing.');
  return body;
}

function queryValues(members: readonly SchemaMember[], query: string): Values {
  const nameOf = ({ name, schema: { flag = [name, ''] } }: SchemaMember): string => flag[0];
  const texts = plainParameters(query, members.map(nameOf));
  const entries = members.flatMap((member): [string, JsonValue][] => {
    const text = texts.get(nameOf(member));
    if (text === undefined) return [];
    const { name, schema } = member;
    if (schema.flag !== undefined) return [[name, text === schema.flag[1]]];
    return [[name, schema.type === 'integer' && /^\d{1,15}$/.test(text) ? Number(text) : text]];
  });
  return Object.fromEntries(entries);
}

function pathValues(url: string, { url: target = '' }: IncomingMessage): Values {
  const texts = readPathTexts(url, splitTarget(target).path) ?? new Map<string, readonly string[]>();
  return Object.fromEntries([...texts].map(([name, [text = '']]) => [name, text]));
}

function answerOf({ output }: Operation, result: OperationResult<JsonValue | undefined>): Answer | EmptyAnswer {
  const { headers = [], isUnavailable = false, location } = result;
  if (location !== undefined && output.redirect !== undefined) {
    return { status: output.redirect.status, headers: ['Location', location.href, ...headers] };
  }
  const value = output.item !== undefined && !Buffer.isBuffer(result.value) ? undefined : (result.value ?? undefined);
  if (value === undefined) return { status: output.status ?? 204, headers };
  const response = { type: `${output.type ?? 'application/json'}; charset=utf-8`, body: bytesOf(output, value) };
  if (!isUnavailable) return { ...response, status: output.status ?? 200, headers };
  return { ...response, status: 503, headers: ['Retry-After', String(retryAfterSeconds), ...headers] };
}

function bytesOf({ type, data }: Operation['output'], value: JsonValue | Buffer): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (type === 'text/plain') return Buffer.from(String(value));
  return Buffer.from(JSON.stringify(data === undefined ? value : { data: value }));
}

/** A body as an object; an empty one has no members. Throws INVALID_PAYLOAD for a list. */
function bodyObject(body: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  if (body === undefined) return {};
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new PlatformError('INVALID_PAYLOAD', 'The body must be an object.');
  }
  return Object.fromEntries(Object.entries(body));
}
