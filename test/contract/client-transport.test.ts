/** The client library on the wire: forms of requests, what it sends again, what it gives up. Source: API specification, section 15. */
import { type ClientOptions, createClient, isPlatformError, PlatformError, type WriteQuery } from '@tablewright/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type AnsweringServer, startAnswering } from '../support/answering.ts';

let server: AnsweringServer;
beforeAll(async () => {
  server = await startAnswering();
});
afterAll(() => server?.close());
beforeEach(() => server.tell({}));

const client = (init: ClientOptions = {}) => createClient(`${server.url}/`, init);
const failure = (status: number, code: string, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers,
  body: { errors: [{ message: `It is ${code}.`, extensions: { code } }] },
});
const lines = (): readonly string[] =>
  server.asked.map(({ method, url, body }) => `${method} ${decodeURIComponent(url)} ${body}`.trim());

describe('requests', () => {
  it('write lists as name[], objects as JSON text, and leave out what is undefined', async () => {
    const filter = { title: { _eq: 'a&b' } };
    await client()
      .items('docs')
      .readByQuery({ fields: ['id', 'author.name'], filter, sort: '-id', limit: 2 });
    expect(lines()).toEqual([
      'GET /items/docs?fields[]=id&fields[]=author.name&filter={"title":{"_eq":"a&b"}}&sort=-id&limit=2',
    ]);
    expect(server.asked[0]?.url).toContain('a%26b');
  });

  it('carry the parameters and headers of the transport', async () => {
    const transport = { params: { trace: 'x' }, headers: { 'X-Own': 'y' } };
    await client({ transport })
      .items('docs')
      .updateOne('a/b', { n: 1 }, { fields: ['n'] });
    expect(lines()).toEqual(['PATCH /items/docs/a/b?trace=x&fields[]=n {"n":1}']);
    expect(server.asked[0]).toMatchObject({
      url: '/items/docs/a%2Fb?trace=x&fields%5B%5D=n',
      headers: { 'x-own': 'y', 'content-type': 'application/json' },
    });
  });

  it('have one value of a header, however its name is written: that of the request before those of the client', async () => {
    const headers = { authorization: 'Basic a', 'content-type': 'application/merge-patch+json', 'x-own': 'y' };
    const docs = client({ auth: { staticToken: 't' }, transport: { headers } }).items('docs');
    await docs.createOne({ n: 1 });
    await docs.createOne({ n: 1 }, {}, { headers: { AUTHORIZATION: 'Basic b', 'X-Own': 'z' } });
    const type = 'application/merge-patch+json';
    expect(server.asked.map((request) => request.headers)).toMatchObject([
      { authorization: 'Bearer t', 'content-type': type, 'x-own': 'y' },
      { authorization: 'Basic b', 'content-type': type, 'x-own': 'z' },
    ]);
  });

  it('of lists become SEARCH when the address would exceed 8 KiB, and not before', async () => {
    const ids = (length: number) => ({ filter: { id: { _eq: 'x'.repeat(length) } } });
    const room = 8192 - `${server.url}/items/docs?filter=${encodeURIComponent(JSON.stringify(ids(0).filter))}`.length;
    const docs = client({ transport: { params: { trace: 'x' } } }).items('docs');
    await client().items('docs').readByQuery(ids(room));
    await client()
      .items('docs')
      .readByQuery(ids(room + 1));
    await docs.readByQuery(ids(room));
    expect(server.asked.map(({ method }) => method)).toEqual(['GET', 'SEARCH', 'SEARCH']);
    expect(server.asked[2]?.url).toBe('/items/docs?trace=x');
    expect(JSON.parse(server.asked[1]?.body ?? '')).toEqual({ query: ids(room + 1) });
  });

  it('of an item whose query is that long ask by SEARCH, too', async () => {
    server.tell({ body: { data: [{ id: 1 }] } }, { body: { data: [] } });
    const filter = { id: { _in: Array.from({ length: 2000 }, (_, id) => id) } };
    expect(await client().items('docs').readOne(1, { filter })).toEqual({ id: 1 });
    await expect(client().items('docs').readOne(2, { filter })).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(server.asked.map(({ method, url }) => `${method} ${url}`)).toEqual(Array(2).fill('SEARCH /items/docs'));
    expect(JSON.parse(server.asked[0]?.body ?? '')).toEqual({ keys: [1], query: { filter, limit: -1 } });
  });

  it('are never made of keys that lead elsewhere, which go in bodies', async () => {
    const docs = client().items('docs');
    for (const key of ['..', '.', '']) {
      const before = server.asked.length;
      await docs.deleteOne(key);
      // The server of these tests answers no items.
      await docs.updateOne(key, { title: 'x' }).catch(() => {});
      await docs.readOne(key, { fields: ['id'] }).catch(() => {});
      await expect(client().fields.readOne(key, 'x')).rejects.toThrow(TypeError);
      expect(server.asked.slice(before).map(({ method, url, body }) => [method, url, JSON.parse(body)])).toEqual([
        ['DELETE', '/items/docs', [key]],
        ['PATCH', '/items/docs', { keys: [key], data: { title: 'x' } }],
        ['SEARCH', '/items/docs', { keys: [key], query: { fields: ['id'], limit: -1 } }],
      ]);
    }
  });

  it('send a static token as Bearer, and none where none is asked for', async () => {
    const own = client({ auth: { staticToken: 'secret' } });
    await own.items('docs').readOne(1);
    await own.users.invites.accept('t', 'p');
    await own.auth.static('other');
    await own.items('docs').readOne(1);
    expect(server.asked.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer secret',
      undefined,
      'Bearer other',
    ]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['PATCH /settings {"a":1}', () => client().settings.updateOne('ignored', { a: 1 })],
    ['GET /settings', () => client().settings.readOne(7)],
    ['GET /items/one', () => client().singleton('one').read()],
    ['GET /fields/docs/id', () => client().fields.readOne('docs', 'id')],
    ['POST /fields/docs {"field":"n"}', () => client().fields.createOne('docs', { field: 'n' })],
    ['POST /relations {"field":"n"}', () => client().relations.createOne({ field: 'n' })],
    ['DELETE /relations/docs/n', () => client().relations.deleteOne('docs', 'n')],
    ['GET /relations/docs', () => client().relations.readMany('docs')],
    ['PATCH /activity/comment/3 {"comment":"c"}', () => client().activity.comments.update(3, 'c')],
    ['GET /utils/random/string?length=32', () => client().utils.random.string()],
    ['POST /utils/sort/docs {"item":1,"to":2}', () => client().utils.sort('docs', 1, 2)],
    ['POST /utils/revert/9', () => client().utils.revert(9)],
    ['POST /utils/hash/verify {"string":"a","hash":"b"}', () => client().utils.hash.verify('a', 'b')],
    ['POST /auth/password/request {"email":"a@b.c"}', () => client().auth.password.request('a@b.c')],
    [
      'PATCH /items/docs {"query":{"search":"x"},"data":{"n":1}}',
      () =>
        client()
          .items('docs')
          .updateByQuery({ query: { search: 'x' }, data: { n: 1 } }),
    ],
    ['DELETE /items/docs {"query":{"limit":3}}', () => client().items('docs').deleteByQuery({ limit: 3 })],
  ])('%s', async (line, act) => {
    await act();
    expect(lines()).toEqual([line]);
  });
});

