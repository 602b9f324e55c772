/** Handlers of `/graphql` and `/graphql/system`. Source: API specification, section 14.1; GraphQL over HTTP. */
import { documentErrorBody } from '../../graphql/documents/document-errors.ts';
import type { Operation, OperationAnswer } from '../../graphql/documents/operation.ts';
import type { AnswerGraphql } from '../../graphql/service.ts';
import type { GraphqlScope, JsonValue } from '../../language/index.ts';
import { type Log, logFailure } from '../../operate/log.ts';
import { requestRecord } from '../../operate/request-record.ts';
import { readIdempotencyKey } from '../../write/execute/idempotency.ts';
import type { Call } from '../call.ts';
import type { Endpoint, Handler, Method } from '../endpoints.ts';
import { toAnswerError } from '../failures.ts';
import { type HttpContext, mediaTypes, type Responder } from '../responses/answer.ts';
import {
  type AcceptedForm,
  type GraphqlParameters,
  readAccept,
  readGraphqlBody,
  readGraphqlQuery,
} from './graphql-request.ts';

export interface GraphqlEndpointsOptions {
  readonly responder: Responder;
  /** GraphQL without its transport, loaded on the first request, and then returned at once. */
  readonly load: () => AnswerGraphql | Promise<AnswerGraphql>;
  /** Finds the text of the document that a request means. Throws or rejects with INVALID_QUERY for one that is not answered. */
  readonly findDocument: (requested: GraphqlParameters) => string | Promise<string>;
  /** Shows the page to ask from. Null: there is none. */
  readonly page: Handler | null;
  readonly log: () => Log;
  /** Counts the root fields of an operation after the first as requests of their own. Throws REQUESTS_EXCEEDED. */
  readonly count: (httpContext: HttpContext, requests: number) => void | Promise<void>;
}

const scopes: readonly (readonly [string, GraphqlScope])[] = [
  ['/graphql', 'items'],
  ['/graphql/system', 'system'],
];

export function createGraphqlEndpoints(options: GraphqlEndpointsOptions): readonly Endpoint[] {
  return scopes.map(([url, scope]) => ({
    url,
    handlers: new Map<Method, Handler>([
      ['GET', (httpContext, call) => get(options, scope, httpContext, call)],
      ['POST', (httpContext, call, body) => post(options, scope, httpContext, call, body)],
    ]),
  }));
}

async function get(
  options: GraphqlEndpointsOptions,
  scope: GraphqlScope,
  httpContext: HttpContext,
  call: Call,
): Promise<void> {
  const form = readAccept(httpContext.request.headers.accept);
  if (form.page && options.page !== null) return options.page(httpContext, call, undefined);
  await respond(options, { scope, httpContext, call, form, queriesOnly: true }, () => readGraphqlQuery(call.query));
}

function post(
  options: GraphqlEndpointsOptions,
  scope: GraphqlScope,
  httpContext: HttpContext,
  call: Call,
  body: JsonValue | undefined,
): Promise<void> {
  const form = readAccept(httpContext.request.headers.accept);
  return respond(options, { scope, httpContext, call, form, queriesOnly: false }, () => readGraphqlBody(body));
}

/** One request whose parameters are still to be read. */
interface OperationRequest {
  readonly scope: GraphqlScope;
  readonly httpContext: HttpContext;
  readonly call: Call;
  readonly form: AcceptedForm;
  readonly queriesOnly: boolean;
}

async function respond(
  options: GraphqlEndpointsOptions,
  requested: OperationRequest,
  read: () => GraphqlParameters,
): Promise<void> {
  const { responder, log } = options;
  const { httpContext, form } = requested;
  let parameters: GraphqlParameters | undefined;
  try {
    parameters = read();
    const { body, headers } = await run(options, requested, parameters);
    responder.send(httpContext, {
      status: 200,
      type: mediaTypes[form.type],
      body,
      headers: headers.length === 0 ? vary : [...vary, ...headers],
    });
  } catch (thrown) {
    const error = toAnswerError(thrown);
    logFailure(log(), httpContext.request, error);
    // An unusable document is an answer of GraphQL; a failure before it is read is one of HTTP.
    const ok = parameters !== undefined && form.alwaysOk && error.code === 'INVALID_QUERY';
    responder.send(httpContext, {
      status: ok ? 200 : error.status,
      type: mediaTypes[form.type],
      body: Buffer.from(documentErrorBody(error)),
      headers: [...vary, ...Object.entries(error.headers).flat()],
    });
  }
}

function run(
  options: GraphqlEndpointsOptions,
  requested: OperationRequest,
  parameters: GraphqlParameters,
): Promise<OperationAnswer> {
  const text = options.findDocument(parameters);
  const answerDocument = options.load();
  if (typeof text === 'string' && typeof answerDocument === 'function') {
    return runText(options, requested, parameters, text, answerDocument);
  }
  return Promise.all([text, answerDocument]).then((there) => runText(options, requested, parameters, ...there));
}

function runText(
  options: GraphqlEndpointsOptions,
  { scope, httpContext, call, queriesOnly }: OperationRequest,
  parameters: GraphqlParameters,
  text: string,
  answerDocument: AnswerGraphql,
): Promise<OperationAnswer> {
  return answerDocument({
    scope,
    queriesOnly,
    text,
    operationName: parameters.operationName,
    variables: parameters.variables,
    caller: call.caller,
    request: httpContext.request,
    admit: (operation) => admit(options, httpContext, operation),
  });
}

/** The answer depends on the `Accept` header. */
const vary = ['Vary', 'Accept'];

function admit(
  { count }: GraphqlEndpointsOptions,
  httpContext: HttpContext,
  { rootFields, collections, keepable }: Operation,
): string | undefined | Promise<string | undefined> {
  const { [requestRecord]: record } = httpContext.request;
  if (record !== undefined) record.collections = collections;
  if (rootFields === 1 && !keepable) return undefined;
  const key = (): string | undefined =>
    keepable ? readIdempotencyKey(httpContext.request.headers['idempotency-key']) : undefined;
  const counted = rootFields > 1 ? count(httpContext, rootFields - 1) : undefined;
  return counted instanceof Promise ? counted.then(key) : key();
}
