/** Bytes that are hardly HTTP, bodies that are hardly JSON, and clients that are hardly there: E14, E16, E17, H11, H13, H14. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { adminToken } from '../support/platform.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine({ REQUEST_TIMEOUT: '3s' });
});
afterAll(() => magazine?.close());

/** Milliseconds in which one answer more would have come. */
const quietMs = 1_500;

/** Sends bytes as they are and collects what comes back, until the server ends it, or so many answers and no more have come. `ends`: no more bytes come, and answers are read. */
async function raw(
  bytes: string | Buffer,
  answers = 1,
  patience = 20_000,
  ends = false,
  url = magazine.url,
): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: ends });
  const ended = once(socket, 'close').catch(() => undefined);
  const giveUp = performance.now() + patience;
  let text = '';
  let newest = 0;
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    newest = performance.now();
  });
  socket.on('error', () => undefined);
  socket.write(bytes);
  if (ends) socket.end();
  const isOver = (): boolean => statuses(text).length >= answers && performance.now() > newest + quietMs;
  while (!socket.closed && !isOver() && performance.now() < giveUp) await Promise.race([ended, sleep(50)]);
  socket.destroy();
  return text;
}

function statuses(text: string): readonly number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

const host = 'Host: x\r\n';

describe('what is hardly HTTP', () => {
  it.each<[string, string | Buffer, readonly number[]]>([
    ['noise', '\x00\x01\x02\xff\xfe\r\n\r\n', [400]],
    ['TLS', Buffer.from('16030100a5010000a1030300', 'hex'), [400]],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
    ['HTTP/0.9', 'GET /server/ping\r\n\r\n', [200]],
    ['TRACE', `TRACE /items/articles HTTP/1.1\r\n${host}\r\n`, [404]],
    ['an unknown method', `HACK /items/articles HTTP/1.1\r\n${host}\r\n`, [400]],
    ['a bare CR', `GET /server/ping HTTP/1.1\r\n${host}X: a\rb\r\n\r\n`, [400]],
    ['a header that goes on', `GET /server/ping HTTP/1.1\r\n${host}X: a\r\n b\r\n\r\n`, [400]],
    [
      'length and chunks',
      `SEARCH /items/tags HTTP/1.1\r\n${host}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      [400],
    ],
    ['two lengths', `SEARCH /items/tags HTTP/1.1\r\n${host}Content-Length: 4\r\nContent-Length: 5\r\n\r\n{}  `, [400]],
    ['a negative length', `SEARCH /items/tags HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`, [400]],
    [
      'a bad chunk',
      `SEARCH /items/tags HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
      [400],
    ],
    ['headers of 100 KB', `GET /server/ping HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`, [400]],
    ['an address of 100 KB', `GET /items/articles?fields=${'x'.repeat(100_000)} HTTP/1.1\r\n${host}\r\n`, [400]],
    ['no host', 'GET /server/ping HTTP/1.1\r\n\r\n', [400]],
    ['two hosts', `GET /server/ping HTTP/1.1\r\n${host}HOST: y\r\nConnection: close\r\n\r\n`, [400]],
    ['two hosts, of an item', `GET /items/tags HTTP/1.1\r\n${host}Host: x\r\nConnection: close\r\n\r\n`, [400]],
    ['an absolute address', `GET http://evil.example/server/ping HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, [404]],
    ['an empty path', `GET  HTTP/1.1\r\n${host}\r\n`, [400]],
    ['a star', `OPTIONS * HTTP/1.1\r\n${host}Connection: close\r\n\r\n`, [404]],
    ['an expectation', `GET /server/ping HTTP/1.1\r\n${host}Expect: a-miracle\r\nConnection: close\r\n\r\n`, [200]],
    [
      'an upgrade',
      `GET /server/ping HTTP/1.1\r\n${host}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
      [200],
    ],
    [
      'an override',
      `GET /items/tags HTTP/1.1\r\n${host}X-HTTP-Method-Override: DELETE\r\nConnection: close\r\n\r\n`,
      [200],
    ],
  ])('%s', async (_, bytes, expected) => {
    const text = await raw(bytes, expected.length);
    expect(statuses(text), text.slice(0, 400)).toEqual(expected);
    expect(text).not.toMatch(/postgres|node:|\bat \w+ \(|fastify|FST_|HPE_/i);
    if (statuses(text)[0] !== 200) expect(text).toMatch(/"extensions":\{"code":"[A-Z_]+"/);
  });

  it('pipelined requests are answered in order, those before garbage too', async () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\n${host}\r\n`;
    const text = await raw(
      get('/server/ping') + get('/items/tags?limit=1&fields=id') + get('/nothing') + get('/server/ping'),
      4,
    );
    expect(statuses(text)).toEqual([200, 200, 404, 200]);
    const broken = await raw(`${get('/server/ping')}\x00\x01`);
    expect(statuses(broken)).toEqual([200]);
    const later = await raw(`${get('/items/tags?limit=1&fields=id')}${get('/nothing')}\x00\x01`, 2);
    expect(statuses(later)).toEqual([200, 404]);
    const body = `POST /auth/login HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nnoise`;
    expect(statuses(await raw(get('/items/tags?limit=1&fields=id') + body))[0]).toBe(200);
  });

  it.each(['/items/tags?search=caf\u00e9', '/items/t\u00e4gs', '/items/tags?search=two words'])(
    'an address that is not encoded says so: %s',
    async (path) => {
      const text = await raw(`GET ${path} HTTP/1.1\r\n${host}\r\n`);
      expect([statuses(text), text]).toEqual([
        [400],
        expect.stringContaining('in an address must be percent-encoded."'),
      ]);
      expect(text).toContain('"code":"INVALID_QUERY"');
    },
  );

  it.each(['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 'GET', `GET /server/ping HTTP/1.1\r\n${host}`])(
    'half a request ends after its time: %j',
    async (bytes) => {
      expect(statuses(await raw(bytes, Number.POSITIVE_INFINITY, 7_000)).filter((status) => status >= 500)).toEqual([]);
    },
    10_000,
  );
});

it.each([
  ['headers', `GET /server/ping HTTP/1.1\r\n${host}`],
  [
    'a body',
    `SEARCH /items/tags HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: 90\r\n\r\n{"email"`,
  ],
])('a request that ends amid %s is told so', async (_, bytes) => {
  expect(await raw(bytes, 1, 5_000, true)).toContain('"The request ended too early."');
});

describe('bodies', () => {
  const post = (type: string, body: string | Buffer, more = '') =>
    raw(
      Buffer.concat([
        Buffer.from(
          `SEARCH /items/tags HTTP/1.1\r\n${host}Content-Type: ${type}\r\n${more}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`,
        ),
        Buffer.from(body),
      ]),
    );
  const json = 'application/json';

  it.each<[string, string, string | Buffer, string, number]>([
    ['text', 'text/plain', '{}', '', 415],
    ['a form', 'application/x-www-form-urlencoded', 'a=1', '', 415],
    ['parts', 'multipart/form-data; boundary=x', '--x--', '', 415],
    ['another charset', `${json}; charset=utf-16`, '{}', '', 415],
    ['compressed', json, gzipSync('{"x":1}'.repeat(1e6)), 'Content-Encoding: gzip\r\n', 415],
    ['trailing bytes', json, '{}x', '', 400],
    ['two values', json, '{}{}', '', 400],
    ['not UTF-8', json, Buffer.from([123, 34, 255, 34, 58, 49, 125]), '', 400],
    ['overlong', json, Buffer.from([123, 34, 0xc0, 0xaf, 34, 58, 49, 125]), '', 400],
    ['a byte order mark', json, '\ufeff{}', '', 400],
    ['a scalar', json, '1', '', 400],
    ['a list', json, '[]', '', 400],
    ['a megabyte of [', json, '['.repeat(1_000_000), '', 400],
    ['100 000 levels', json, `${'{"query":'.repeat(100_000)}1${'}'.repeat(100_000)}`, '', 400],
    [
      '100 000 levels of a filter',
      json,
      `{"query":{"filter":${'{"_and":['.repeat(50_000)}{}${']}'.repeat(50_000)}}}`,
      '',
      400,
    ],
    ['100 000 levels of keys', json, `{"keys":[${'['.repeat(100_000)}${']'.repeat(100_000)}]}`, '', 403],
    ['100 000 names', json, `{${Array.from({ length: 80_000 }, (_, i) => `"k${i}":1`).join()}}`, '', 400],
    ['a name of a megabyte', json, `{"${'k'.repeat(1_000_000)}":1}`, '', 400],
    ['a prototype', json, '{"query":{"filter":{"__proto__":{"id":1}}}}', '', 400],
    ['an escaped prototype', json, '{"query":{"filter":{"\\u005f_proto__":{"id":1}}}}', '', 400],
    ['a constructor', json, '{"constructor":{"prototype":{}}}', '', 400],
    ['too large', json, `{"query":{"x":"${'x'.repeat(1_100_000)}"}}`, '', 400],
    [
      '10 000 values',
      json,
      `{"query":{"filter":{"id":{"_in":[${Array.from({ length: 10_000 }, (_, i) => i).join()}]}}}}`,
      '',
      200,
    ],
    [
      '70 000 values',
      json,
      `{"query":{"filter":{"id":{"_in":[${Array.from({ length: 70_000 }, (_, i) => i).join()}]}}}}`,
      '',
      400,
    ],
  ])('%s', async (_, type, body, more, status) => {
    expect(statuses(await post(type, body, more))).toEqual([status]);
  });
});

it('gives no stranger a cross-origin header', async () => {
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
    for (const method of ['GET', 'OPTIONS', 'SEARCH']) {
      const headers = { origin, 'access-control-request-method': 'SEARCH' };
      const answer = await magazine.ask('/items/tags?limit=1', { method, headers });
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
      expect(answer.headers.get('vary')).toContain('Origin');
    }
  }
});

/** Requests on one connection, the last of which ends it. */
function pipelined(): string {
  const body = '{"query":"{ tags_by_id(id: 1) { id name } }","variables":{}}';
  const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const page = `GET /items/articles?limit=10&sort=id HTTP/1.1\r\n${host}`;
  const requests = [
    `GET /items/tags/1 HTTP/1.1\r\n${host}\r\n`,
    `GET /items/tags/1?fields=id HTTP/1.1\r\n${host}If-None-Match: *\r\n\r\n`,
    `POST /graphql HTTP/1.1\r\n${host}${type}\r\n${body}`,
    `POST /graphql HTTP/1.1\r\n${host}Accept: application/graphql-response+json\r\n${type}\r\n${body}`,
    `${page}\r\n`,
    `${page}Accept-Encoding: gzip\r\n\r\n`,
    `GET /items/nothing HTTP/1.1\r\n${host}\r\n`,
    `GET /nowhere HTTP/1.1\r\n${host}\r\n`,
    `GET /server/info HTTP/1.1\r\n${host}Authorization: Bearer ${adminToken}\r\n\r\n`,
    `GET /auth/oauth HTTP/1.1\r\n${host}\r\n`,
    `GET /server/specs/oas HTTP/1.1\r\n${host}Origin: https://other.example\r\n\r\n`,
  ];
  // The second time and later, a server may know the headers of such an answer.
  return [...requests, ...requests, ...requests, `GET /server/ping HTTP/1.1\r\n${host}Connection: close\r\n\r\n`].join(
    '',
  );
}

it('heads of answers are the same bytes without optimisations', async () => {
  // As patient as the other one, since beside other work connections may come late.
  const variables = { PLATFORM_OPTIMIZE: 'none', DATABASE_POOL_TIMEOUT: '50s' };
  const plain = await startHosted(magazine.folder, magazine.database.url, variables, false);
  try {
    const [fast, usual] = await Promise.all(
      [magazine.url, plain.url].map(async (url) => {
        const text = await raw(pipelined(), 34, 20_000, false, url);
        return text.replace(/^(Date|X-Request-Id): .*$/gm, '$1').replaceAll(url, '');
      }),
    );
    expect(fast).toBe(usual);
    expect(statuses(fast ?? '')).toHaveLength(34);
    expect(fast).toMatch(/\r\nX-Request-Id\r\n|X-Request-Id$/m);
  } finally {
    await plain.stop();
  }
});
