/** Where metrics are read, in one process and in several, and what refuses a start. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, duration, type Metered, openMetered, route, scrape } from '../support/metered.ts';
import { parseMetrics, promtool } from '../support/metrics-text.ts';
import { type Platform, runPlatform } from '../support/platform.ts';

const scrapeToken = 'a-token-of-the-metrics';

let metered: Metered;
beforeAll(async () => {
  metered = await openMetered();
});
afterAll(() => metered?.close());

const withServer: Metered['withServer'] = (...options) => metered.withServer(...options);

it('promtool finds no fault', async (test) => {
  if (promtool('') === null) test.skip('promtool is not installed: apt-get install prometheus');
  await withServer({}, [], async (server, url) => {
    await ask(server);
    const text = await (await fetch(`${url}/metrics`)).text();
    // Names of Node's dashboards and of OpenTelemetry are not ours to choose.
    const others = /^(?:nodejs_\w+|db_client_connection_count) /;
    expect(promtool(text)?.filter((line) => !others.test(line))).toEqual([]);
  });
});

it('OpenMetrics is read by those who ask for it', async () => {
  await withServer({}, [], async (server, url) => {
    await ask(server);
    const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1';
    const response = await fetch(`${url}/metrics`, { headers: { accept } });
    expect(response.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    const open = parseMetrics(await response.text(), true);
    expect(open.labelValues(`${duration}_bucket`, 'le')).toContain('10.0');
    const plain = await scrape(url);
    expect([...plain.types]).toEqual([...open.types]);
    expect(open.value('tablewright_requests_total', { class: 'admin', outcome: 'ok' })).toBe(1);
    const again = await scrape(url, { accept });
    expect([...again.types]).toEqual([...open.types]);
  });
});

describe('the second listener', () => {
  it('answers three paths and nothing else, beside the limits of requests', async () => {
    const limits = { RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '2', RATE_LIMITER_DURATION: '60s' };
    await withServer(limits, [], async (server, url) => {
      for (let asked = 0; asked < 5; asked++) {
        for (const path of ['/metrics', '/server/ping', '/server/ready']) {
          expect((await fetch(url + path)).status).toBe(200);
        }
      }
      expect((await fetch(`${url}/items/docs/1`)).status).toBe(404);
      expect((await fetch(`${url}/server/health`)).status).toBe(404);
      expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
      expect(await (await fetch(`${url}/server/ping`)).text()).toBe('pong');
      const statuses = [];
      for (let asked = 0; asked < 3; asked++) statuses.push((await server.ask('/items/docs/1')).status);
      expect(statuses).toEqual([200, 200, 429]);
      const metrics = await scrape(url);
      expect(metrics.value('tablewright_requests_total', { outcome: 'limited' })).toBe(1);
    });
  });

  it('says that the server is draining, to the end', async () => {
    await withServer({ SHUTDOWN_DELAY: '5s' }, [], async (server, url) => {
      const stopped = server.stop();
      await expect.poll(async () => (await fetch(`${url}/server/ready`)).status).toBe(503);
      expect((await fetch(`${url}/metrics`)).status).toBe(200);
      expect(await stopped).toBe(0);
    });
  });
});

describe('METRICS_TOKEN', () => {
  it('opens /metrics on the public port, to no one else', async () => {
    await withServer({ METRICS_PORT: '', METRICS_TOKEN: scrapeToken }, [], async (server, url) => {
      expect(url).toBe('');
      await ask(server);
      const unknown = await server.ask('/nothing');
      const [hidden, wrong] = [await server.ask('/metrics'), await server.ask('/metrics', { token: 'wrong-token' })];
      expect([hidden.status, hidden.text]).toEqual([unknown.status, unknown.text]);
      const other = await server.ask('/nothing', { token: 'wrong-token' });
      expect([wrong.status, wrong.text]).toEqual([other.status, other.text]);
      expect((await server.ask('/metrics', { token: scrapeToken, method: 'POST' })).status).not.toBe(200);
      const metrics = await scrape(server.url, { authorization: `Bearer ${scrapeToken}` });
      expect(metrics.value(`${duration}_count`, { http_route: route })).toBeGreaterThan(3);
      const again = await scrape(server.url, { authorization: `Bearer ${scrapeToken}` });
      expect(again.value(`${duration}_count`, { http_route: '/metrics' })).toBe(1);
    });
  });

  it('opens it to HEAD, and with parameters, which mean nothing', async () => {
    await withServer({ METRICS_PORT: '', METRICS_TOKEN: scrapeToken }, [], async (server) => {
      const head = await server.ask('/metrics', { token: scrapeToken, method: 'HEAD' });
      expect([head.status, head.text]).toEqual([200, '']);
      const asked = await server.ask('/metrics?job=platform', { token: scrapeToken });
      expect([asked.status, asked.text.includes('tablewright_build_info')]).toEqual([200, true]);
      for (const path of ['/metrics/', '/metrics2', '/metricsx?a=/metrics']) {
        expect((await server.ask(path, { token: scrapeToken })).status).not.toBe(200);
      }
    });
  });

  it('is the only way: without it the path is unknown', async () => {
    await withServer({ METRICS_PORT: '' }, [], async (server) => {
      expect((await server.ask('/metrics')).status).toBe(404);
      expect((await server.admin('/metrics')).status).toBe(404);
    });
  });
});

describe('several processes', () => {
  it('are added up, on both ports, and say how many are silent', async () => {
    await withServer({ METRICS_TOKEN: scrapeToken }, ['--workers', '3'], async (server, url) => {
      expect((await fetch(`${url}/server/ready`)).status).toBe(200);
      expect(await (await fetch(`${url}/server/ping`)).text()).toBe('pong');
      const asked = Array.from({ length: 60 }, (_, index) => server.ask(`/items/docs/${index + 1}`));
      await Promise.all(asked);
      const read = { http_request_method: 'GET', http_route: route, http_response_status_code: '200' };
      const own = await scrape(url);
      expect(own.value(`${duration}_count`, read)).toBe(60);
      expect(own.value('tablewright_workers_silent')).toBe(0);
      expect(own.value('tablewright_build_info')).toBe(1);
      expect(own.value('process_resident_memory_bytes')).toBeGreaterThan(100_000_000);
      const open = await scrape(server.url, {
        authorization: `Bearer ${scrapeToken}`,
        accept: 'application/openmetrics-text',
      });
      expect(open.value(`${duration}_count`, read)).toBe(60);
      expect(open.value('tablewright_workers_silent')).toBe(0);
    });
  });

  const childrenOf = async ({ pid }: Pick<Platform, 'pid'>): Promise<readonly number[]> =>
    (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
  const read = { http_request_method: 'GET', http_route: route, http_response_status_code: '200' };
  const readOften = (server: Platform) =>
    Promise.all(Array.from({ length: 30 }, (_, index) => server.ask(`/items/docs/${index + 1}`)));

  it('that do not answer are told', async () => {
    await withServer({}, ['--workers', '2'], async (server, url) => {
      await readOften(server);
      expect((await scrape(url)).value(`${duration}_count`, read)).toBe(30);
      const [first] = await childrenOf(server);
      process.kill(first ?? 0, 'SIGSTOP');
      try {
        const metrics = await scrape(url);
        expect(metrics.value('tablewright_workers_silent')).toBe(1);
        expect(metrics.value('tablewright_build_info')).toBe(1);
        expect(metrics.value(`${duration}_count`, read)).toBe(30);
        expect((await fetch(`${url}/server/ready`)).status).toBe(200);
      } finally {
        process.kill(first ?? 0, 'SIGCONT');
      }
      expect((await scrape(url)).value('tablewright_workers_silent')).toBe(0);
    });
  });

  it('tell how late the latest of them is', async () => {
    await withServer({}, ['--workers', '3'], async (server, url) => {
      const [first = 0] = await childrenOf(server);
      // Delays are measured from one look to the next.
      await scrape(url);
      // Several, because one alone is no hundredth of the samples of a slow second.
      for (let stop = 0; stop < 5; stop++) {
        process.kill(first, 'SIGSTOP');
        await wait(300).finally(() => process.kill(first, 'SIGCONT'));
        await wait(60);
      }
      const metrics = await scrape(url);
      expect(metrics.value('tablewright_workers_silent')).toBe(0);
      for (const part of ['max', 'p99']) {
        expect(metrics.value(`nodejs_eventloop_lag_${part}_seconds`), part).toBeGreaterThan(0.25);
      }
      expect(metrics.value('nodejs_eventloop_lag_min_seconds')).toBeLessThan(0.1);
    });
  });

  it('that were replaced or lost stay in the counts, which would look restarted otherwise', async () => {
    await withServer({}, ['--workers', '2'], async (server, url) => {
      const areLeft = async (pids: readonly number[]): Promise<boolean> =>
        (await childrenOf(server)).some((pid) => pids.includes(pid));
      const before = await childrenOf(server);
      await readOften(server);
      process.kill(server.pid, 'SIGHUP');
      await expect.poll(() => areLeft(before), { timeout: 20_000 }).toBe(false);
      expect((await scrape(url)).value(`${duration}_count`, read)).toBe(30);
      await readOften(server);
      expect((await scrape(url)).value(`${duration}_count`, read)).toBe(60);
      const later = await childrenOf(server);
      for (const pid of later) process.kill(pid, 'SIGKILL');
      await expect.poll(() => areLeft(later)).toBe(false);
      expect((await scrape(url)).value(`${duration}_count`, read)).toBe(60);
    });
  });
});

it.each([
  ['METRICS_PORT', '70000'],
  ['METRICS_HOST', 'a b'],
  ['METRICS_TOKEN', 'short'],
  ['METRICS_SERIES_MAX', 'many'],
])('an unusable %s ends the start', async (name, value) => {
  const variables = { DATABASE_URL: metered.databaseUrl, PORT: '0', [name]: value };
  const { code, stderr } = await runPlatform(['start', '--project', metered.folder], variables);
  expect([code, stderr.includes(`${name} must `)]).toEqual([4, true]);
  if (name === 'METRICS_TOKEN') expect(stderr).not.toContain(value);
});

it.each([[[]], [['--workers', '2']]])('a port that is in use ends the start %s', async (args) => {
  const other = createServer().listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => other.once('listening', resolve));
    const address = other.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const variables = { DATABASE_URL: metered.databaseUrl, PORT: '0', METRICS_PORT: port };
    const result = await runPlatform(['start', '--project', metered.folder, ...args], variables);
    expect([result.code, result.stderr]).toEqual([4, expect.stringContaining('The port of the metrics is in use.')]);
    const [, hinted] = /such as METRICS_PORT=(\d+)/.exec(result.stderr) ?? [];
    expect(Number(hinted) - Number(port)).toBeGreaterThan(0);
    // Every process listens for metrics, or for requests, before another one fails.
    const served = { DATABASE_URL: metered.databaseUrl, PORT: port, METRICS_PORT: '0' };
    const failed = await runPlatform(['start', '--project', metered.folder, ...args], served);
    expect([failed.code, failed.stderr]).toEqual([4, expect.stringContaining('The port is in use.')]);
    const both = await runPlatform(['start', '--project', metered.folder, ...args], { ...served, METRICS_PORT: port });
    const same = expect.stringContaining('PORT and METRICS_PORT are the same port.');
    expect([both.code, both.stderr]).toEqual([4, same]);
  } finally {
    other.close();
  }
});
