/** The order in which a request is judged, and the parts of HTTP around it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { failure } from '../support/project.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

describe('the first failing stage answers', () => {
  it.each([
    // Token before route, route before body, body before query.
    ['GET', '/nothing?access_token=unknown', undefined, '401 INVALID_CREDENTIALS'],
    ['SEARCH', '/items/articles/1?access_token=unknown', '{', '401 INVALID_CREDENTIALS'],
    ['SEARCH', '/items/articles/1', '{', '404 ROUTE_NOT_FOUND'],
    ['SEARCH', '/items/orders', '{', '400 INVALID_PAYLOAD'],
    ['SEARCH', '/items/orders', '{"queries":{}}', '400 INVALID_PAYLOAD'],
    ['SEARCH', '/items/orders', '{"query":{"limit":"x"}}', '400 INVALID_QUERY'],
    ['SEARCH', '/items/orders', '{"query":{"filter":{"a":{"_like":1}}}}', '400 INVALID_QUERY'],
    ['SEARCH', '/items/orders', '{"query":{"filter":{"a":{"_gt":"x"}}}}', '403 FORBIDDEN'],
    ['PUT', '/items/articles', undefined, '404 ROUTE_NOT_FOUND'],
    ['GET', '/auth/login?access_token=unknown', undefined, '404 ROUTE_NOT_FOUND'],
  ])('%s %s %s', async (method, path, body, expected) => {
    expect(failure(await magazine.ask(path, { method, ...(body !== undefined && { body }) }))).toBe(expected);
  });

  it.each([
    // Syntax, then names, then types.
    ['fields=nope&limit=x', '400 INVALID_QUERY'],
    ['fields=nope&filter[id][_like]=1', '400 INVALID_QUERY'],
    ['fields=nope&filter[id]=x', '403 FORBIDDEN'],
    ['filter[id]=x&filter[nope]=1', '403 FORBIDDEN'],
    ['filter[title][_gt]=1&sort=nope', '403 FORBIDDEN'],
    ['sort=comments,nope', '403 FORBIDDEN'],
    ['sort=comments&filter[nope]=1', '403 FORBIDDEN'],
    ['sort=comments', '400 INVALID_QUERY'],
    ['limit=0&fields=nope', '403 FORBIDDEN'],
  ])('%s', async (query, expected) => {
    expect(failure(await magazine.ask(`/items/articles?${query}`))).toBe(expected);
  });
});

/** The message of the error that answers a list of articles. */
async function told(query: string): Promise<string> {
  return (await magazine.ask(`/items/articles?${query}`)).json.errors?.[0]?.message ?? 'no error';
}

it.each([
  ['filter={"title":"x",}', '"filter" is not valid JSON at line 1, column 14.'],
  ['filter=[]', 'The filter must be an object.'],
  ['limit=1&limit=2', '"limit" takes one value.'],
  ['fields=id,upper(title)', '"fields" calls an unknown function in "upper(title)".'],
  ['fields=id,year(title)', '"fields" has "year(title)", whose function does not fit the field.'],
  ['groupBy=upper(title)', '"upper(title)" calls an unknown function.'],
  [
    'deep[comments][limit]=1',
    expect.stringMatching(/^"deep" at "comments.limit" must be an object, unless it .* _limit,/),
  ],
  ['deep={"comments":{"_limt":{}}}', '"deep" has no parameter "_limt".'],
  ['filter={"keywords":{"_eq":["a",1]}}', expect.stringContaining('has an element that must be text')],
])('%s is refused with its place: %s', async (query, message) => {
  expect(await told(query)).toEqual(message);
});

it('a body that is no JSON is refused with its place', async () => {
  const headers = { 'content-type': 'application/json' };
  const { json } = await magazine.ask('/items/articles', { method: 'SEARCH', headers, body: '{"query":\n {},}' });
  expect(json.errors[0].message).toBe('The body is not valid JSON at line 2, column 5.');
});

it('ignores parameters of nobody', async () => {
  const plain = await magazine.ask('/items/articles?limit=2');
  expect((await magazine.ask('/items/articles?limit=2&nobody=1&other[a=2&access_token=')).text).toBe(plain.text);
});

describe('entity tags', () => {
  it('are those of the bytes, and spare them', async () => {
    const path = '/items/articles/1?fields=id,title';
    const first = await magazine.ask(path);
    const tag = first.headers.get('etag') ?? '';
    expect(tag).toMatch(/^W\/"[^"]+"$/);
    for (const known of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const again = await magazine.ask(path, { headers: { 'if-none-match': known } });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
      expect(again.headers.get('cache-control')).toBe('private, no-cache');
    }
    expect((await magazine.ask('/items/articles/1?fields=id', { headers: { 'if-none-match': tag } })).status).toBe(200);
    const missing = await magazine.ask('/items/articles/999999', { headers: { 'if-none-match': '*' } });
    expect(failure(missing)).toBe('403 FORBIDDEN');
  });
});

