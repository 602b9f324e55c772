/** Everything that answers below `/graphql`, put together. */

import { readFile } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { type Environment, readLimits } from '../../environment.ts';
import {
  anyDocument,
  type FindDocument,
  type OperationRunner,
  trustedDocuments,
} from '../../graphql/documents/operation.ts';
import type { FindSchema } from '../../graphql/documents/schemas.ts';
import type { OperationRunnerOptions } from '../../graphql/run.ts';
import type { GraphqlService, GraphqlServiceOptions } from '../../graphql/service.ts';
import type { CompiledApi } from '../../language/index.ts';
import type { RequestLimiter } from '../../limits/request-limiter.ts';
import { logFailure } from '../../operate/log.ts';
import { splitTarget } from '../../query/parse/target.ts';
import type { Endpoint, Handler } from '../endpoints.ts';
import { findPackagedFile, largeFile, packagedFiles } from '../pages/docs.ts';
import { type HttpContext, mediaTypes, type Responder, type StreamingResponder } from '../responses/answer.ts';
import { createGraphqlEndpoints, type GraphqlEndpointsOptions } from './graphql-routes.ts';
import type { GraphqlServicesOptions } from './graphql-services.ts';

/** Parts of a server that answer GraphQL. */
interface OpenGraphqlOptions
  extends Omit<GraphqlOptions, 'count' | 'loadRunner' | 'responder'>,
    Omit<GraphqlServicesOptions, 'printSchema'>,
    Required<
      Pick<OperationRunnerOptions, 'database' | 'driftGuard' | 'writer' | 'createCache' | 'passes' | 'functions'>
    > {
  readonly responder: StreamingResponder;
  readonly limiter: RequestLimiter | null;
}

export function openGraphql({ limiter, bound, ...parts }: OpenGraphqlOptions): GraphqlFace {
  const { api, database, driftGuard, writer, createCache, passes, functions, senderOf, environment, responder, log } =
    parts;
  return createGraphqlFace({
    ...parts,
    count: async ({ request }, requests) => {
      await Promise.all(Array.from({ length: requests }, () => limiter?.admit(request)));
    },
    async loadRunner(findSchema) {
      const { createOperationRunner } = await import('../../graphql/run.ts');
      const { createSchemaPrinter } = await import('../../graphql/documents/schemas.ts');
      const { createGraphqlServices } = await import('./graphql-services.ts');
      const printSchema = environment.graphql.limits.introspection ? createSchemaPrinter(findSchema) : null;
      return createOperationRunner({
        ...{ api, database, driftGuard, writer, createCache, passes, functions, senderOf },
        limits: readLimits(environment),
        service: createGraphqlServices({ printSchema, bound, senderOf }),
        unsent: responder.unsentOf,
        clientOf: responder.clientOf,
        late: responder.late,
        report: (request, error) => logFailure(log(), request, error),
      });
    },
  });
}

interface GraphqlOptions
  extends Pick<GraphqlEndpointsOptions, 'log' | 'count'>,
    Pick<GraphqlServiceOptions, 'createDocumentCache'> {
  readonly api: CompiledApi;
  readonly responder: Responder;
  readonly environment: Environment;
  /** Answers no documents but those that were compiled with the API. */
  readonly trusted: boolean;
  /** Loads the code that compiles and runs operations. */
  readonly loadRunner: (findSchema: FindSchema) => Promise<OperationRunner>;
}

/** Endpoints and preparation of GraphQL. */
interface GraphqlFace {
  /** None where the API was compiled without it. */
  readonly endpoints: readonly Endpoint[];
  /** Prepares the documents that were compiled with the API, so that later requests need not wait. */
  readonly warm: () => Promise<void>;
}

