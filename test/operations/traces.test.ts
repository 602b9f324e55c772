/** Spans of requests on every surface, exported by OTLP to a collector. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMagazineDatabase } from '../support/magazine.ts';
import { scrape } from '../support/metered.ts';
import { isWithout } from '../support/optimizations.ts';
import { administrator, createProject, type Platform } from '../support/platform.ts';
import { installSystem } from '../support/system.ts';
import { ofKind, openTracing, post, type Tracing, tree } from '../support/traced.ts';

let tracing: Tracing;
beforeAll(async () => {
  tracing = await openTracing();
});
afterAll(() => tracing?.close());

const traced: Tracing['traced'] = (...options) => tracing.traced(...options);

describe('a request', () => {
  it('has a span with its route, and one of each statement below it', async () => {
    const { server, statements } = tree(await traced((platform) => platform.ask('/items/docs/7')));
    expect(server).toMatchObject({ name: 'GET /items/:collection/:key', service: 'shop', failed: false });
    expect(server.parentSpanId).toBeUndefined();
    expect(server.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/items/:collection/:key',
      'http.response.status_code': 200,
      'tablewright.class': 'public',
      'tablewright.collection': 'docs',
      'url.scheme': 'http',
    });
    expect(statements).toHaveLength(1);
    const [statement] = statements;
    expect(statement).toMatchObject({ name: 'SELECT docs', parentSpanId: server.spanId, links: [], failed: false });
    expect(statement?.attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.operation.name': 'SELECT',
      'db.collection.name': 'docs',
      'db.query.summary': 'SELECT docs',
      'db.query.text': 'SELECT t0."id", t0."title" FROM "public"."docs" t0 WHERE t0."id" = $1::int4',
      'db.response.returned_rows': 1,
    });
    const { start = 0, end = 0 } = statement ?? {};
    expect([server.start <= start, start <= end, end <= server.end]).toEqual([true, true, true]);
    expect(Math.abs(server.end - Date.now())).toBeLessThan(60_000);
  });

  it('that fails says why', async () => {
    const spans = await traced(async (server) => {
      await post(server, { id: 1 });
      await server.ask('/items/unknown_of_a_client/5');
      await server.ask('/nothing/of-a-client');
      await server.ask('/items/docs/1', { token: 'wrong' });
      await server.ask('/items/docs/1', { method: 'PURGE' });
    });
    const [created, unknown, lost, refused, odd] = ofKind(spans, 'server');
    expect(created).toMatchObject({
      name: 'POST /items/:collection',
      failed: false,
      attributes: { 'http.response.status_code': 400, 'error.type': 'FAILED_VALIDATION' },
    });
    const failed = ofKind(spans, 'client').filter((span) => span.failed);
    expect(failed[0]).toMatchObject({ name: 'INSERT docs', attributes: { 'error.type': '23505' } });
    expect(unknown?.attributes).toMatchObject({ 'http.response.status_code': 403, 'error.type': 'FORBIDDEN' });
    expect(lost).toMatchObject({ name: 'GET', attributes: { 'http.response.status_code': 404 } });
    expect(refused?.attributes['error.type']).toBe('INVALID_CREDENTIALS');
    expect(refused?.attributes['tablewright.class']).toBeUndefined();
    expect(odd?.attributes['http.request.method']).toBe('_OTHER');
    expect(tracing.collector.text()).not.toContain('of_a_client');
    expect(tracing.collector.text()).not.toContain('of-a-client');
  });

  it('continues the trace of its client, whose id the log has', async () => {
    const trace = '0af7651916cd43dd8448eb211c80319c';
    let log = () => '';
    const spans = await traced(
      async (server) => {
        log = server.log;
        await server.ask('/items/docs/1', { headers: { traceparent: `00-${trace}-b7ad6b7169203331-01` } });
        for (const broken of [`00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `00-${trace}-${'0'.repeat(16)}-01`, 'x']) {
          await server.ask('/items/docs/1', { headers: { traceparent: broken, tracestate: 'a=of-a-client' } });
        }
      },
      { ACCESS_LOG: 'all', LOG_LEVEL: 'info' },
    );
    const [first, ...others] = ofKind(spans, 'server');
    expect(first).toMatchObject({ traceId: trace, parentSpanId: 'b7ad6b7169203331' });
    expect(others.map(({ parentSpanId, traceId }) => [parentSpanId, traceId === trace])).toEqual(
      others.map(() => [undefined, false]),
    );
    const told = [...log().matchAll(/"traceId":"(\w+)"/g)].map(([, id]) => id);
    expect(told).toEqual(ofKind(spans, 'server').map(({ traceId }) => traceId));
    expect(tracing.collector.text()).not.toContain('of-a-client');
  });

  it('of GraphQL names its collections', async () => {
    const documents = [
      '{ docs(limit: 1) { id } more: docs(limit: 2) { id } }',
      '{ notes { id } docs(limit: 1) { id } __typename }',
      'mutation { create_notes_item(data: { id: 21 }) { id } }',
      'query ($with: Boolean!) { docs(limit: 1) { id } notes @include(if: $with) { id } }',
      '{ __typename }',
      '{ secrets { id } }',
    ];
    const spans = await traced(async (server) => {
      for (const query of documents) {
        await server.ask('/graphql', { method: 'POST', body: { query, variables: { with: false } } });
      }
      await server.admin('/graphql', { method: 'POST', body: { query: '{ secrets { id } }' } });
    });
    expect(ofKind(spans, 'server').map(({ attributes }) => attributes['tablewright.collection'])).toEqual([
      'docs',
      ['notes', 'docs'],
      'notes',
      ['docs', 'notes'],
      undefined,
      // For the class it is unknown, so that the document is refused.
      undefined,
      'secrets',
    ]);
  });

  it('of another surface has spans, too', async () => {
    const query = 'query ($most: Int) { docs(limit: $most) { id } }';
    const spans = await traced(async (server) => {
      await server.ask('/graphql', { method: 'POST', body: { query, variables: { most: 3 } } });
      await server.admin('/items/docs?limit=-1');
      await server.ask('/items/docs/1', { method: 'PATCH', body: { title: 'Changed' } });
    });
    const rowsOf = (name: string) => {
      const parent = ofKind(spans, 'server').find((span) => span.name === name)?.spanId;
      const below = ofKind(spans, 'client').filter((span) => span.parentSpanId === parent);
      return below.map((span) => [span.name, span.attributes['db.response.returned_rows']]);
    };
    expect(rowsOf('POST /graphql')).toEqual([['SELECT docs', 3]]);
    expect(rowsOf('GET /items/:collection')).toEqual([['SELECT docs', 200]]);
    const answer = isWithout('single-statement') ? [['SELECT docs', 1]] : [];
    expect(rowsOf('PATCH /items/:collection/:key')).toEqual([['UPDATE docs', 1], ...answer]);
  });
});

/** Number of requests that a server with METRICS_PORT has begun and not ended. */
async function activeRequests(server: Platform): Promise<number | undefined> {
  const metrics = await scrape(/"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '');
  return metrics.value('http_server_active_requests');
}

it('a client that leaves before the answer is no success', async () => {
  const spans = await traced(
    async (server) => {
      const leaving = request(`${server.url}/items/docs`, { method: 'POST', headers: { 'content-length': '100' } });
      leaving.on('error', () => {});
      leaving.write('{');
      await expect.poll(() => activeRequests(server)).toBe(1);
      leaving.destroy();
      await expect.poll(() => activeRequests(server)).toBe(0);
    },
    { METRICS_PORT: '0' },
  );
  expect(ofKind(spans, 'server')).toMatchObject([{ failed: true, attributes: { 'error.type': 'connection' } }]);
});

it('the sample has spans on every surface, and none holds a value', async () => {
  const sample = await createProject('fixtures/magazine');
  const magazine = await createMagazineDatabase();
  await installSystem(magazine.url);
  try {
    const use = async (server: Platform) => {
      const form = new FormData();
      form.append('file', new Blob(['text-of-a-client']), 'name-of-a-client.txt');
      await server.ask('/auth/login', { method: 'POST', body: administrator });
      await server.admin('/files', { method: 'POST', body: form });
      await server.admin('/users?filter[email][_contains]=example');
      await server.admin('/graphql/system', { method: 'POST', body: { query: '{ users { email } }' } });
      await server.admin('/items/articles?limit=2&fields=title&search=of-a-client');
      await server.admin('/graphql', { method: 'POST', body: { query: '{ articles(limit: 3) { title } }' } });
      await server.ask('/server/ping');
    };
    const spans = await traced(use, {}, ['--generate'], [sample.folder, magazine.url]);
    const named = ofKind(spans, 'server').map(({ name, attributes }) => [
      name,
      attributes['http.response.status_code'],
    ]);
    expect(named).toEqual([
      ['POST /auth/login', 200],
      ['POST /files', 200],
      ['GET /users', 200],
      ['POST /graphql/system', 200],
      ['GET /items/:collection', 200],
      ['POST /graphql', 200],
      ['GET /server/ping', 200],
    ]);
    for (const { name, spanId } of ofKind(spans, 'server').slice(0, -1)) {
      const below = ofKind(spans, 'client').filter(({ parentSpanId }) => parentSpanId === spanId);
      expect([name, below.length > 0]).toEqual([name, true]);
    }
    for (const secret of ['of-a-client', administrator.email, administrator.password, '2a2a2a', 'argon2']) {
      expect(tracing.collector.text()).not.toContain(secret);
    }
  } finally {
    await magazine.drop();
    await sample.remove();
  }
});
