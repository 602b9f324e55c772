/** Ways to start a server with spans, and what happens where its module or its collector is of no use. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Platform, runPlatform } from '../support/platform.ts';
import { ofKind, openTracing, type Tracing, tree, twenty } from '../support/traced.ts';

let tracing: Tracing;
beforeAll(async () => {
  tracing = await openTracing();
});
afterAll(() => tracing?.close());

const traced: Tracing['traced'] = (...options) => tracing.traced(...options);

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
  tracing.collector.take();
  const child = spawn(process.execPath, [join(tracing.folder, 'generated/main.js')], {
    env: {
      ...process.env,
      ...tracing.collector.variables,
      DATABASE_URL: tracing.databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'info',
    },
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
  const { server, statements } = tree(tracing.collector.take());
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

describe('TRACES_MODULE', () => {
  const modules: readonly (readonly [string, string])[] = [
    ['throw new Error("out of order\\nmore of it")', 'TRACES_MODULE cannot be loaded: out of order.'],
    ["import 'nothing-of-this-name';", 'TRACES_MODULE cannot be loaded: Cannot find package'],
    ['export {};', 'TRACES_MODULE must register a provider of spans'],
    ['await new Promise(() => {});', 'TRACES_MODULE cannot be loaded: it is not done after 10 s.'],
  ];

  it.each(modules)('that says %s ends the start', async (text, message) => {
    const path = join(tracing.folder, 'broken.mjs');
    await writeFile(path, text.replace('\\n', '\\n'));
    const environment = { DATABASE_URL: tracing.databaseUrl, PORT: '0', TRACES_MODULE: path };
    const start = (...args: readonly string[]) =>
      runPlatform(['start', '--project', tracing.folder, ...args], environment);
    for (const result of await Promise.all([start(), start('--workers', '2')])) {
      expect([result.code, result.stderr]).toEqual([4, expect.stringContaining(message)]);
      expect(result.stderr).not.toContain('    at ');
    }
  });

  it('that is missing ends the start', async () => {
    const environment = { DATABASE_URL: tracing.databaseUrl, PORT: '0', TRACES_MODULE: './no-such.mjs' };
    const result = await runPlatform(['start', '--project', tracing.folder], environment);
    expect([result.code, result.stderr]).toEqual([4, expect.stringContaining('TRACES_MODULE must be the path of')]);
  });
});

describe('NODE_OPTIONS', () => {
  it('has the same spans', async () => {
    const NODE_OPTIONS = `--import ${tracing.collector.variables.TRACES_MODULE}`;
    const spans = await traced((server) => server.ask('/items/docs/1'), { TRACES_MODULE: '', NODE_OPTIONS });
    expect(tree(spans).statements).toHaveLength(1);
  });

  it.each([
    ['ERR_MODULE_NOT_FOUND', 'Nothing is traced: @opentelemetry/api is not installed'],
    ['ERR_OTHER', 'Nothing is traced: @opentelemetry/api cannot be loaded.'],
  ])('without the API is told and ignored (%s)', async (code, message) => {
    const path = join(tracing.folder, 'no-api.mjs');
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
