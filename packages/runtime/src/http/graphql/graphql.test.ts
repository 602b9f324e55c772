import { hash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, expect, test } from 'vitest';
import type { Variables } from '../../environment.ts';
import { createByteCache } from '../../graphql/byte-cache.ts';
import type { Operation } from '../../graphql/documents/operation.ts';
import { createSchemas } from '../../graphql/documents/schemas.ts';
import { GraphqlService } from '../../graphql/service.ts';
import type { CompiledApi } from '../../language/index.ts';
import { createPlanner } from '../../query/planner.ts';
import { createLateDatabase } from '../../serve/late-database.ts';
import { createServer, type ServerOptions } from '../server.ts';
import { api, environmentOf, startServer } from '../testing/fixture.ts';

const schema = `
scalar Void

type Query {
  articles(limit: Int): [articles!]!
}

type SystemQuery {
  _empty: Void
}

type articles {
  id: Int!
}
`;
const documents = { trusted: '{ __typename }', larger: '{ a: __typename b: __typename c: __typename }' };

let server: FastifyInstance | undefined;
afterEach(async () => {
  await server?.close();
});

/** Asks a new server over a database that is away. */
async function open(
  variables: Variables = {},
  parts: Partial<CompiledApi> = {},
  options: Pick<ServerOptions, 'trustedDocuments'> = {},
) {
  const { database } = createLateDatabase(async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  });
  const whole: CompiledApi = { ...api, graphql: async () => schema, ...parts };
  const made = createServer({
    api: whole,
    database,
    environment: environmentOf({ LOG_LEVEL: 'silent', ...variables }),
    planner: createPlanner(whole),
    watch: {
      drifts: () => [],
      closed: () => new Set(),
      checked: () => true,
      damaged: () => false,
      refresh: async () => {},
    },
    ...options,
  });
  server = made;
  return async (query: string, url = '/graphql', member = 'query') => {
    const payload = JSON.stringify({ [member]: query });
    const response = await made.inject({
      method: 'POST',
      url,
      payload,
      headers: { 'content-type': 'application/json' },
    });
    return { status: response.statusCode, body: response.body, headers: response.headers };
  };
}

test('an API that was compiled without GraphQL has no such routes', async () => {
  server = await startServer();
  for (const url of ['/graphql', '/graphql/system', '/server/specs/graphql']) {
    expect((await server.inject({ url })).statusCode, url).toBe(404);
  }
});

test('a database that is away fails the field, and is no bug', async () => {
  const ask = await open();
  const { status, body } = await ask('{ articles { id } }');
  expect([status, JSON.parse(body).errors[0].extensions.code]).toEqual([200, 'SERVICE_UNAVAILABLE']);
});

test('a schema that cannot be read is a bug for this request, and may be there for the next one', async () => {
  let broken = true;
  const graphql = async () => {
    if (broken) throw new Error('ENOENT');
    return schema;
  };
  const ask = await open({}, { graphql });
  expect((await ask('{ __typename }')).status).toBe(500);
  broken = false;
  expect((await ask('{ __typename }')).body).toBe('{"data":{"__typename":"Query"}}');
});

test('there is no page unless it is asked for', async () => {
  await open();
  const response = await server?.inject({ url: '/graphql', headers: { accept: 'text/html' } });
  expect([response?.statusCode, response?.headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
  expect((await server?.inject({ url: '/graphql/graphiql/page.js' }))?.statusCode).toBe(404);
});

test('the schema can be kept from everybody', async () => {
  const ask = await open({ GRAPHQL_INTROSPECTION: 'false' });
  for (const query of ['{ __schema { types { name } } }', '{ articles { id } x: __type(name: "articles") { name } }']) {
    expect((await ask(query)).status).toBe(400);
  }
  expect((await ask('{ __typename }')).status).toBe(200);
  expect((await server?.inject({ url: '/server/specs/graphql' }))?.statusCode).toBe(404);
});

test('every root field counts as a request', async () => {
  const ask = await open({ RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '5', RATE_LIMITER_DURATION: '1h' });
  expect((await ask(documents.larger)).status).toBe(200);
  expect((await ask(documents.trusted)).status).toBe(200);
  const refused = await ask(documents.larger);
  expect([refused.status, JSON.parse(refused.body).errors[0].extensions.code]).toEqual([429, 'REQUESTS_EXCEEDED']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(3_000);
});

test('with trusted documents alone, no other is answered', async () => {
  const id = hash('sha256', documents.trusted);
  const graphqlDocuments = async () => ({ [id]: documents.trusted });
  const ask = await open({}, { graphqlDocuments }, { trustedDocuments: true });
  expect((await ask(documents.trusted)).status).toBe(200);
  expect((await ask(id, '/graphql', 'documentId')).body).toBe('{"data":{"__typename":"Query"}}');
  expect((await ask(id, '/graphql/system', 'documentId')).body).toBe('{"data":{"__typename":"SystemQuery"}}');
  for (const query of [documents.larger, '{ __schema { types { name } } }', `${documents.trusted} `]) {
    const { status, body } = await ask(query);
    expect([status, JSON.parse(body).errors[0].extensions.code]).toEqual([400, 'INVALID_QUERY']);
  }
  expect((await ask('abc', '/graphql', 'documentId')).status).toBe(400);
});

test('a document is prepared beforehand for requests with the name of its operation and without', async () => {
  const operation: Operation = { kind: 'query', rootFields: 1, collections: [], keepable: false };
  let compiled = 0;
  const service = new GraphqlService({
    findSchema: createSchemas(async () => schema),
    limits: environmentOf({}).graphql.limits,
    createDocumentCache: createByteCache,
    runner: {
      compile() {
        compiled += 1;
        return operation;
      },
      plan: () => [],
      run: async () => ({ body: Buffer.from('{}'), headers: [] }),
    },
  });
  const text = 'query Articles { articles { id } }';
  const caller = { accessClass: 'public', user: null, role: null };
  const request = new IncomingMessage(new Socket());
  const sent = { scope: 'items', text, queriesOnly: false, variables: {}, caller, request } as const;
  await service.prepare('public', 'items', text);
  for (const operationName of ['Articles', null])
    await service.answer({ ...sent, operationName, admit: () => undefined });
  expect(compiled).toBe(1);
  await expect(service.answer({ ...sent, operationName: 'Others', admit: () => undefined })).rejects.toThrow();
});
