/** The routes below `/functions`: calls of functions and procedures of the database. */
import type { IncomingMessage } from 'node:http';
import type { Caller } from '../caller.ts';
import { argumentsIn, functionNamed, functionPath, planGet, planSearch } from '../functions/read-call.ts';
import { type Callable, createFunctions, type Functions, noFunction, toFunctionError } from '../functions/service.ts';
import type { CompiledApi } from '../language/index.ts';
import type { CreateCache } from '../language/values/bounded-cache.ts';
import { defaultReadLimits } from '../query/parse/parse-read.ts';
import type { ReadLimits } from '../query/parse/request.ts';
import { splitTarget } from '../query/parse/target.ts';
import type { PlannedRead, Planner } from '../query/planner.ts';
import { readIdempotencyKey } from '../write/execute/idempotency.ts';
import type { RequestOrigin } from '../write/execute/running.ts';
import type { Writer } from '../write/writer.ts';
import type { Endpoint, Handler, Method } from './endpoints.ts';
import { type HttpContext, jsonAnswer, type Responder } from './responses/answer.ts';
import type { Reader } from './responses/read.ts';

/** Parts of a server that calls of functions use. */
interface FunctionEndpointsOptions {
  readonly api: CompiledApi;
  readonly functions: Functions;
  readonly reader: Reader;
  readonly writer: Pick<Writer, 'once'>;
  readonly responder: Responder;
  readonly limits: ReadLimits;
  readonly senderOf: (request: IncomingMessage) => RequestOrigin;
}

/** Makes the endpoints; none where the API serves no function. */
function functionEndpoints(options: FunctionEndpointsOptions): readonly Endpoint[] {
  if ((options.api.functions ?? []).length === 0) return [];
  const { functions, reader, writer, responder, limits, senderOf } = options;

  function callable(httpContext: HttpContext, caller: Caller, reads: boolean): Callable {
    const { path } = splitTarget(httpContext.request.url ?? '');
    const found = functions.find(caller, functionNamed(path) ?? '');
    if (found === undefined || found.descriptor.reads !== reads) throw noFunction();
    return found;
  }

  async function respond(httpContext: HttpContext, { descriptor }: Callable, planned: PlannedRead): Promise<void> {
    const { returns } = descriptor;
    try {
      if (returns.kind === 'nothing') {
        await reader.nothing(httpContext, planned);
      } else {
        await (planned.plan.many ? reader.list(httpContext, planned) : reader.singleton(httpContext, planned));
      }
    } catch (error) {
      throw toFunctionError(error, false);
    }
  }

  const get: Handler = async (httpContext, { caller, query }) => {
    const found = callable(httpContext, caller, true);
    await respond(httpContext, found, planGet(functions, caller, found, query, limits));
  };

  const search: Handler = async (httpContext, { caller }, body) => {
    const found = callable(httpContext, caller, true);
    await respond(httpContext, found, planSearch(functions, caller, found, body));
  };

  const post: Handler = async (httpContext, { caller, query }, body) => {
    const found = callable(httpContext, caller, false);
    const { request } = httpContext;
    const key = readIdempotencyKey(request.headers['idempotency-key']);
    const args = { values: new Map(Object.entries(argumentsIn(body))), text: false };
    const collection = `functions/${found.descriptor.name}`;
    const requested = { caller, collection, query, sender: senderOf(request), ...(key !== undefined && { key }) };
    const kept = await writer.once(requested, body, () => functions.write(requested, found, args));
    responder.send(httpContext, jsonAnswer(kept.status, kept.body));
  };

  return [
    {
      url: functionPath,
      handlers: new Map<Method, Handler>([
        ['GET', get],
        ['SEARCH', search],
        ['POST', post],
      ]),
    },
  ];
}

/** Parts of a server that functions of the database need. */
interface OpenCallsOptions extends Omit<FunctionEndpointsOptions, 'functions' | 'limits'> {
  readonly planner: Planner;
  readonly writer: Pick<Writer, 'once' | 'returning'>;
  readonly createCache: CreateCache;
  readonly limits: { readonly limits?: Partial<ReadLimits> };
}

/** Opens the functions of an API: their endpoints, and which paths lead to none that exists for a caller. */
export function openCalls(options: OpenCallsOptions) {
  const limits = { ...defaultReadLimits, ...options.limits.limits };
  const functions = createFunctions({ ...options, limits });
  const endpoints = functionEndpoints({ ...options, functions, limits });
  return { functions, endpoints, isHidden: hidesFunctions(functions) };
}

function hidesFunctions(functions: Functions): (caller: Caller, path: string) => boolean {
  return (caller, path) => {
    const name = functionNamed(path);
    return name !== undefined && functions.find(caller, name) === undefined;
  };
}
