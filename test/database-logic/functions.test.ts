/** Functions and procedures of the database over REST: results, permissions, errors and attacks. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Atlas, clerk, startAtlas } from '../support/atlas.ts';
import type { Answer, Ask } from '../support/platform.ts';
import { failure } from '../support/project.ts';

let atlas: Atlas;
beforeAll(async () => {
  atlas = await startAtlas();
});
afterAll(() => atlas?.close());

type Role = 'public' | 'clerk' | 'auditor' | 'admin';

function call(role: Role, path: string, ask: Ask = {}): Promise<Answer> {
  if (role === 'admin') return atlas.admin(`/functions/${path}`, ask);
  return atlas.ask(`/functions/${path}`, role === 'public' ? ask : { ...ask, token: atlas.tokens[role] });
}

const post = (role: Role, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  call(role, path, { method: 'POST', headers, ...(body !== undefined && { body }) });
const search = (role: Role, path: string, body: unknown) => call(role, path, { method: 'SEARCH', body });
const message = (answer: Answer): unknown => answer.json.errors[0].message;
const names = (answer: Answer): unknown =>
  answer.status === 200 ? answer.json.data.map(({ name }: { readonly name: string }) => name) : failure(answer);

describe('functions that read', () => {
  it('answer a value, and values', async () => {
    expect((await call('public', 'shop_count')).json).toEqual({ data: '4' });
    expect((await call('public', 'shop_count?region=1')).json).toEqual({ data: '2' });
    expect((await call('public', 'shop_count?region=null')).json).toEqual({ data: '4' });
    expect((await search('public', 'shop_count', { args: { region: 2 } })).json).toEqual({ data: '2' });
    expect((await call('public', 'words?phrase=a+b')).json).toEqual({ data: ['a', 'b'] });
    const titles = (await call('auditor', 'titles?status=published')).json;
    expect(titles).toEqual({ data: ['Winter at the harbour', 'Summer at the harbour', 'Report of the south'] });
    expect((await call('auditor', 'titles?status=published&limit=1&offset=1')).json).toEqual({
      data: ['Summer at the harbour'],
    });
  });

  it('answer rows of no table as objects', async () => {
    const ghent = { region: 'Ghent', shops: '2', rating: '4.20' };
    const bruges = { region: 'Bruges', shops: '2', rating: '4.80' };
    expect((await call('clerk', 'region_totals')).json).toEqual({ data: [ghent, bruges] });
    expect((await call('clerk', 'region_totals?limit=1&offset=1')).json).toEqual({ data: [bruges] });
    expect((await search('clerk', 'region_totals', { args: { smallest: 3 } })).json).toEqual({ data: [] });
    expect((await call('clerk', 'extent?region=1')).json).toEqual({ data: { west: 3.72, east: 3.73 } });
  });

  it('answer items of a collection as the caller may read them', async () => {
    const near = 'nearest_shops?lng=3.2&lat=51.2';
    expect(names(await call('public', near))).toEqual(['Belfry', 'Harbour', 'Market']);
    expect(names(await call('clerk', near))).toEqual(['Belfry', 'Cellar', 'Harbour', 'Market']);
    expect((await call('public', `${near}&max_count=1`)).json.data).toEqual([
      { id: 3, name: 'Belfry', region: 2, lng: 3.22, lat: 51.21, place: { type: 'Point', coordinates: [3.22, 51.21] } },
    ]);
    expect((await call('public', `${near}&fields=name,region.name&sort=-name&limit=2`)).json.data).toEqual([
      { name: 'Market', region: { name: 'Ghent' } },
      { name: 'Harbour', region: { name: 'Ghent' } },
    ]);
    expect(names(await call('public', `${near}&filter[region][name][_eq]=Bruges`))).toEqual(['Belfry']);
    const counted = await call('clerk', `${near}&max_count=3&filter[rating][_nnull]=true&fields=name&limit=1&meta=*`);
    expect(counted.json).toEqual({ data: [{ name: 'Belfry' }], meta: { total_count: 3, filter_count: 2 } });
    const query = { fields: ['name'], filter: { is_open: { _eq: false } } };
    expect(names(await search('clerk', 'nearest_shops', { args: { lng: 3.2, lat: 51.2 }, query }))).toEqual(['Cellar']);
    expect((await call('clerk', `${near}&export=csv&fields=name&limit=1`)).text).toBe('name\r\nBelfry\r\n');
  });

  it('answer one item, or null', async () => {
    expect((await call('clerk', 'best_shop?region=2&fields=name')).json).toEqual({ data: { name: 'Belfry' } });
    expect((await call('clerk', 'best_shop?region=9&fields=name')).json).toEqual({ data: null });
  });
});

it('the request of the page is answered', async () => {
  const page = await readFile(new URL('../../docs/functions.md', import.meta.url), 'utf8');
  const [, path = ''] = /^curl 'http:\/\/127\.0\.0\.1:8055\/functions\/(.*)'$/m.exec(page) ?? [];
  expect(names(await call('public', path))).toEqual(['Market', 'Harbour', 'Belfry']);
});

describe('functions that write', () => {
  it('answer JSON, nothing, and OUT parameters', async () => {
    const placed = await post('clerk', 'place_order', { lines: [{ shop: 1 }] });
    expect(placed.json.data).toEqual({ order: expect.any(Number), customer: clerk });
    const closed = await post('clerk', 'reopen');
    expect([closed.status, closed.text]).toEqual([204, '']);
    await atlas.database.rows('UPDATE shops SET is_open = false WHERE id = 4');
    const archived = await post('auditor', 'archive_documents', { before: '2024-01-01' });
    expect(archived.json).toEqual({ data: { archived: 1 } });
    await atlas.database.rows(`UPDATE documents SET status = 'published' WHERE id = 4`);
  });

  it('answer items as the caller may read them, whatever they changed', async () => {
    const closed = await post('clerk', 'close_region?fields=name,is_open&sort=-name', { region: 1 });
    expect(closed.json.data).toEqual([
      { name: 'Market', is_open: false },
      { name: 'Harbour', is_open: false },
    ]);
    // The auditor reads no shop.
    const hidden = await post('auditor', 'close_region', { region: 1 });
    expect([hidden.status, hidden.text]).toEqual([204, '']);
    expect((await post('clerk', 'close_region', { region: 9 })).status).toBe(204);
    await post('clerk', 'reopen');
    await atlas.database.rows('UPDATE shops SET is_open = false WHERE id = 4');
    const renamed = await post('clerk', 'rename_shop?fields=id,name', { shop: 4, new_name: 'Vault' });
    expect(renamed.json).toEqual({ data: { id: 4, name: 'Vault' } });
    expect((await post('clerk', 'rename_shop', { shop: 9, new_name: 'None' })).status).toBe(204);
    await post('clerk', 'rename_shop', { shop: 4, new_name: 'Cellar' });
  });

  it('leave one activity, which names the function and its caller, where they are committed', async () => {
    const noted = () =>
      atlas.database.rows(
        `SELECT a.item, a."user", a.collection FROM platform.platform_activity AS a WHERE a.action = 'call' ORDER BY a.id`,
      );
    const before = (await noted()).length;
    await post('clerk', 'place_order', { lines: [1] });
    await post('clerk', 'place_order', { lines: [] });
    await post('clerk', 'close_region', { region: 9 });
    await call('clerk', 'region_totals');
    const key = { 'Idempotency-Key': 'noted-1' };
    for (const _ of [1, 2]) await post('clerk', 'place_order', { lines: [1] }, key);
    const mutation = 'mutation { place_order(lines: [1]) close_region(region: 9) { id } }';
    await atlas.ask('/graphql', { method: 'POST', token: atlas.tokens.clerk, body: { query: mutation } });
    const called = ['place_order', 'close_region', 'place_order', 'place_order', 'close_region'];
    expect((await noted()).slice(before)).toEqual(
      called.map((item) => ({ item, user: clerk, collection: 'functions' })),
    );
    const { json } = await atlas.admin('/activity?filter[action]=call&fields=item,user.email&sort=-id&limit=1');
    expect(json.data).toEqual([{ item: 'close_region', user: { email: 'clerk@example.com' } }]);
  });

  it('run once under an Idempotency-Key', async () => {
    const count = async () => (await atlas.database.rows('SELECT count(*)::int AS n FROM orders'))[0]?.n;
    const before = Number(await count());
    const key = { 'Idempotency-Key': 'order-1' };
    const first = await post('clerk', 'place_order', { lines: [1] }, key);
    const second = await post('clerk', 'place_order', { lines: [1] }, key);
    expect(second.json).toEqual(first.json);
    expect(await count()).toBe(before + 1);
    expect(failure(await post('clerk', 'place_order', { lines: [2] }, key))).toBe('422 UNPROCESSABLE_ENTITY');
  });
});

describe('arguments', () => {
  it.each([
    ['public', 'nearest_shops?lng=1', '"lat" is missing.'],
    ['public', 'nearest_shops?lng=1&lat=x', '"lat" must be a number.'],
    ['public', 'nearest_shops?lng=1&lat=1&sort_by=name', '"sort_by" is not known here.'],
    ['public', 'shop_count?region=1&fields=id', '"fields" is not known here.'],
    ['public', 'shop_count?region=1&region=2', expect.stringContaining('"region" must be')],
    ['clerk', 'region_totals?filter[region]=1', '"filter" is not known here.'],
    ['clerk', 'welcome?name=x', '"name" is not known here.'],
    ['auditor', 'titles?status=none', '"status" is not one of the allowed values.'],
  ] as const)('of %s in %s are refused', async (role, path, said) => {
    const answer = await call(role, path);
    expect([failure(answer), message(answer)]).toEqual(['400 INVALID_QUERY', said]);
  });

  it.each([
    [{}, '"lines" is missing.'],
    [{ lines: [], others: 1 }, '"others" is no argument of this function.'],
    [{ lines: [], customer: 'me' }, '"customer" is no argument of this function.'],
    [[], 'The arguments must be an object.'],
  ])('in the body %j are refused', async (body, said) => {
    const answer = await post('clerk', 'place_order', body);
    expect([failure(answer), message(answer)]).toEqual(['400 INVALID_PAYLOAD', said]);
  });

  it.each([
    [[], 'The body must be an object.'],
    [{ args: [1] }, '"args" must be an object.'],
    [{ args: {}, query: [] }, '"query" must be an object.'],
    [{ args: {}, query: { groupBy: 'id' } }, expect.stringMatching(/^"query" takes fields, .*, and no "groupBy"\.$/)],
  ])('in the body %j of SEARCH are refused', async (body, said) => {
    expect(message(await search('public', 'nearest_shops', body))).toEqual(said);
  });

  it('that the server sets have its value', async () => {
    expect((await call('clerk', 'welcome')).json).toEqual({ data: 'Hello, clerk' });
    expect((await call('admin', 'welcome?name=you')).json).toEqual({ data: 'Hello, you' });
    // Administrators give them like any other.
    const placed = await post('admin', 'place_order', { lines: [1], customer: 'somebody' });
    expect(placed.json.data.customer).toBe('somebody');
  });
});

describe('errors that functions raise', () => {
  it.each([
    [{ lines: {} }, '400 INVALID_PAYLOAD', 'An order is a list of lines.'],
    [{ lines: [] }, '422 UNPROCESSABLE_ENTITY', 'An order needs a line.'],
    [{ lines: [1, 2, 3, 4] }, '422 UNPROCESSABLE_ENTITY', 'The function refuses this.'],
    [{ lines: [1], customer: 'banned' }, '403 FORBIDDEN', 'Not found, or you do not have permission.'],
  ])('of %j', async (body, code, said) => {
    const answer = await post('admin', 'place_order', body);
    expect([failure(answer), message(answer)]).toEqual([code, said]);
  });
});

it('a function that fails with its arguments is not called again for it', async () => {
  const answer = await call('public', 'nearest_shops?lng=1&lat=2&max_count=-1');
  expect([failure(answer), message(answer)]).toEqual([
    '422 UNPROCESSABLE_ENTITY',
    'The function fails with these arguments.',
  ]);
});

describe('attacks', () => {
  it('a function without the right is an unknown path', async () => {
    const unknown = await atlas.ask('/no/such/path');
    for (const method of ['GET', 'POST', 'SEARCH', 'PATCH', 'DELETE']) {
      const body = method === 'GET' ? {} : { body: '{' };
      const [nowhere, hidden, missing] = await Promise.all([
        atlas.ask('/no/such/path', { method, ...body }),
        call('public', 'region_totals', { method, ...body }),
        call('public', 'no_such_function', { method, ...body }),
      ]);
      expect([hidden.status, hidden.text]).toEqual([nowhere.status, nowhere.text]);
      expect([missing.status, missing.text]).toEqual([nowhere.status, nowhere.text]);
    }
    expect(unknown.status).toBe(404);
  });

  it('only what the configuration names exists, for administrators too', async () => {
    expect(failure(await call('admin', 'greet?name=x'))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await call('admin', 'pg_sleep?seconds=1'))).toBe('404 ROUTE_NOT_FOUND');
  });

  it('a function that writes is no GET, and one that reads no POST', async () => {
    expect(failure(await call('clerk', 'reopen'))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await search('clerk', 'reopen', {}))).toBe('404 ROUTE_NOT_FOUND');
    expect(failure(await post('clerk', 'region_totals', {}))).toBe('404 ROUTE_NOT_FOUND');
  });

  it.each([
    'fields=supplier_note',
    'filter[supplier_note][_contains]=debts',
    'sort=supplier_note',
    'sort=rating',
    'filter[is_open][_eq]=false',
    'alias[x]=supplier_note&fields=x',
    'filter[region][shops][_some][supplier_note][_nnull]=true',
    'deep[region][_filter][secret][_eq]=1&fields=region.name',
  ])('a hidden column is not reached by %s', async (query) => {
    expect(failure(await call('public', `nearest_shops?lng=3.2&lat=51.2&${query}`))).toBe('403 FORBIDDEN');
  });

  it('hidden rows are neither listed nor counted', async () => {
    const near = 'nearest_shops?lng=3.2&lat=51.2&fields=name';
    const answer = await call('public', `${near}&filter[name][_eq]=Cellar&meta=*`);
    expect(answer.json).toEqual({ data: [], meta: { total_count: 3, filter_count: 0 } });
    // Items that are written are read under the same rules.
    expect(failure(await post('public', 'close_region', { region: 1 }))).toBe('404 ROUTE_NOT_FOUND');
  });

  it.each([
    `words?phrase=${encodeURIComponent("'); DROP TABLE shops; --")}`,
    `words?phrase=${encodeURIComponent('$1 $2 "x" \\')}`,
  ])('a value stays a value: %s', async (path) => {
    const answer = await call('public', path);
    expect(answer.status).toBe(200);
    expect(answer.json.data.join(' ')).toBe(decodeURIComponent(path.slice(path.indexOf('=') + 1)));
    expect(await atlas.database.rows('SELECT count(*)::int AS n FROM shops')).toEqual([{ n: 4 }]);
  });

  it.each(['"', '" => 1); DROP TABLE shops; --', '__proto__', 'lng"'])('a name stays a name: %s', async (name) => {
    const answer = await call('public', `nearest_shops?lng=1&lat=1&${encodeURIComponent(name)}=1`);
    expect(failure(answer)).toBe('400 INVALID_QUERY');
    const sent = await post(
      'clerk',
      'place_order',
      JSON.stringify({ lines: [] }).replace('}', `,${JSON.stringify(name)}:1}`),
    );
    expect(failure(sent)).toBe('400 INVALID_PAYLOAD');
  });
});
