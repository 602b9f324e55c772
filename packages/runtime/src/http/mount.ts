/** Hangs endpoints into the web framework, each with an answer to OPTIONS. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Environment } from '../environment.ts';
import type { Endpoint, Handler } from './endpoints.ts';
import { failRequest } from './fastify-adapter.ts';
import type { Responder } from './responses/answer.ts';
import { preflightHeaders } from './responses/cors.ts';

export function mountEndpoint(
  server: FastifyInstance,
  responder: Responder,
  environment: Environment,
  endpoint: Endpoint,
): void {
  const { url, handlers, takesForms = false, takesParts = false } = endpoint;
  for (const [method, handler] of handlers) {
    server.route({
      method: method === 'GET' ? ['GET', 'HEAD'] : [method],
      url,
      config: { takesForms, takesParts },
      handler(request, reply) {
        reply.hijack();
        void runHandler(handler, responder, request, reply);
      },
    });
  }
  const allow = [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  server.route({ method: 'OPTIONS', url, handler: optionsHandler(responder, environment, [...allow, 'OPTIONS']) });
}

async function runHandler(
  handler: Handler,
  responder: Responder,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  try {
    if (request.call === null) throw new Error('A handler ran before its request was judged.');
    await handler({ request: request.raw, response: reply.raw }, request.call, request.json);
  } catch (error) {
    failRequest(responder, request, reply, error);
  }
}

function optionsHandler(responder: Responder, environment: Environment, allow: readonly string[]) {
  return function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const httpContext = { request: request.raw, response: reply.raw };
    const headers = ['Allow', allow.join(', '), ...preflightHeaders(environment.cors, request.raw)];
    responder.send(httpContext, { status: 200, headers });
  };
}
