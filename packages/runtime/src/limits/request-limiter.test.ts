import { afterEach, expect, test } from 'vitest';
import { adminToken, startServer } from '../http/testing/fixture.ts';

let close: () => Promise<unknown> = async () => {};
afterEach(() => close());

/** A server behind a proxy, asked as clients of many addresses. */
async function limited(variables: Readonly<Record<string, string>>) {
  const server = await startServer({ IP_TRUST_PROXY: '127.0.0.1', ...variables });
  close = () => server.close();
  return async (from: string, url = '/server/ping', options: object = {}) => {
    const response = await server.inject({ url, ...options, headers: { 'x-forwarded-for': from } });
    return { status: response.statusCode, headers: response.headers, json: () => response.json() };
  };
}

const perClient = { RATE_LIMITER_ENABLED: 'true', RATE_LIMITER_POINTS: '3', RATE_LIMITER_DURATION: '1h' };

test('a client is answered so many requests, whatever they are and whatever becomes of them', async () => {
  const ask = await limited(perClient);
  const requests: readonly [string, object, number][] = [
    ['/server/ping', {}, 200],
    ['/server/ping', { method: 'OPTIONS' }, 200],
    ['/nothing', {}, 404],
    ['/items/%zz', {}, 404],
    ['/items/articles', {}, 503],
    ['/items/secrets/1', {}, 403],
    ['/items/articles?access_token=unknown', {}, 401],
    ['/items/articles', { method: 'POST', payload: '<x/>' }, 415],
    ['/server/ping', { method: 'HEAD' }, 200],
  ];
  for (const [place, [url, options, status]] of requests.entries()) {
    const from = `192.0.2.${place}`;
    for (const expected of [status, status, status, 429, 429]) {
      expect([url, (await ask(from, url, options)).status]).toEqual([url, expected]);
    }
    expect((await ask(from)).status).toBe(429);
  }
});

test('who is refused is told when to come again, and nothing of what was asked for', async () => {
  const ask = await limited(perClient);
  const before = Date.now();
  for (let count = 0; count < 3; count++) await ask('192.0.2.1');
  const { headers, json } = await ask('192.0.2.1', '/items/secrets?access_token=wrong');
  expect(Number(headers['retry-after'])).toBeGreaterThan(3590);
  expect(Number(headers['retry-after'])).toBeLessThanOrEqual(3600);
  const [{ extensions }] = json().errors;
  expect(extensions).toEqual({ code: 'REQUESTS_EXCEEDED', limit: 3, reset: expect.any(String) });
  expect(Math.abs(Date.parse(extensions.reset) - before - 3_600_000)).toBeLessThan(10_000);
});

test('a client is an address of IPv4, or a network of 64 bits', async () => {
  const ask = await limited(perClient);
  const first = ['2001:db8::1', '2001:db8::2', '2001:DB8:0:0:ffff::', '2001:db8::3'];
  const statuses = [];
  for (const from of first) statuses.push((await ask(from)).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect((await ask('2001:db8:0:1::1')).status).toBe(200);
  for (const from of ['192.0.2.1', '::ffff:192.0.2.1', '192.0.2.1']) expect((await ask(from)).status).toBe(200);
  expect((await ask('192.0.2.1')).status).toBe(429);
  expect((await ask('192.0.2.2')).status).toBe(200);
});

test('a window ends', async () => {
  const ask = await limited({ ...perClient, RATE_LIMITER_DURATION: '300ms' });
  const statuses = [];
  for (let count = 0; count < 4; count++) statuses.push((await ask('192.0.2.1')).status);
  expect(statuses).toEqual([200, 200, 200, 429]);
  await expect.poll(async () => (await ask('192.0.2.1')).status, { interval: 50 }).toBe(200);
});

test('all together are answered so many, from which those who are refused for themselves take nothing', async () => {
  const ask = await limited({
    ...perClient,
    RATE_LIMITER_GLOBAL_ENABLED: 'true',
    RATE_LIMITER_GLOBAL_POINTS: '5',
    RATE_LIMITER_GLOBAL_DURATION: '1h',
  });
  const statuses = [];
  for (let count = 0; count < 9; count++) statuses.push((await ask('192.0.2.1')).status);
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429, 429]);
  expect((await ask('192.0.2.2')).status).toBe(200);
  expect((await ask('192.0.2.3')).status).toBe(200);
  const { status, json } = await ask('192.0.2.4');
  expect([status, json().errors[0].extensions.limit]).toEqual([429, 5]);
});

test('is off by default, and administrators are told what it is', async () => {
  for (const [variables, rateLimit] of [
    [{}, false],
    [perClient, { points: 3, duration: 3_600_000 }],
  ] as const) {
    const ask = await limited(variables);
    const { json } = await ask('192.0.2.1', `/server/info?access_token=${adminToken}`);
    expect(json().data.rateLimit).toEqual(rateLimit);
    for (let count = 0; count < 100; count++) {
      if (rateLimit === false) expect((await ask('192.0.2.1')).status).toBe(200);
    }
    await close();
  }
});
