/** Spans of the command as its users start it, exported by OTLP to a collector, with the SDK of OpenTelemetry. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { createMagazineDatabase } from '../support/magazine.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { type CollectedSpan, type Collector, startCollector } from '../support/otlp-collector.ts';
import { administrator, createProject, type Platform, runPlatform, startUnchecked } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { installSystem } from '../support/system.ts';

const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs SELECT i, 'Title ' || i FROM generate_series(1, 200) i;
  CREATE TABLE notes (id integer PRIMARY KEY); CREATE TABLE secrets (id integer PRIMARY KEY);`;
const mysqlSql = `
  CREATE TABLE docs (id int PRIMARY KEY, title varchar(50)); INSERT INTO docs VALUES (1, 'Title 1'), (2, 'Title 2');
  CREATE TABLE notes (id int PRIMARY KEY); CREATE TABLE secrets (id int PRIMARY KEY);`;
/** A row with an even id is refused; those that are made are counted in another table. */
const hooks = `import { PlatformError } from '@tablewright/runtime';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, after, afterCommit }) => {
  before('notes.create', async ({ payload, items }) => {
    await items.asAdmin('docs').list({ fields: ['id'], filter: { id: 1 } });
    if (payload.id === 13) throw new PlatformError('UNPROCESSABLE_ENTITY', 'of-a-client');
  });
  after('notes.create', ({ payload }) => {
    if (payload.id === 14) throw new Error('of-a-client');
  });
  afterCommit('notes.create', async ({ items }) => {
    await items.asAdmin('docs').list({ fields: ['title'], filter: { id: 2 } });
  });
});
`;
const rules =
  'permissions: { public: { docs: { read: true, create: true, update: true }, notes: { read: true, create: true } } }\n';

let database: TestDatabase;
let collector: Collector;
let project: { readonly folder: string; remove(): Promise<void> };
beforeAll(async () => {
  database = await createDatabase(sql);
  project = await projectOver(database.url);
  collector = await startCollector(project.folder);
});
afterAll(async () => {
  await project?.remove();
  await collector?.close();
  await database?.drop();
});

async function projectOver(url: string): ReturnType<typeof createProject> {
  const made = await createProject();
  await writeFile(join(made.folder, 'permissions.yaml'), rules);
  await mkdir(join(made.folder, 'extensions'));
  await writeFile(join(made.folder, 'extensions/notes.ts'), hooks);
  const generated = await runPlatform(['generate', '--project', made.folder], { DATABASE_URL: url });
  expect(generated).toMatchObject({ code: 0 });
  return made;
}

/** Serves the project with the module, and gives the spans that were exported when it had ended. */
async function traced(
  use: (server: Platform) => Promise<unknown>,
  environment: Readonly<Record<string, string>> = {},
  args: readonly string[] = [],
  [folder, url] = [project.folder, database.url],
): Promise<readonly CollectedSpan[]> {
  collector.take();
  const server = await startUnchecked(folder, url, { ...collector.variables, ...environment }, args);
  try {
    await use(server);
  } finally {
    expect(await server.stop()).toBe(0);
  }
  return collector.take();
}

const ofKind = (spans: readonly CollectedSpan[], kind: CollectedSpan['kind']) =>
  spans.filter((span) => span.kind === kind);

/** The span of the only request, and those below it. */
function tree(spans: readonly CollectedSpan[]) {
  const [server, ...others] = ofKind(spans, 'server');
  if (server === undefined || others.length > 0) throw new Error(`${others.length} other requests`);
  expect(spans.every(({ traceId }) => traceId === server.traceId)).toBe(true);
  return { server, statements: ofKind(spans, 'client') };
}

const post = (server: Platform, body: unknown) => server.ask('/items/docs', { method: 'POST', body });

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
    expect(collector.text()).not.toContain('of_a_client');
    expect(collector.text()).not.toContain('of-a-client');
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
    expect(collector.text()).not.toContain('of-a-client');
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
    expect(rowsOf('PATCH /items/:collection/:key')).toEqual([['UPDATE docs', 1]]);
  });
});

/** Sends requests in one piece, so that they arrive at once; resolves when all are answered. */
function sendTogether(server: Platform, bodies: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('error', reject).on('data', (chunk) => {
      received += String(chunk);
      if (received.split('HTTP/1.1 200').length <= bodies.length) return;
      socket.destroy();
      resolve();
    });
    socket.write(bodies.join(''));
  });
}

const reads = (keys: readonly number[]) => keys.map((key) => `GET /items/docs/${key} HTTP/1.1\r\nhost: x\r\n\r\n`);
const creates = (keys: readonly number[]) =>
  keys.map((id) => {
    const body = JSON.stringify({ id });
    const head = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    return `POST /items/docs HTTP/1.1\r\n${head}\r\n\r\n${body}`;
  });

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

const twenty = Array.from({ length: 20 }, (_, index) => index + 1);

describe('a statement that serves several requests', () => {
  it('is linked to each that reads', async () => {
    const spans = await traced((server) => sendTogether(server, reads(twenty)));
    expectServed(spans, 20);
    const shared = ofKind(spans, 'client').find(({ links }) => links.length > 0);
    expect(shared?.attributes['db.query.text']).toContain('ANY ($1::int4[])');
    expect(shared?.name).toBe('SELECT docs');
  });

  it('is linked to each that writes', async () => {
    const spans = await traced((server) => sendTogether(server, creates(twenty.map((key) => 1000 + key))));
    expectServed(spans, 20);
  });
});