describe('what is answered 429 or 503', () => {
  const busy = failure(429, 'REQUESTS_EXCEEDED', { 'Retry-After': '0' });

  it.each([429, 503])('is asked again after the seconds of Retry-After: %s', async (status) => {
    server.tell(failure(status, 'SERVICE_UNAVAILABLE', { 'Retry-After': '1' }), { body: { data: { id: 1 } } });
    const started = performance.now();
    expect(await client().items('docs').readOne(1)).toEqual({ id: 1 });
    expect(performance.now() - started).toBeGreaterThanOrEqual(990);
    expect(server.asked.length).toBe(2);
  });

  it('is asked again at the date of Retry-After', async () => {
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 1000);
    server.tell(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': date.toUTCString() }), {});
    await client().items('docs').deleteOne(1);
    expect(Date.now()).toBeGreaterThanOrEqual(date.getTime() - 10);
    expect(server.asked.length).toBe(2);
  });

  it('fails when it has been asked often enough, or at once', async () => {
    server.tell(busy);
    const error = await client()
      .items('docs')
      .readByQuery()
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'REQUESTS_EXCEEDED', status: 429 });
    expect(server.asked.length).toBe(4);
    server.tell(busy);
    await expect(
      client({ transport: { retries: 0 } })
        .items('docs')
        .readByQuery(),
    ).rejects.toThrow(PlatformError);
    expect(server.asked.length).toBe(1);
  });

  it('fails at once when it would take too long', async () => {
    server.tell(failure(429, 'REQUESTS_EXCEEDED', { 'Retry-After': '3600' }));
    await expect(client().items('docs').readByQuery()).rejects.toThrow('It is REQUESTS_EXCEEDED.');
    expect(server.asked.length).toBe(1);
  });

  it('is asked again only where nothing happens twice', async () => {
    const docs = client().items('docs');
    for (const act of [
      () => docs.createOne({ n: 1 }),
      () => docs.updateOne(1, { n: 1 }),
      () => docs.updateMany([1], { n: 1 }),
      () => docs.deleteByQuery({ sort: 'id', limit: 1 }),
    ]) {
      server.tell(busy);
      await expect(act()).rejects.toThrow(PlatformError);
      expect(server.asked.length).toBe(1);
    }
    server.tell(busy, {});
    await docs.deleteByQuery({ limit: -1 });
    expect(server.asked.length).toBe(2);
    server.tell(busy, busy, {});
    await docs.createOne({ n: 1 }, {}, { idempotencyKey: 'k' });
    expect(server.asked.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k', 'k']);
  });

  it('is an answer where it is asked how the server is', async () => {
    server.tell({ status: 503, body: { status: 'error' } });
    expect(await client().server.health()).toEqual({ status: 'error' });
  });
});

