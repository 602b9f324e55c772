import type { FastifyInstance, InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorBody, PlatformError } from '../errors.ts';
import { type Asked, adminToken, startServer, webToken } from './testing/fixture.ts';

const requested: Asked[] = [];
let server: FastifyInstance;

beforeAll(async () => {
  server = await startServer({}, requested);
});
afterAll(() => server.close());

async function ask(options: InjectOptions): Promise<{ status: number; code: string | undefined; body: string }> {
  const response = await server.inject(options);
  const code = /"code":"(\w+)"/.exec(response.body)?.[1];
  return { status: response.statusCode, code, body: response.body };
}

/** The role for which a question reached the planner. */
async function askedAs(options: InjectOptions): Promise<unknown> {
  return (await planned(options))?.[1];
}

/** The question that reached the planner; the database behind it is away. */
async function planned(options: InjectOptions): Promise<Asked | undefined> {
  requested.length = 0;
  expect((await ask(options)).code).toBe('SERVICE_UNAVAILABLE');
  return requested[0];
}

describe('paths', () => {
  const unknown = [
    '/',
    '/items',
    '/items/',
    '/items//',
    '/items/articles/',
    '/items//1',
    '/items/articles//1',
    '/items/articles/1/',
    '/items/articles/1/2',
    '/Items/articles',
    '/%69tems/articles',
    '/items/%zz',
    '/items/articles/%ff',
    '/server',
    '/server/ping/',
    '/server/PING',
    '/server/%70ing',
    '/v1/items/articles',
    '//items/articles',
  ];
  test.each(unknown)('%s is no route', async (url) => {
    expect(await ask({ url })).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' });
  });

  const methods: readonly NonNullable<InjectOptions['method']>[] = ['PUT', 'TRACE'];
  test.each(methods)('%s is no method of a list', async (method) => {
    const options = { url: '/items/articles', payload: '<x/>', headers: { 'content-type': 'text/xml' } };
    expect(await ask({ ...options, method })).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' });
  });

  test.each(['SEARCH', 'POST'] as const)('%s is no method of one item', async (method) => {
    expect(await ask({ method, url: '/items/articles/1' })).toMatchObject({ status: 404 });
  });

  test('an unknown, a hidden and a system collection answer the same bytes', async () => {
    const forbidden = { status: 403, code: 'FORBIDDEN', body: errorBody([new PlatformError('FORBIDDEN')]) };
    for (const name of ['nothing', 'secrets', 'platform_users', '__proto__', 'constructor', 'Articles', 'a%00b']) {
      expect(await ask({ url: `/items/${name}` })).toEqual(forbidden);
      expect(await ask({ url: `/items/${name}/1` })).toEqual(forbidden);
      expect(await ask({ method: 'SEARCH', url: `/items/${name}` })).toEqual(forbidden);
    }
  });

  test('keys arrive as they were sent, however long', async () => {
    const key = `${'k'.repeat(8000)}%2Fa%2Cb,c`;
    expect(await planned({ url: `/items/articles/${key}?fields=id` })).toEqual([
      'read',
      'public',
      'articles',
      key,
      'fields=id',
    ]);
  });

  test('query strings arrive untouched', async () => {
    expect(await planned({ url: '/items/articles?filter[a][_eq]=b%26&x=?+' })).toEqual([
      'list',
      'public',
      'articles',
      'filter[a][_eq]=b%26&x=?+',
    ]);
  });

  test('a singleton has no keys, and a hidden one does not say so', async () => {
    expect(await ask({ url: '/items/settings/1' })).toMatchObject({ status: 404, code: 'ROUTE_NOT_FOUND' });
    expect(await ask({ url: '/items/hidden_settings/1' })).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });
});

