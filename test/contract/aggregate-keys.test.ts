/** Aggregates of exactly the items that a SEARCH names by key. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { failure } from '../support/project.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

function search(collection: string, body: object, who: 'ask' | 'admin' = 'admin') {
  return magazine[who](`/items/${collection}`, { method: 'SEARCH', body });
}

const keys = [1, 2, '2', 3, 5, 8];
const counted = { aggregate: { count: '*' } };

/** The same items by a filter. */
async function filtered(query: object): Promise<unknown> {
  return (await search('articles', { query: { filter: { id: { _in: keys } }, ...query } })).json;
}

it.each([
  [{ aggregate: { count: '*', sum: ['views', 'rating'], max: 'published_at' } }],
  [{ aggregate: { count: '*' }, groupBy: ['status'], sort: ['-count'] }],
  [{ groupBy: ['status', 'year(published_at)'] }],
  [{ aggregate: { count: '*' }, groupBy: ['author_id'], limit: 2, offset: 1, sort: 'author_id' }],
  [{ aggregate: { count: '*' }, groupBy: ['author_id'], having: { count: { _gt: 1 } } }],
  [{ aggregate: { count: '*' }, having: { count: { _gt: 100 } } }],
  [{ aggregate: { count: '*' }, limit: 0 }],
  [{ aggregate: { count: '*' }, search: 'the' }],
])('%j', async (query) => {
  magazine.statements.reset();
  const { status, json } = await search('articles', { keys, query });
  expect(magazine.statements.executed()).toBe(1);
  expect([status, json]).toEqual([200, await filtered(query)]);
});

it('counts with meta as lists of keys do', async () => {
  for (const query of [counted, { groupBy: ['status'], limit: 0 }]) {
    const list = await search('articles', { keys, query: { meta: '*' } });
    const { json } = await search('articles', { keys, query: { ...query, meta: '*' } });
    expect(json.meta).toEqual(list.json.meta);
    expect(json.meta.filter_count).toBe(5);
  }
});

it('takes composite keys, and none', async () => {
  const lines = (await magazine.admin('/items/order_lines?fields=order_id,line_no,amount&limit=2')).json.data;
  const named = [
    { order_id: lines[0].order_id, line_no: lines[0].line_no },
    `${lines[1].order_id},${lines[1].line_no}`,
  ];
  const query = { aggregate: { count: '*', min: 'amount', max: 'amount' } };
  const [smaller, larger] = [lines[0].amount, lines[1].amount].sort((a, b) => Number(a) - Number(b));
  expect((await search('order_lines', { keys: named, query })).json.data).toEqual([
    { count: 2, min: { amount: smaller }, max: { amount: larger } },
  ]);
  expect((await search('articles', { keys: [], query: { aggregate: { count: '*', sum: 'views' } } })).json).toEqual({
    data: [{ count: 0, sum: { views: null } }],
  });
  expect((await search('articles', { keys: [], query: { groupBy: ['id'] } })).json).toEqual({ data: [] });
});

it.each(['csv', 'json', 'ndjson', 'xml', 'yaml'])('is a file too: %s', async (format) => {
  const query = { groupBy: ['status'], aggregate: { count: '*' }, export: format };
  const wanted = await search('articles', { query: { ...query, filter: { id: { _in: keys } } } });
  const named = await search('articles', { keys, query });
  expect([named.status, named.text]).toEqual([200, wanted.text]);
  expect(named.headers.get('content-type')).toBe(wanted.headers.get('content-type'));
  const none = await search('articles', { keys, query: { ...query, limit: 0 } });
  const empty = await search('articles', { query: { ...query, limit: 0 } });
  expect(none.text).toBe(empty.text);
  expect(failure(await search('articles', { keys: [1, 999_999], query }))).toBe('403 FORBIDDEN');
});

describe('an item that is missing or hidden', () => {
  it('makes the answer FORBIDDEN, whatever else selects', async () => {
    const drafts = await magazine.admin('/items/articles?filter[status]=draft&fields=id&limit=1');
    const hidden = drafts.json.data[0].id;
    const bodies = [
      counted,
      { ...counted, limit: 0 },
      { ...counted, filter: { id: 1 } },
      { ...counted, search: 'zzzzzz' },
      { ...counted, meta: '*' },
      { groupBy: ['status'], having: { count: { _lt: 0 } } },
    ];
    for (const query of bodies) {
      const answers = [];
      for (const key of [hidden, 999_999, 'x', null, { id: 1 }]) {
        answers.push(await search('articles', { keys: [1, key], query }, 'ask'));
      }
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(
        // An object of the key field is a key.
        2,
      );
      expect(answers.map(failure).slice(0, 4)).toEqual(Array(4).fill('403 FORBIDDEN'));
      expect(answers[4]?.status).toBe(200);
    }
  });

  it('is judged behind syntax, with the names, before values', async () => {
    const named = (query: object, list: readonly unknown[] = ['x']) => search('articles', { keys: list, query });
    expect(failure(await named({ aggregate: { median: 'id' } }))).toBe('400 INVALID_QUERY');
    expect(failure(await named({ aggregate: { sum: 'title' } }))).toBe('403 FORBIDDEN');
    expect(failure(await named({ aggregate: { sum: 'title' } }, [1]))).toBe('400 INVALID_QUERY');
    expect(failure(await search('nothing', { keys: [1], query: counted }))).toBe('403 FORBIDDEN');
  });
});
