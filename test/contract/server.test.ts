import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

describe('tokens', () => {
  it('refuses unknown and malformed ones by the table', async () => {
    const unknown = await magazine.ask('/items/articles', { token: 'not-a-known-token' });
    expect([unknown.status, unknown.json.errors[0].extensions.code]).toEqual([401, 'INVALID_CREDENTIALS']);
    const jwt = `${btoa('{"alg":"none"}').replaceAll('=', '')}.e30.x`;
    const garbled = await magazine.ask('/items/articles', { token: jwt });
    expect([garbled.status, garbled.json.errors[0].extensions.code]).toEqual([403, 'INVALID_TOKEN']);
  });

  it('takes other schemes and empty values as anonymous', async () => {
    for (const authorization of ['', 'null', 'Bearer', 'Basic abc']) {
      expect((await magazine.ask('/items/articles?limit=1', { headers: { authorization } })).status).toBe(200);
    }
  });

  it('accepts access_token, and refuses two different tokens', async () => {
    const token = 'test-admin-token-0123456789-0123456789';
    expect((await magazine.ask(`/items/orders?limit=1&access_token=${token}`)).status).toBe(200);
    const two = await magazine.ask('/items/orders?access_token=other', { token });
    expect([two.status, two.json.errors[0].extensions.code]).toEqual([400, 'INVALID_QUERY']);
  });
});

describe('paths', () => {
  it.each([
    '/items',
    '/items/',
    '/items/articles/',
    '/Items/articles',
    '/nothing',
    '/items/articles/1/2',
    '/items/%zz',
  ])('%s is not found', async (path) => {
    const { status, json } = await magazine.ask(path);
    expect([status, json.errors[0].extensions.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
  });

  it('forbids system collections under /items', async () => {
    expect((await magazine.admin('/items/platform_users')).status).toBe(403);
  });

  it.each([
    ['PUT', 404, 'ROUTE_NOT_FOUND'],
    ['POST', 400, 'INVALID_PAYLOAD'],
    ['DELETE', 400, 'INVALID_PAYLOAD'],
  ])('%s answers from the table', async (method, ...expected) => {
    const { status, json } = await magazine.ask('/items/articles', { method });
    expect([status, json.errors[0].extensions.code]).toEqual(expected);
    expect(json.errors).toHaveLength(1);
  });

  it('answers HEAD as GET without a body, and OPTIONS with Allow', async () => {
    const head = await magazine.ask('/items/articles?limit=1', { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    const options = await magazine.ask('/items/articles', { method: 'OPTIONS' });
    expect(options.status).toBe(200);
    expect(options.headers.get('allow')).toContain('GET');
  });
});

describe('/server', () => {
  it('pings, and tells its health', async () => {
    expect((await magazine.ask('/server/ping')).text).toBe('pong');
    const health = await magazine.ask('/server/health');
    expect(health.status).toBe(200);
    expect(health.headers.get('content-type')).toMatch(/^application\/health\+json/);
    expect(health.json).toEqual({ status: 'ok' });
    expect((await magazine.admin('/server/health')).json.checks).toMatchObject({
      database: { status: 'ok' },
      schema: { status: 'ok' },
    });
  });

  it("gives the caller's own OpenAPI document", async () => {
    const own = await magazine.ask('/server/specs/oas');
    expect(own.json.openapi).toMatch(/^3\.1/);
    expect(Object.keys(own.json.paths)).toContain('/items/articles');
    expect(own.text).not.toContain('orders');
    expect(own.text).not.toContain('created_by');
    expect(Object.keys((await magazine.admin('/server/specs/oas')).json.paths)).toContain('/items/orders');
  });
});

describe('every answer', () => {
  it.each(['/items/articles?limit=1', '/items/nothing', '/nothing', '/server/ping'])(
    '%s has the headers',
    async (path) => {
      const { headers } = await magazine.ask(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('vary')).toContain('Origin');
      expect(headers.get('server')).toBeNull();
      expect(headers.get('x-powered-by')).toBeNull();
    },
  );

  it('without a body names no type; 204 and 304 name no length either', async () => {
    const tag = (await magazine.ask('/items/articles/1')).headers.get('etag') ?? '';
    const empty = await Promise.all([
      magazine.admin('/items/articles', { method: 'DELETE', body: '[]' }),
      magazine.ask('/items/articles/1', { headers: { 'if-none-match': tag } }),
      magazine.ask('/items/articles/1', { method: 'HEAD', headers: { 'if-none-match': tag } }),
      magazine.admin('/utils/cache/clear', { method: 'POST' }),
      magazine.ask('/items/articles', { method: 'OPTIONS' }),
    ]);
    const told = ({ status, headers }: (typeof empty)[number]) =>
      [status, headers.get('content-type'), headers.get('content-length')] as const;
    expect(empty.map(told)).toEqual([
      [204, null, null],
      [304, null, null],
      [304, null, null],
      [200, null, '0'],
      [200, null, '0'],
    ]);
    const head = await magazine.ask('/items/articles/1', { method: 'HEAD' });
    expect(head.headers.get('content-type')).toBe('application/json; charset=utf-8');
  });
});
