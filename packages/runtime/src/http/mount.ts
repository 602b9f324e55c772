/** Hangs endpoints into the web framework, each with an answer to OPTIONS. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Environment } from '../environment.ts';
import { failRequest } from './carrier.ts';
import type { Endpoint, Handler } from './endpoints.ts';
import type { Answerer } from './responses/answer.ts';
import { preflightHeaders } from './responses/cors.ts';

/** Adds the routes of an endpoint to a server. */
export function mountEndpoint(
  server: FastifyInstance,
  answerer: Answerer,
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
        void runHandler(handler, answerer, request, reply);
      },
    });
  }
  const allow = [...handlers.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  server.route({ method: 'OPTIONS', url, handler: optionsHandler(answerer, environment, [...allow, 'OPTIONS']) });
}

async function runHandler(
  handler: Handler,
  answerer: Answerer,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  try {
    if (request.call === null) throw new Error('A handler ran before its request was judged.');
    await handler({ request: request.raw, response: reply.raw }, request.call, request.json);
  } catch (error) {
    failRequest(answerer, request, reply, error);
  }
}

function optionsHandler(answerer: Answerer, environment: Environment, allow: readonly string[]) {
  return function answerOptions(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    const exchange = { request: request.raw, response: reply.raw };
    const headers = ['Allow', allow.join(', '), ...preflightHeaders(environment.cors, request.raw)];
    answerer.send(exchange, { status: 200, headers });
  };
}