describe('HEAD and OPTIONS', () => {
  it.each([
    '/items/articles?limit=1',
    '/items/articles?limit=-1',
    '/items/articles/1',
    '/items/nothing',
    '/server/info',
  ])('HEAD %s has the head of GET', async (path) => {
    const [get, head] = await Promise.all([magazine.ask(path), magazine.ask(path, { method: 'HEAD' })]);
    expect([head.status, head.text]).toEqual([get.status, '']);
    for (const name of ['content-type', 'etag', 'vary', 'cache-control']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  });

  it('OPTIONS names no collection', async () => {
    const [known, unknown] = await Promise.all(
      ['articles', 'nothing'].map((name) => magazine.ask(`/items/${name}`, { method: 'OPTIONS' })),
    );
    expect([known?.status, known?.headers.get('allow')]).toEqual([
      200,
      'GET, HEAD, SEARCH, POST, PATCH, DELETE, OPTIONS',
    ]);
    expect(unknown?.headers.get('allow')).toBe(known?.headers.get('allow'));
    expect(failure(await magazine.ask('/nothing', { method: 'OPTIONS' }))).toBe('404 ROUTE_NOT_FOUND');
  });
});

describe('tokens', () => {
  it.each([
    ['bearer test-admin-token-0123456789-0123456789', '200 no error'],
    ['Bearer   test-admin-token-0123456789-0123456789', '200 no error'],
    ['Bearer null', '401 INVALID_CREDENTIALS'],
    ['Bearer a.b.c', '401 INVALID_CREDENTIALS'],
    ['Bearer W10.a.b', '401 INVALID_CREDENTIALS'],
    ['Bearer e30.a.b', '403 INVALID_TOKEN'],
    ['Bearer e30..', '403 INVALID_TOKEN'],
    [`Bearer ${'x'.repeat(9000)}`, '401 INVALID_CREDENTIALS'],
    ['Basic test-admin-token-0123456789-0123456789', '403 FORBIDDEN'],
  ])('%.40s is %s', async (authorization, expected) => {
    expect(failure(await magazine.ask('/items/orders?limit=1', { headers: { authorization } }))).toBe(expected);
  });

  it('of equal value may come twice; none is looked at for a ping', async () => {
    const token = 'test-admin-token-0123456789-0123456789';
    expect((await magazine.ask(`/items/orders?limit=0&access_token=${token}`, { token })).status).toBe(200);
    expect((await magazine.ask('/server/ping?access_token=unknown')).text).toBe('pong');
    expect(failure(await magazine.ask('/server/health?access_token=unknown'))).toBe('401 INVALID_CREDENTIALS');
  });
});

describe('bodies', () => {
  const json = 'application/json';
  it.each([
    ['text/plain', '{}', '415 UNSUPPORTED_MEDIA_TYPE'],
    [`${json}; charset=latin1`, '{}', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['Application/JSON; charset=UTF-8', '{}', '200 no error'],
    ['nonsense', '', '200 no error'],
    [json, '[]', '400 INVALID_PAYLOAD'],
    [json, '1', '400 INVALID_PAYLOAD'],
    [json, '{} {}', '400 INVALID_PAYLOAD'],
    [json, '{"query":{"__proto__":1}}', '400 INVALID_PAYLOAD'],
    [json, '{"query":{"filter":{"title":"\\u0000"}}}', '400 INVALID_PAYLOAD'],
    [json, '{"keys":["\\ud800"]}', '400 INVALID_PAYLOAD'],
    [json, '{"keys":"1"}', '400 INVALID_PAYLOAD'],
    [json, '{"query":[]}', '400 INVALID_QUERY'],
    [json, '{"query":{"limit":1.5}}', '400 INVALID_QUERY'],
    [json, '{"query":{"limt":1}}', '400 INVALID_QUERY'],
    [json, '{"query":{"fields":[1]}}', '400 INVALID_QUERY'],
  ])('%s %s', async (type, body, expected) => {
    const answer = await magazine.ask('/items/articles', { method: 'SEARCH', headers: { 'content-type': type }, body });
    expect(failure(answer)).toBe(expected);
  });

  it('replace the query of the address', async () => {
    const body = { query: { fields: 'id', limit: '1' } };
    const { json: answer } = await magazine.ask('/items/articles?limit=x&fields=nope', { method: 'SEARCH', body });
    expect(answer.data).toHaveLength(1);
  });
});