describe('tokens', () => {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const url = '/items/articles';

  test.each([undefined, '', 'null', 'Bearer', 'Bearer ', 'Basic dXNlcg==', 'token'])(
    '%j is anonymous',
    async (value) => {
      const headers = value === undefined ? {} : { authorization: value };
      expect(await askedAs({ url, headers })).toBe('public');
    },
  );

  test('the administrator is known by header and by query', async () => {
    expect(await askedAs({ url, headers: bearer(adminToken) })).toBe('admin');
    expect(await askedAs({ url, headers: { authorization: `bEARER  ${adminToken}` } })).toBe('admin');
    expect(await askedAs({ url: `${url}?access_token=${adminToken}` })).toBe('admin');
    expect(await askedAs({ url: `${url}?x=1&access%5Ftoken=${adminToken}` })).toBe('admin');
    expect(await askedAs({ url: `${url}?access_token=${adminToken}`, headers: bearer(adminToken) })).toBe('admin');
  });

  test('an empty query token is absent', async () => {
    expect(await askedAs({ url: `${url}?access_token=&page=2` })).toBe('public');
  });

  test('two different tokens are refused, wherever they stand', async () => {
    expect(await ask({ url: `${url}?access_token=other`, headers: bearer(adminToken) })).toMatchObject({
      status: 400,
      code: 'INVALID_QUERY',
    });
    expect(await ask({ url: `${url}?access_token=a&access_token=b` })).toMatchObject({ code: 'INVALID_QUERY' });
  });

  test('an unknown static token is 401, one of the form of a web token 403', async () => {
    expect(await ask({ url, headers: bearer('wrong') })).toMatchObject({ status: 401, code: 'INVALID_CREDENTIALS' });
    expect(await ask({ url, headers: bearer('a.b.c') })).toMatchObject({ status: 401 });
    expect(await ask({ url, headers: bearer(`${adminToken}x`) })).toMatchObject({ status: 401 });
    expect(await ask({ url, headers: bearer('t'.repeat(9000)) })).toMatchObject({ status: 401 });
    expect(await ask({ url, headers: bearer(webToken) })).toMatchObject({ status: 403, code: 'INVALID_TOKEN' });
  });

  test('a bad token fails on unknown paths, also on undecodable ones, before anything else', async () => {
    for (const path of ['/nothing', '/items/%zz', '/items/secrets', '/server/info']) {
      expect(await ask({ url: path, headers: bearer('wrong') })).toMatchObject({ status: 401 });
    }
    const body = {
      method: 'SEARCH',
      url,
      headers: { ...bearer('wrong'), 'content-type': 'text/xml' },
      payload: '<',
    } as const;
    expect(await ask(body)).toMatchObject({ status: 401 });
  });

  test('ping and everything below /auth look at no token', async () => {
    expect(await ask({ url: '/server/ping?access_token=a', headers: bearer('b') })).toMatchObject({ status: 200 });
    expect(await ask({ url: '/auth/login', method: 'POST', headers: bearer('b') })).toMatchObject({ status: 404 });
    expect(await ask({ url: '/authors', headers: bearer('b') })).toMatchObject({ status: 401 });
  });
});