function createGraphqlFace(options: GraphqlOptions): GraphqlFace {
  const { api, responder, environment, trusted, loadRunner, log, count, createDocumentCache } = options;
  const { graphql: read } = api;
  if (read === undefined) return { endpoints: [], warm: async () => {} };
  const graphiql = environment.graphql.graphiql ? createGraphiql(responder) : null;
  const { limits } = environment.graphql;
  // graphql-js takes longer to load than everything else together, so only servers that are asked do it.
  const loadSchemas = once(async () => {
    const { createSchemas, createSchemaPrinter } = await import('../../graphql/documents/schemas.ts');
    const find = createSchemas(read);
    return { find, print: createSchemaPrinter(find) };
  });
  let service: GraphqlService | undefined;
  const load = once(async (): Promise<GraphqlService> => {
    const { find: findSchema } = await loadSchemas();
    const { GraphqlService } = await import('../../graphql/service.ts');
    service = new GraphqlService({
      ...{ findSchema, limits },
      runner: await loadRunner(findSchema),
      ...(createDocumentCache && { createDocumentCache }),
    });
    return service;
  });
  const documents = once(() => readDocuments(api));
  const endpoints = createGraphqlEndpoints({
    responder,
    load: () => service?.answer ?? load().then(({ answer: response }) => response),
    findDocument: trusted ? async (requested) => (await documents())(requested) : anyDocument,
    page: graphiql?.page ?? null,
    log,
    count,
  });
  const print: PrintSchema = async (...parameters) => (await loadSchemas()).print(...parameters);
  const texts = limits.introspection ? schemaEndpoints(responder, print) : [];
  return {
    endpoints: [...endpoints, ...texts, ...(graphiql?.endpoints ?? [])],
    async warm() {
      const [operations = [], texts = {}] = await Promise.all([api.graphqlOperations?.(), api.graphqlDocuments?.()]);
      if (operations.length === 0) return;
      const loaded = await load();
      for (const { accessClass, scope, hash } of operations) {
        const text = texts[hash];
        if (text !== undefined) await loaded.prepare(accessClass, scope, text);
        // Requests that arrive meanwhile need not wait for all documents.
        await setImmediate();
      }
    },
  };
}

type PrintSchema = (...parameters: Parameters<FindSchema>) => Promise<string>;

/** The schema of the caller as a file (specification, section 13); no such route where it may not be requested. */
function schemaEndpoints(responder: Responder, print: PrintSchema): readonly Endpoint[] {
  const files = [
    ['/server/specs/graphql', 'items'],
    ['/server/specs/graphql/items', 'items'],
    ['/server/specs/graphql/system', 'system'],
  ] as const;
  return files.map(([url, scope]): Endpoint => {
    const headers = ['Content-Disposition', `attachment; filename="${scope}.graphql"`];
    const send: Handler = async (httpContext, { caller }) => {
      const body = Buffer.from(await print(caller.accessClass, scope));
      responder.send(httpContext, { status: 200, type: mediaTypes.sdl, body, headers });
    };
    return { url, handlers: new Map([['GET', send]]) };
  });
}

async function readDocuments({ graphqlDocuments }: CompiledApi): Promise<FindDocument> {
  return trustedDocuments(graphqlDocuments === undefined ? {} : await graphqlDocuments());
}

/** Does something once, and again only where it failed. */
function once<T>(create: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= create().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

const folder = '/graphql/graphiql';

/** Scripts, styles and requests are this server's alone; fonts and pictures lie in the style sheet. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page, by the way from its address to that folder: a proxy may add a path in front of both. */
const pageFrom = (way: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${way}/graphiql.css">
<link rel="stylesheet" href="${way}/page.css">
</head>
<body>
<div id="graphiql"><p>Loading …</p></div>
<script src="${way}/react.js"></script>
<script src="${way}/react-dom.js"></script>
<script src="${way}/graphiql.js"></script>
<script src="${way}/page.js"></script>
</body>
</html>
`;

const css = `html, body { margin: 0; height: 100%; }
#graphiql { height: 100vh; }
#graphiql > p { margin: 1rem; font-family: sans-serif; }
`;

const source = `'use strict';
const fetcher = GraphiQL.createFetcher({ url: location.pathname });
const query = new URLSearchParams(location.search).get('query') ?? undefined;
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, { fetcher, query, defaultEditorToolsVisibility: true }),
);
`;

const assets: Readonly<Record<string, Buffer>> = { 'page.css': Buffer.from(css), 'page.js': Buffer.from(source) };

/**
 * Makes the page of a server.
 *
 * GraphiQL: a page to ask from, for browsers that open `/graphql` or `/graphql/system`. It loads nothing from anywhere
 * else, and asks no other server than the one that it came from.
 */
function createGraphiql(responder: Responder) {
  return {
    async page(httpContext: HttpContext): Promise<void> {
      const { path } = splitTarget(httpContext.request.url ?? '');
      const body = Buffer.from(pageFrom(`${'../'.repeat(path.split('/').length - 2)}${folder.slice(1)}`));
      const headers = ['Vary', 'Accept'];
      responder.send(httpContext, { status: 200, type: mediaTypes.html, policy, headers, body });
    },
    endpoints: [
      ...Object.keys(packagedFiles).map((name) =>
        largeFile(responder, `${folder}/${name}`, () => readFile(findPackagedFile(name))),
      ),
      ...Object.entries(assets).map(([name, text]) => largeFile(responder, `${folder}/${name}`, async () => text)),
    ],
  };
}