describe('a plan', () => {
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
      await new Promise((resolve) => setTimeout(resolve, 500));
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
    expect(collector.text()).not.toContain('of-a-client');
  });
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
      expect(collector.text()).not.toContain(secret);
    }
  } finally {
    await magazine.drop();
    await sample.remove();
  }
});

it('processes each export their spans', async () => {
  const spans = await traced((server) => Promise.all(twenty.map((key) => server.ask(`/items/docs/${key}`))), {}, [
    '--workers',
    '2',
  ]);
  expect(ofKind(spans, 'server')).toHaveLength(20);
  const known = new Set(spans.map(({ spanId }) => spanId));
  expect(ofKind(spans, 'client').every(({ parentSpanId = '' }) => known.has(parentSpanId))).toBe(true);
});

it('a generated server has spans', async () => {
  collector.take();
  const child = spawn(process.execPath, [join(project.folder, 'generated/main.js')], {
    env: { ...process.env, ...collector.variables, DATABASE_URL: database.url, PORT: '0', LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [found] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  await fetch(`${url}/items/docs/1`);
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  const { server, statements } = tree(collector.take());
  expect([server.name, ...statements.map(({ name }) => name)]).toEqual(['GET /items/:collection/:key', 'SELECT docs']);
});

it('without a provider there are none', async () => {
  const spans = await traced((server) => server.ask('/items/docs/1'), { TRACES_MODULE: '' });
  expect(spans).toEqual([]);
});

it('a collector that does not answer delays neither requests nor the end', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const address = silent.address();
  const endpoint = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const since = performance.now();
  await traced(async (server) => expect((await server.ask('/items/docs/1')).status).toBe(200), {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    SHUTDOWN_TIMEOUT: '1s',
  });
  expect(performance.now() - since).toBeLessThan(20_000);
  silent.close();
  silent.closeAllConnections();
});

it('a client that leaves before the answer is no success', async () => {
  const spans = await traced(async (server) => {
    const leaving = request(`${server.url}/items/docs`, { method: 'POST', headers: { 'content-length': '100' } });
    leaving.on('error', () => {});
    leaving.write('{');
    await new Promise((resolve) => setTimeout(resolve, 200));
    leaving.destroy();
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  expect(ofKind(spans, 'server')).toMatchObject([{ failed: true, attributes: { 'error.type': 'connection' } }]);
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
      expect(statements.find(({ links }) => links.length > 1)?.name).toBe('SELECT docs');
      expect(new Set(statements.map(({ name }) => name))).toContain('UPDATE docs');
      expect(ofKind(spans, 'server')).toHaveLength(11);
    } finally {
      await place.remove();
      await host.stop();
    }
  });
});

describe('TRACES_MODULE', () => {
  const modules: readonly (readonly [string, string])[] = [
    ['throw new Error("out of order\\nmore of it")', 'TRACES_MODULE cannot be loaded: out of order.'],
    ["import 'nothing-of-this-name';", 'TRACES_MODULE cannot be loaded: Cannot find package'],
    ['export {};', 'TRACES_MODULE must register a provider of spans'],
  ];

  it.each(modules)('that says %s ends the start', async (text, message) => {
    const path = join(project.folder, 'broken.mjs');
    await writeFile(path, text.replace('\\n', '\\n'));
    for (const args of [[], ['--workers', '2']]) {
      const environment = { DATABASE_URL: database.url, PORT: '0', TRACES_MODULE: path };
      const result = await runPlatform(['start', '--project', project.folder, ...args], environment);
      expect([result.code, result.stderr]).toEqual([4, expect.stringContaining(message)]);
      expect(result.stderr).not.toContain('    at ');
    }
  });

  it('that is missing ends the start', async () => {
    const environment = { DATABASE_URL: database.url, PORT: '0', TRACES_MODULE: './no-such.mjs' };
    const result = await runPlatform(['start', '--project', project.folder], environment);
    expect([result.code, result.stderr]).toEqual([4, expect.stringContaining('TRACES_MODULE must be the path of')]);
  });
});

describe('NODE_OPTIONS', () => {
  it('has the same spans', async () => {
    const NODE_OPTIONS = `--import ${collector.variables.TRACES_MODULE}`;
    const spans = await traced((server) => server.ask('/items/docs/1'), { TRACES_MODULE: '', NODE_OPTIONS });
    expect(tree(spans).statements).toHaveLength(1);
  });

  it.each([
    ['ERR_MODULE_NOT_FOUND', 'Nothing is traced: @opentelemetry/api is not installed'],
    ['ERR_OTHER', 'Nothing is traced: @opentelemetry/api cannot be loaded.'],
  ])('without the API is told and ignored (%s)', async (code, message) => {
    const path = join(project.folder, 'no-api.mjs');
    await writeFile(
      path,
      `import { registerHooks } from 'node:module';
      globalThis[Symbol.for('opentelemetry.js.api.1')] = { version: '1.10.0' };
      registerHooks({ resolve(name, context, next) {
        if (name === '@opentelemetry/api') throw Object.assign(new Error('gone'), { code: '${code}' });
        return next(name, context);
      } });`,
    );
    let log = () => '';
    const use = async (server: Platform) => {
      log = server.log;
      expect((await server.ask('/items/docs/1')).status).toBe(200);
    };
    const environment = { TRACES_MODULE: '', NODE_OPTIONS: `--import ${path}`, LOG_LEVEL: 'warn' };
    expect(await traced(use, environment)).toEqual([]);
    expect(log()).toContain(message);
  });
});
