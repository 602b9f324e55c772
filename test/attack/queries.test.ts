/** Paths and query strings at and behind the edge of what they may be: E05, E13, E17, A13. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { fire } from '../support/swarm.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

describe('paths', () => {
  it.each([
    ['/items/articles/%ff', 404],
    ['/items/articles/%', 404],
    ['/items/articles/%00', 403],
    ['/items/articles/%2F', 403],
    ['/items/articles/..;', 403],
    ['/items/articles/%2e%2e', 403],
    ['/items/..%2Forders', 403],
    ['/items/articles%2F1', 403],
    ['/items/articles/1%2C2', 403],
    [`/items/countries/${'x'.repeat(5000)}`, 403],
    [`/items/articles/${'1,'.repeat(5000)}1`, 403],
    [`/items/${'%F0%9F%98%80'.repeat(900)}`, 403],
    ['/items//articles', 404],
    ['//items/articles', 404],
    ['/items/articles;x=1', 403],
    ['/items/Articles', 403],
    ['/items/articles/1/', 404],
    ['/items/articles/1#x', 404],
    ['/%69tems/articles', 404],
    ['/.git/config', 404],
    ['/server/../items/articles', 404],
  ])('%s', async (path, status) => {
    const hit = await fire(magazine.url, { path });
    expect([hit.status, hit.text.slice(0, 10)]).toEqual([status, '{"errors":']);
  });
});

describe('query strings', () => {
  it.each([
    ['limit=9007199254740993', 400],
    ['limit=9223372036854775808', 400],
    ['offset=9223372036854775808', 400],
    ['offset=999999999999999', 200],
    ['page=999999999999999', 400],
    ['limit=1e2', 400],
    ['limit=0x10', 400],
    ['limit=１', 400],
    ['limit=1&limit=1', 400],
    ['limit[]=1', 400],
    ['limit[a]=1', 400],
    ['limit=-0', 200],
    ['meta=*,*,total_count', 200],
    ['meta[]=*&meta[]=filter_count&limit=0', 200],
    ['meta[a]=*', 400],
    ['meta=*&limit=-1&offset=5', 200],
    ['filter=1', 400],
    ['filter=null', 400],
    ['filter=[]', 400],
    ['filter=%22x%22', 400],
    ['filter={}&filter={}', 400],
    ['filter[id]=1&filter={}', 400],
    ['filter[id]=1&filter[id]=2', 400],
    ['filter[id][_eq]=1&filter[id]=2', 400],
    [`filter${'[a]'.repeat(12)}=1`, 400],
    [`filter=${'{"_and":['.repeat(70)}{}${']}'.repeat(70)}`, 400],
    ['fields=id&fields[]=name', 400],
    ['fields[a][b]=c', 400],
    [`fields=${'articles.tags.'.repeat(6)}id`, 400],
    ['fields=*.*.*.*.*.*.*.*.*.*', 400],
    ['fields=%ff', 400],
    ['access_token=', 200],
    ['access_token=a&access_token=b', 400],
    ['&&&=&=&a', 200],
    [`${'x=1&'.repeat(3000)}`, 200],
    ['search=x', 200],
    ['filter[_or][0][id][_gte]=0', 200],
    ['filter[_not][id]=1', 400],
  ])('%s', async (query, status) => {
    const hit = await fire(magazine.url, {
      path: `/items/tags?${query.replaceAll('"', '%22').replaceAll('１', '%EF%BC%91')}`,
    });
    expect([hit.status, hit.text.slice(0, 200)]).toEqual([status, expect.any(String)]);
  });
});