describe('bodies', () => {
  const json = { 'content-type': 'application/json' };
  const search = (payload: string | Buffer, headers: Record<string, string> = json) =>
    ({ method: 'SEARCH', url: '/items/articles', payload, headers }) as const;

  test('an empty body is legal with any content type', async () => {
    for (const type of [undefined, 'application/json', 'text/plain', 'not a type']) {
      const headers = type === undefined ? {} : { 'content-type': type };
      expect(await planned({ method: 'SEARCH', url: '/items/articles', headers })).toEqual([
        'search',
        'public',
        'articles',
        undefined,
      ]);
    }
  });

  test('JSON arrives parsed, with the charset absent or utf-8', async () => {
    for (const type of ['application/json', 'Application/JSON; charset=UTF-8', 'application/json;charset="utf-8"']) {
      const question = await planned(search('{"query":{"limit":1}}', { 'content-type': type }));
      expect(question?.[3]).toEqual({ query: { limit: 1 } });
    }
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=utf-16',
    'multipart/form-data',
    'x',
  ])('a body of type %s is refused', async (type) => {
    expect(await ask(search('{}', { 'content-type': type }))).toMatchObject({
      status: 415,
      code: 'UNSUPPORTED_MEDIA_TYPE',
    });
  });

  test('a body without a type, or in a content coding, is refused', async () => {
    expect(await ask(search(Buffer.from('{}'), {}))).toMatchObject({ status: 415 });
    expect(await ask(search('{}', { ...json, 'content-encoding': 'gzip' }))).toMatchObject({ status: 415 });
  });

  const malformed: readonly (string | Buffer)[] = [
    '{',
    '{} x',
    '1',
    '"text"',
    'null',
    Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
    '{"__proto__":{"x":1}}',
    '{"a":[{"\\u005f_proto__":1}]}',
    '{"constructor":{"prototype":{}}}',
    '{"a":"\\u0000"}',
    '{"a":["\\ud800"]}',
    `{"a":"${'x'.repeat(1_100_000)}"}`,
  ];
  test.each(malformed.map((payload) => [payload.toString().slice(0, 40), payload] as const))(
    'the body %s is no payload',
    async (_, payload) => {
      expect(await ask(search(payload))).toMatchObject({ status: 400, code: 'INVALID_PAYLOAD' });
    },
  );

  test('deep nesting neither breaks nor blocks', async () => {
    expect(await planned(search(`${'['.repeat(100_000)}"\\u0061"${']'.repeat(100_000)}`))).toBeDefined();
  });

  test('a harmless constructor passes', async () => {
    expect(await planned(search('{"constructor":"x"}'))).toBeDefined();
  });
});

/** Headers that no two answers have alike. */
const changing = { date: '', 'x-request-id': '' };

describe('headers', () => {
  test('every answer carries the same set and none names the software', async () => {
    for (const url of ['/server/ping', '/server/info', '/server/health', '/nothing', '/items/%zz', '/items/secrets']) {
      const { headers } = await server.inject({ url });
      expect(headers).toMatchObject({
        'content-type': expect.stringContaining('; charset=utf-8'),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        vary: 'Origin',
        'cache-control': 'private, no-cache',
        'x-request-id': expect.stringMatching(/^[A-Za-z0-9_-]{16}$/),
      });
      expect(headers).not.toHaveProperty('strict-transport-security');
      expect(Object.keys(headers).join()).not.toMatch(/server|powered|access-control/);
    }
  });

  test('answers of accounts are not kept', async () => {
    for (const url of ['/auth', '/auth/login', '/users', '/users/me', '/utils/x']) {
      expect((await server.inject({ url })).headers['cache-control']).toBe('no-store');
    }
    expect((await server.inject({ url: '/authors' })).headers['cache-control']).toBe('private, no-cache');
  });

  test('https announces itself', async () => {
    const secure = await startServer({ PUBLIC_URL: 'https://api.example.com' });
    expect((await secure.inject('/server/ping')).headers['strict-transport-security']).toBe('max-age=31536000');
    await secure.close();
  });

  test('an unavailable service says when to come back', async () => {
    expect((await server.inject('/items/articles')).headers['retry-after']).toBe('1');
  });

  test('HEAD answers the headers of GET without a body', async () => {
    for (const url of ['/server/ping', '/server/info', '/items/secrets', '/nothing']) {
      const [get, head] = await Promise.all([server.inject({ url }), server.inject({ url, method: 'HEAD' })]);
      expect([head.statusCode, head.body]).toEqual([get.statusCode, '']);
      expect({ ...head.headers, ...changing }).toEqual({ ...get.headers, ...changing });
    }
  });
});

