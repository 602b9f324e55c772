/** The routes of a project's own code: from a request to typed values, and from the code's result to an answer. */
import type { IncomingMessage } from 'node:http';
import type { ReadClient } from '../database/database.ts';
import { type ErrorCode, forbidden, PlatformError, together } from '../errors.ts';
import { encodeShape, type Fitted, fitJson, fitTexts } from '../extensions/shapes.ts';
import type { CompiledApi, CustomRoute, JsonValue, ObjectShape, RegisteredRoute } from '../language/index.ts';
import { decodeQueryText, readPathTexts, splitTarget } from '../query/parse/target.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { Writer } from '../write/writer.ts';
import type { Call } from './call.ts';
import { type HttpContext, mediaTypes, type StreamingResponder } from './responses/answer.ts';

/** A route with the handler that answers it. */
export interface CustomEndpoint {
  readonly method: CustomRoute['method'];
  /** `/reports/:year` */
  readonly url: string;
  readonly handler: (httpContext: HttpContext, call: Call, body: JsonValue | undefined) => Promise<void>;
}

interface CustomRouteOptions {
  readonly api: CompiledApi;
  readonly writer: Pick<Writer, 'openFor'>;
  readonly responder: Pick<StreamingResponder, 'send' | 'clientOf'>;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Links the routes as they were compiled with their code. Throws where one of the two is missing. */
export function createCustomEndpoints(options: CustomRouteOptions): readonly CustomEndpoint[] {
  const { extensions = [], customRoutes = [] } = options.api;
  const registered = new Map(extensions.flatMap(({ routes }) => routes.map((route) => [route.path, route] as const)));
  const endpoints = customRoutes.map((route): CustomEndpoint => {
    const { method, path } = route;
    const code = registered.get(`${method} ${path}`);
    registered.delete(`${method} ${path}`);
    if (code === undefined) throw unlike(`${method} ${path}`);
    return { method, url: path, handler: (...request) => answerRoute(options, route, code, ...request) };
  });
  const [left] = registered.keys();
  if (left !== undefined) throw unlike(left);
  return endpoints;
}

function unlike(path: string): Error {
  return new Error(`The route "${path}" is not what was compiled. Run \`platform generate\` again.`);
}

/** In the order of the API specification, section 1.5: syntax, permission, values. */
async function answerRoute(
  { writer, responder, senderOf }: CustomRouteOptions,
  route: CustomRoute,
  code: RegisteredRoute,
  httpContext: HttpContext,
  { caller, query: raw }: Call,
  sent: JsonValue | undefined,
): Promise<void> {
  const texts = readQueryTexts(raw);
  if (!route.access.includes(caller.accessClass)) throw forbidden();
  const { path } = splitTarget(httpContext.request.url ?? '');
  const problems: string[] = [];
  const params = readMembers(route.params, readPathTexts(route.path, path) ?? new Map(), problems);
  const query = readMembers(route.query, texts, problems);
  raise('INVALID_QUERY', problems);
  const body = readBody(route, sent);
  const client = route.method === 'GET' ? new UnansweredClient(responder, httpContext) : undefined;
  const input = { caller, ...writer.openFor(caller, senderOf(httpContext.request), client), params, query, body };
  const value = await code.run(input);
  if (route.response === undefined) {
    responder.send(httpContext, { status: 204 });
    return;
  }
  const bytes = Buffer.from(JSON.stringify(encodeShape(route.response, value)));
  responder.send(httpContext, { status: 200, type: mediaTypes.json, body: bytes });
}

/** Client of what a route reads. Code that goes on after the answer reads for itself, and other methods read for writes. */
class UnansweredClient implements ReadClient {
  readonly #client: ReadClient;
  readonly #response: HttpContext['response'];

  constructor(responder: Pick<StreamingResponder, 'clientOf'>, { request, response }: HttpContext) {
    this.#client = responder.clientOf(request);
    this.#response = response;
  }

  get address(): string {
    return this.#client.address;
  }

  get isGone(): boolean {
    return this.#client.isGone && !this.#response.writableEnded;
  }
}

/** The texts of a query string by their names; that of the token is not among them. */
function readQueryTexts(raw: string): ReadonlyMap<string, readonly string[]> {
  const texts = new Map<string, string[]>();
  for (const part of raw.split('&')) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decodeQueryText(equals === -1 ? part : part.slice(0, equals));
    const value = decodeQueryText(equals === -1 ? '' : part.slice(equals + 1));
    if (name !== 'access_token') texts.set(name, [...(texts.get(name) ?? []), value]);
  }
  return texts;
}

/** The values of texts; everything that is wrong with them goes to the problems. */
function readMembers(
  shape: ObjectShape | undefined,
  texts: ReadonlyMap<string, readonly string[]>,
  problems: string[],
): unknown {
  const members = shape?.members ?? [];
  const names = new Set(members.map(({ name }) => name));
  for (const name of texts.keys()) if (!names.has(name)) problems.push(`"${name}" is not known.`);
  const entries: [string, unknown][] = [];
  for (const { name, optional, shape: type } of members) {
    const sent = texts.get(name);
    if (sent === undefined && optional) continue;
    const fitted: Fitted =
      sent === undefined && type.kind !== 'array'
        ? { ok: false, problems: [`"${name}" is missing.`] }
        : fitTexts(type, sent ?? [], name);
    if (fitted.ok) entries.push([name, fitted.value]);
    else problems.push(...fitted.problems);
  }
  return shape === undefined ? undefined : Object.fromEntries(entries);
}

function readBody({ body: shape }: CustomRoute, sent: JsonValue | undefined): unknown {
  if (shape === undefined) {
    if (sent !== undefined) throw new PlatformError('INVALID_PAYLOAD', 'This takes no body.');
    return undefined;
  }
  if (sent === undefined) throw new PlatformError('INVALID_PAYLOAD', 'The body is empty.');
  const fitted = fitJson(shape, sent, '');
  raise('INVALID_PAYLOAD', fitted.ok ? [] : fitted.problems);
  return fitted.ok ? fitted.value : undefined;
}

/** More problems than this are not listed; the first ones say enough. */
const maxProblems = 100;

function raise(code: ErrorCode, problems: readonly string[]): void {
  const error = together(problems.slice(0, maxProblems).map((problem) => new PlatformError(code, problem)));
  if (error !== undefined) throw error;
}