describe('giving up', () => {
  it('stops a request under way, with the reason', async () => {
    server.tell({ silent: true });
    const controller = new AbortController();
    const reading = client().items('docs').readByQuery({}, { signal: controller.signal });
    await expect.poll(() => server.asked.length).toBe(1);
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });

  it('stops the wait for another attempt', async () => {
    server.tell(failure(503, 'SERVICE_UNAVAILABLE', { 'Retry-After': '50' }));
    const controller = new AbortController();
    const reading = client().items('docs').readByQuery({}, { signal: controller.signal });
    await expect.poll(() => server.asked.length).toBe(1);
    // The answer comes meanwhile.
    setTimeout(() => controller.abort(new Error('enough')), 300);
    await expect(reading).rejects.toThrow('enough');
    expect(server.asked.length).toBe(1);
  });
});

describe('failures', () => {
  it('tell everything that the server told', async () => {
    server.tell(failure(400, 'FAILED_VALIDATION'));
    const error: unknown = await client()
      .items('docs')
      .createOne({})
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PlatformError);
    expect(error).toMatchObject({
      message: 'It is FAILED_VALIDATION.',
      code: 'FAILED_VALIDATION',
      status: 400,
      errors: [{ extensions: { code: 'FAILED_VALIDATION' } }],
    });
    expect(isPlatformError(error) && error.response.headers.get('content-type')).toBe('application/json');
    expect([isPlatformError(error, 'FAILED_VALIDATION'), isPlatformError(error, 'FORBIDDEN')]).toEqual([true, false]);
  });

  it.each(['<h1>Bad gateway</h1>', 'null', '{"errors":"none"}', '{"errors":[]}'])(
    'of something on the way have no code: %s',
    async (body) => {
      server.tell({ status: 502, body });
      const error: unknown = await client()
        .items('docs')
        .readOne(1)
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ name: 'PlatformError', code: null, status: 502, errors: [] });
    },
  );

  it('of documents reject, though the answer is 200', async () => {
    server.tell({
      body: { data: { a: null }, errors: [{ message: 'No.', path: ['a'], extensions: { code: 'FORBIDDEN' } }] },
    });
    const error: unknown = await client()
      .graphql.items('{ a { id } }')
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'FORBIDDEN', status: 200, errors: [{ path: ['a'] }] });
  });

  it.each(['<!doctype html><title>App</title>', '{"data":', ''])('of another server that answers %j', async (body) => {
    server.tell({ headers: { 'content-type': 'text/html' }, body });
    const attempts = [
      () => client().items('docs').readOne(1),
      () => client().server.info(),
      () => client().graphql.items('{ a }'),
      () => client().auth.login({ email: 'a', password: 'b' }),
    ];
    for (const attempt of attempts) {
      const error = await attempt().catch((caught: unknown) => caught);
      expect(error).toBeInstanceOf(PlatformError);
      expect(error).toMatchObject({ message: 'The answer is no JSON of the server.', code: null, errors: [] });
    }
  });

  it('of a write by a query with undefined values come before it is sent', async () => {
    const docs = client().items('docs');
    const query: WriteQuery = { filter: { id: { _eq: undefined } } };
    const refused = new TypeError('The query is not sent: its "_eq" is undefined.');
    await expect(docs.deleteByQuery(query)).rejects.toThrow(refused);
    await expect(docs.updateByQuery({ query, data: { n: 1 } })).rejects.toThrow(refused);
    expect(server.asked).toEqual([]);
    const lost: WriteQuery = { filter: { n: { _eq: Number('x') } } };
    await expect(docs.deleteByQuery(lost)).rejects.toThrow('The query is not sent: its "_eq" is NaN.');
    const seen = { _lt: '' };
    Reflect.set(seen, '_lt', new Date('none'));
    const since: WriteQuery = { filter: { seen } };
    await expect(docs.deleteByQuery(since)).rejects.toThrow('The query is not sent: its "_lt" is Invalid Date.');
    expect(server.asked).toEqual([]);
    await docs.deleteByQuery({ filter: { id: { _eq: null } } });
    expect(lines()).toEqual(['DELETE /items/docs {"query":{"filter":{"id":{"_eq":null}}}}']);
  });

  it('of making a client are TypeErrors', () => {
    expect(() => createClient('')).toThrow(TypeError);
    expect(() => createClient('localhost:8055')).toThrow('Write "http://" or "https://" in front of "localhost:8055".');
    for (const url of ['/api', 'http://[::1]:8055', 'https://a.example/b:c']) createClient(url);
    expect(() => createClient(server.url, { storage: { mode: 'LocalStorage' } })).toThrow(TypeError);
    // @ts-expect-error: a static token is never refreshed
    expect(() => createClient(server.url, { auth: { staticToken: 'x', autoRefresh: true } })).toThrow(TypeError);
  });
});