describe('OPTIONS and CORS', () => {
  const preflight = (origin: string) =>
    ({
      method: 'OPTIONS',
      url: '/items/articles',
      headers: { origin, 'access-control-request-method': 'SEARCH' },
    }) as const;

  test('OPTIONS names methods and no collection', async () => {
    const known = await server.inject({ method: 'OPTIONS', url: '/items/articles' });
    expect([known.statusCode, known.headers.allow, known.body]).toEqual([
      200,
      'GET, HEAD, SEARCH, POST, PATCH, DELETE, OPTIONS',
      '',
    ]);
    const unknown = await server.inject({ method: 'OPTIONS', url: '/items/nothing' });
    expect({ ...unknown.headers, ...changing }).toEqual({ ...known.headers, ...changing });
    expect(await ask({ method: 'OPTIONS', url: '/nothing' })).toMatchObject({ status: 404 });
  });

  test('CORS is off by default', async () => {
    const { headers } = await server.inject(preflight('https://a.example'));
    expect(Object.keys(headers).join()).not.toContain('access-control');
  });

  test('a listed origin gets its headers on preflights, answers and errors, another one none', async () => {
    const open = await startServer({ CORS_ENABLED: 'true', CORS_ORIGIN: 'https://a.example' });
    expect((await open.inject(preflight('https://a.example'))).headers).toMatchObject({
      'access-control-allow-origin': 'https://a.example',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,POST,PATCH,DELETE,SEARCH',
      'access-control-max-age': '18000',
    });
    const failed = await open.inject({ url: '/nothing', headers: { origin: 'https://a.example' } });
    expect(failed.headers['access-control-allow-origin']).toBe('https://a.example');
    for (const origin of ['https://b.example', 'null', '*', 'https://a.example.evil']) {
      expect(Object.keys((await open.inject(preflight(origin))).headers).join()).not.toContain('access-control');
    }
    await open.close();
  });

  test('a star never comes with credentials', async () => {
    const open = await startServer({ CORS_ENABLED: 'true', CORS_ORIGIN: '*' });
    const { headers } = await open.inject(preflight('https://any.example'));
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    await open.close();
  });
});

describe('/server', () => {
  const headers = { authorization: `Bearer ${adminToken}` };

  test('ping is the text pong', async () => {
    const response = await server.inject('/server/ping');
    expect([response.statusCode, response.body, response.headers['content-type']]).toEqual([
      200,
      'pong',
      'text/plain; charset=utf-8',
    ]);
  });

  test('info tells versions to administrators only', async () => {
    const anyone = (await server.inject('/server/info')).json();
    expect(anyone.data).toEqual({ project: expect.objectContaining({ project_name: 'Tablewright' }) });
    const admin = (await server.inject({ url: '/server/info', headers })).json();
    expect(admin.data.platform.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(admin.data.node.version).toBe(process.versions.node);
  });

  test('health is an error while the database is away; what is wrong is for administrators', async () => {
    const result = await server.inject('/server/health');
    expect([result.statusCode, result.json()]).toEqual([503, { status: 'error' }]);
    expect(result.headers).toMatchObject({
      'content-type': 'application/health+json; charset=utf-8',
      'retry-after': '1',
    });
    const admin = (await server.inject({ url: '/server/health', headers })).json();
    expect(admin.checks).toMatchObject({ database: { status: 'error' }, schema: { status: 'ok' } });
  });

  test('the document is that of the caller', async () => {
    expect((await server.inject('/server/specs/oas')).json().info.title).toBe('public');
    expect((await server.inject({ url: '/server/specs/oas', headers })).json().info.title).toBe('admin');
  });

  test('the document names the address of clients where that is known', async () => {
    const url = 'https://example.com/shop/v1';
    const known = await startServer({ PUBLIC_URL: `${url}/` });
    expect((await known.inject('/server/specs/oas')).json()).toMatchObject({
      info: { title: 'public' },
      servers: [{ url }],
    });
    expect((await server.inject('/server/specs/oas')).json()).not.toHaveProperty('servers');
    await known.close();
  });
});

test('a collection that drifted is closed, the others reach the database', async () => {
  const drift = {
    object: 'table public.articles',
    message: 'Gone.',
    collections: ['articles'],
    severity: 'error',
    table: '"public"."articles"',
  } as const;
  const drifted = await startServer({}, [], [drift]);
  expect((await drifted.inject('/items/articles')).statusCode).toBe(503);
  const health = await drifted.inject({ url: '/server/health', headers: { authorization: `Bearer ${adminToken}` } });
  expect(health.json().checks.schema).toEqual({ status: 'warn', output: ['table public.articles: Gone.'] });
  await drifted.close();
});
