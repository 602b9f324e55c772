/** Spans below that of a request: statements, also those that serve several requests, plans and hooks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { isWithout } from '../support/optimizations.ts';
import type { CollectedSpan } from '../support/otlp-collector.ts';
import type { Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import {
  committed,
  creates,
  mysqlSql,
  ofKind,
  openTracing,
  post,
  projectOver,
  reads,
  sendTogether,
  type Tracing,
  twenty,
} from '../support/traced.ts';

let tracing: Tracing;
beforeAll(async () => {
  tracing = await openTracing();
});
afterAll(() => tracing?.close());

const traced: Tracing['traced'] = (...options) => tracing.traced(...options);

/** Each request once: on its own, or by a link. */
function expectServed(spans: readonly CollectedSpan[], count: number): void {
  const requests = ofKind(spans, 'server').map(({ spanId }) => spanId);
  expect(requests).toHaveLength(count);
  const statements = ofKind(spans, 'client');
  expect(statements.length).toBeLessThan(count);
  for (const { parentSpanId = '', links } of statements.filter((span) => span.links.length > 0)) {
    expect(links.length).toBeGreaterThan(1);
    expect(links.map(({ spanId }) => spanId)).toContain(parentSpanId);
  }
  const served = statements.flatMap(({ parentSpanId = '', links }) =>
    links.length === 0 ? [parentSpanId] : links.map(({ spanId }) => spanId),
  );
  expect(served.toSorted()).toEqual(requests.toSorted());
  const rows = statements.map((span) => Number(span.attributes['db.response.returned_rows']));
  expect(rows.reduce((sum, each) => sum + each, 0)).toBe(count);
}

describe('a statement that serves several requests', () => {
  it.skipIf(isWithout('key-batching'))('is linked to each that reads', async () => {
    const spans = await traced((server) => sendTogether(server, reads(twenty)));
    expectServed(spans, 20);
    const shared = ofKind(spans, 'client').find(({ links }) => links.length > 0);
    expect(shared?.attributes['db.query.text']).toContain('ANY ($1::int4[])');
    expect(shared?.name).toBe('SELECT docs');
  });

  it.skipIf(isWithout('write-batching', 'single-statement'))('is linked to each that writes', async () => {
    const spans = await traced((server) => sendTogether(server, creates(twenty.map((key) => 1000 + key))));
    expectServed(spans, 20);
  });
});

describe.skipIf(isWithout('plan-cache'))('a plan', () => {
  const plansOf = (spans: readonly CollectedSpan[]) =>
    ofKind(spans, 'internal')
      .filter(({ name }) => name === 'plan')
      .map(({ attributes }) => `${attributes['tablewright.plan.cache']} ${attributes['tablewright.plan.result']}`);

  it('is made once, and found from then on', async () => {
    const query = 'query ($most: Int) { docs(limit: $most) { id } }';
    const spans = await traced(async (server) => {
      for (const key of [1, 2]) await server.ask(`/items/docs/${key}`);
      await server.ask('/items/docs/3?fields=*');
      for (const most of [1, 1]) await server.ask('/graphql', { method: 'POST', body: { query, variables: { most } } });
      for (const id of [2001, 2002]) await post(server, { id });
      await server.ask('/items/docs?fields=nothing');
    });
    expect(plansOf(spans)).toEqual([
      'reads miss',
      'read_templates hit',
      'reads hit',
      ...['reads miss', 'graphql hit'],
      ...['writes miss', 'writes hit'],
    ]);
    const [request] = ofKind(spans, 'server');
    const [plan] = ofKind(spans, 'internal');
    expect(plan).toMatchObject({ parentSpanId: request?.spanId, failed: false });
  });
});

describe('a hook', () => {
  const note = (id: number) => (server: Platform) => server.ask('/items/notes', { method: 'POST', body: { id } });

  it('has a span, and what it does is below', async () => {
    const spans = await traced(async (server) => {
      await note(1)(server);
      await expect.poll(() => server.log()).toContain(committed);
    });
    const [request] = ofKind(spans, 'server');
    const called = ofKind(spans, 'internal').filter(({ name }) => name.startsWith('hook '));
    expect(called.map(({ name, parentSpanId, failed }) => [name, parentSpanId, failed])).toEqual([
      ['hook before notes.create', request?.spanId, false],
      ['hook after notes.create', request?.spanId, false],
      ['hook afterCommit notes.create', request?.spanId, false],
    ]);
    const below = ofKind(spans, 'client').map(({ name, parentSpanId }) => [
      name,
      called.find(({ spanId }) => spanId === parentSpanId)?.attributes['tablewright.hook.stage'],
    ]);
    expect(below).toContainEqual(['SELECT docs', 'before']);
    expect(below).toContainEqual(['INSERT notes', undefined]);
    expect(below).toContainEqual(['SELECT docs', 'afterCommit']);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  });

  it('that throws has the code and not the text', async () => {
    const spans = await traced(async (server) => {
      await note(13)(server);
      await note(14)(server);
    });
    const failed = ofKind(spans, 'internal').filter((span) => span.failed);
    expect(failed.map(({ name, attributes }) => [name, attributes['error.type']])).toEqual([
      ['hook before notes.create', 'UNPROCESSABLE_ENTITY'],
      ['hook after notes.create', 'other'],
    ]);
    expect(tracing.collector.text()).not.toContain('of-a-client');
  });
});

describe.each(servers)('$name', ({ missing, dialect, start }) => {
  if (missing) return void it.skip('is not there');

  it('is traced as PostgreSQL is', async () => {
    const host = await start();
    const url = await createMysqlDatabase(host, mysqlSql);
    const place = await projectOver(url);
    try {
      const spans = await traced(
        async (server) => {
          await server.ask('/items/docs/1');
          await post(server, { id: 1 });
          await sendTogether(server, reads([1, 2, 1, 2, 1, 2, 1, 2]));
          await server.ask('/items/docs/1', { method: 'PATCH', body: { title: 'Changed' } });
        },
        {},
        [],
        [place.folder, url],
      );
      const statements = ofKind(spans, 'client');
      expect(statements[0]).toMatchObject({
        name: 'SELECT docs',
        attributes: { 'db.system.name': dialect, 'db.response.returned_rows': 1 },
      });
      expect(statements[0]?.attributes['db.query.text']).toContain('CAST(? AS SIGNED)');
      expect(statements.find(({ failed }) => failed)?.attributes['error.type']).toBe('23505');
      const shared = isWithout('key-batching') ? undefined : 'SELECT docs';
      expect(statements.find(({ links }) => links.length > 1)?.name).toBe(shared);
      expect(new Set(statements.map(({ name }) => name))).toContain('UPDATE docs');
      expect(ofKind(spans, 'server')).toHaveLength(11);
    } finally {
      await place.remove();
      await host.stop();
    }
  });
});
