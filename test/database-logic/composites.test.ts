/** Composite types: objects in REST and GraphQL, written whole, compared by their members, hidden with their column. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminToken } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

const sql = `
  CREATE TYPE colour AS ENUM ('red', 'blue');
  CREATE TYPE spot AS (lat double precision, lon double precision);
  CREATE TYPE address AS (street text, city varchar(40), "post code" integer, spot spot);
  CREATE DOMAIN checked_address AS address CHECK ((VALUE).city IS NULL OR (VALUE).city <> 'Nowhere');
  CREATE TYPE odds AS (big bigint, exact numeric(10,2), moment timestamptz, day date, raw bytea, id uuid, flag boolean,
    colour colour, numbers integer[], document jsonb, span interval, spots spot[]);
  CREATE TYPE strange AS ("q'u""o\\\\" text);
  CREATE TYPE braces AS ("a{}b" text);
  CREATE TABLE names (id integer PRIMARY KEY, strange strange, braces braces);
  INSERT INTO names VALUES (1, ROW('x'), ROW('y'));
  CREATE TABLE owners (id integer PRIMARY KEY, home address);
  CREATE TABLE shops (id integer PRIMARY KEY, name text, address address, former address[], second checked_address, odds odds,
    owner integer REFERENCES owners);`;

const ghent = { street: 'Kouter 1', city: 'Ghent', 'post code': 9000, spot: { lat: 51.05, lon: 3.72 } };
const paris = { street: 'Rue "Q"\\, (2)', city: 'Paris', 'post code': 75001, spot: null };
const nothing = { street: null, city: null, 'post code': null, spot: null };
const odds = {
  ...{ big: '9007199254740993', exact: '1.50', moment: '2024-05-06T07:08:09.5+00:00', day: '2024-05-06', raw: 'AQID' },
  ...{ id: '0b0e4a8e-3c3f-4a52-9a4e-2f1d5f9c0a11', flag: true, colour: 'red', numbers: [1, null, 3] },
  ...{ document: { a: [1, 2] }, span: 'PT1H', spots: [{ lat: 1, lon: 2 }, null] },
};

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql,
    permissions: `permissions:
  public:
    shops:
      read: [{ fields: [id, name, owner] }, { fields: [address], filter: { address: { /city: { _eq: Ghent } } } }]
      create: { fields: [id, name] }
    owners: { read: { fields: [id] } }
`,
  });
});
afterAll(() => project?.close());

const post = (path: string, body: object, method = 'POST') => project.admin(path, { method, body });

beforeEach(async () => {
  await project.rows('DELETE FROM shops');
  await project.rows('DELETE FROM owners');
  const owner = await post('/items/owners', { id: 1, home: ghent });
  expect(owner.status, owner.text).toBe(200);
  const made = await post('/items/shops', [
    { id: 1, name: 'one', address: ghent, former: [paris, null, nothing], second: ghent, odds, owner: 1 },
    { id: 2, name: 'two', address: paris, former: [] },
    { id: 3, name: 'three', address: nothing },
    { id: 4, name: 'four' },
  ]);
  expect(made.status, made.text).toBe(200);
});

async function graphql(query: string, variables: object = {}, token: string | undefined = adminToken) {
  const { json } = await project.ask('/graphql', {
    method: 'POST',
    body: { query, variables },
    ...(token && { token }),
  });
  return json.errors === undefined ? json.data : `${json.errors[0].extensions.code}: ${json.errors[0].message}`;
}

const found = async (filter: object, collection = 'shops') => {
  const body = { query: { fields: ['id'], sort: ['id'], filter } };
  const answer = await project.admin(`/items/${collection}`, { method: 'SEARCH', body });
  return answer.json.data?.map(({ id }: { id: number }) => id) ?? failure(answer);
};

describe('values', () => {
  it('are objects, with members as columns of their types', async () => {
    const { json } = await project.admin('/items/shops/1');
    expect(json.data).toEqual({
      ...{ id: 1, name: 'one', address: ghent, former: [paris, null, nothing], second: ghent, odds, owner: 1 },
    });
    expect((await project.admin('/items/shops/3?fields=address')).json.data).toEqual({ address: nothing });
    expect((await project.admin('/items/shops/4?fields=address,former')).json.data).toEqual({
      address: null,
      former: null,
    });
    expect((await project.admin('/items/owners/1?fields=shops.address')).json.data).toEqual({
      shops: [{ address: ghent }],
    });
    const read = '{ shops_by_id(id: 1) { address former owner { home } } }';
    expect(await graphql(read)).toEqual({
      shops_by_id: { address: ghent, former: [paris, null, nothing], owner: { home: ghent } },
    });
  });

  it('are written whole, over REST and GraphQL', async () => {
    const changed = await post('/items/shops/2', { address: ghent, former: [ghent], second: null }, 'PATCH');
    expect([changed.status, changed.json.data]).toMatchObject([200, { address: ghent, former: [ghent] }]);
    const write = 'mutation ($a: JSON) { update_shops_item(id: 2, data: { address: $a }) { address } }';
    expect(await graphql(write, { a: paris })).toEqual({ update_shops_item: { address: paris } });
    expect(await graphql(write, { a: null })).toEqual({ update_shops_item: { address: null } });
  });

  it('are refused with a member missing, unknown or wrong', async () => {
    const told = async (body: object) => {
      const answer = await post('/items/shops/2', body, 'PATCH');
      return `${failure(answer)}: ${answer.json.errors?.[0].message}`;
    };
    const { city: _, ...incomplete } = ghent;
    expect(await told({ address: incomplete })).toContain('400 INVALID_PAYLOAD');
    expect(await told({ address: incomplete })).toContain('needs the member "city"');
    expect(await told({ address: { ...ghent, more: 1 } })).toContain('has no member "more"');
    expect(await told({ address: { ...ghent, spot: { lat: 1 } } })).toContain('"spot" that needs the member "lon"');
    expect(await told({ address: { ...ghent, 'post code': 'x' } })).toContain('"post code" that must be an integer');
    expect(await told({ address: 'Ghent' })).toContain('must be an object');
    expect(await told({ address: [] })).toContain('must be an object');
    expect(await told({ former: [incomplete] })).toContain('needs the member "city"');
    expect(await told({ odds: { ...odds, colour: 'green' } })).toContain('400 ');
    expect(await told({ second: { ...ghent, city: 'Nowhere' } })).toMatch(/^400 FAILED_VALIDATION/);
    expect(await told({ address: { ...ghent, city: 'x'.repeat(41) } })).toMatch(/^400 /);
  });

  it('have members of any name', async () => {
    const name = `q'u"o\\\\`;
    const { json } = await project.admin('/items/names/1');
    expect(json.data).toEqual({ id: 1, strange: { [name]: 'x' }, braces: '(y)' });
    const changed = await post('/items/names/1', { strange: { [name]: 'z' } }, 'PATCH');
    expect([changed.status, changed.json.data?.strange]).toEqual([200, { [name]: 'z' }]);
    expect(await found({ strange: { [`/${name}`]: { _eq: 'z' } } }, 'names')).toEqual([1]);
    expect(await found({ strange: { [`/${name}`]: { _eq: 'x' } } }, 'names')).toEqual([]);
  });

  it('have types in documents and clients', async () => {
    const { json } = await project.admin('/server/specs/oas');
    const { address } = json.components.schemas.ItemsShops.properties;
    expect(address).toMatchObject({
      type: ['object', 'null'],
      required: ['street', 'city', 'post code', 'spot'],
      additionalProperties: false,
      properties: { 'post code': { type: ['integer', 'null'] }, spot: { type: ['object', 'null'] } },
    });
    const client = await readFile(join(project.folder, 'generated/client/admin/collections/shops.d.ts'), 'utf8');
    expect(client.replaceAll(/\s+/g, ' ')).toContain("'post code': number | null");
    expect(client).toContain("colour: 'red' | 'blue' | null");
  });
});

describe('filters', () => {
  it('reach members by their paths, typed by the attribute', async () => {
    const get = await project.admin('/items/shops?fields=id&filter[address][/city][_eq]=Ghent');
    expect(get.json.data).toEqual([{ id: 1 }]);
    expect(await found({ address: { '/city': { _icontains: 'PAR' } } })).toEqual([2]);
    expect(await found({ address: { '/post code': { _gt: 9000 } } })).toEqual([2]);
    expect(await found({ address: { '/post code': { _in: [9000, 75001] } } })).toEqual([1, 2]);
    expect(await found({ address: { '/spot/lat': { _between: [51, 52] } } })).toEqual([1]);
    expect(await found({ second: { '/city': 'Ghent' } })).toEqual([1]);
    expect(await found({ odds: { '/colour': { _eq: 'red' }, '/exact': { _eq: '1.5' } } })).toEqual([1]);
    expect(
      await found({ odds: { '/moment': { _lt: '2024-05-06T10:00:00Z' }, '/big': { _gt: '9007199254740992' } } }),
    ).toEqual([1]);
    expect(await found({ odds: { '/document': { _nnull: true } } })).toEqual([1]);
    expect(await found({ owner: { home: { '/city': { _eq: 'Ghent' } } } })).toEqual([1]);
    expect(await found({ _or: [{ address: { '/city': 'Paris' } }, { address: { '/street': 'Kouter 1' } }] })).toEqual([
      1, 2,
    ]);
    const by = 'query ($f: shops_filter) { shops(filter: $f, sort: "id") { id } }';
    expect(await graphql(by, { f: { address: { _at: { '/city': { _eq: 'Ghent' } } } } })).toEqual({
      shops: [{ id: 1 }],
    });
  });

  it('tell a value of nulls from none', async () => {
    expect(await found({ address: { _null: true } })).toEqual([4]);
    expect(await found({ address: { _nnull: true } })).toEqual([1, 2, 3]);
    expect(await found({ address: { '/spot': { _null: true } } })).toEqual([2, 3, 4]);
    expect(await found({ former: { _null: true } })).toEqual([3, 4]);
  });

  it('are refused where there is nothing to compare', async () => {
    const refused = [
      ...[{ address: { '/town': 'Ghent' } }, { address: { '/city/x': 'Ghent' } }, { address: { '/post code': 'x' } }],
      ...[{ address: { _eq: ghent } }, { former: { _has: ghent } }],
      ...[{ odds: { '/document/a': 1 } }, { odds: { '/numbers': { _has: 1 } } }, { odds: { '/colour': 'green' } }],
      ...[{ address: { '/city"': 'x' } }, { address: { '/': 'x' } }, { address: { '/post code': { _contains: '9' } } }],
    ];
    for (const filter of refused) expect([filter, await found(filter)]).toEqual([filter, '400 INVALID_QUERY']);
    for (const query of ['sort=address', 'sort=former', 'aggregate[min]=address']) {
      expect([query, failure(await project.admin(`/items/shops?${query}`))]).toEqual([query, '400 INVALID_QUERY']);
    }
  });
});

describe('rules', () => {
  it('hide a value where the column is hidden, and compare members', async () => {
    const { json, text } = await project.ask('/items/shops?fields=id,address&sort=id');
    expect(json.data, text).toEqual([{ id: 1, address: ghent }, ...[2, 3, 4].map((id) => ({ id, address: null }))]);
    // A hidden cell meets no comparison.
    for (const filter of [
      { '/city': { _eq: 'Paris' } },
      { '/city': { _neq: 'Ghent' } },
      { '/post code': { _gt: 1 } },
    ]) {
      const body = { query: { fields: ['id'], filter: { address: { ...filter } } } };
      const answer = await project.ask('/items/shops', { method: 'SEARCH', body });
      const ids = answer.json.data.map(({ id }: { id: number }) => id);
      expect(ids, JSON.stringify(filter)).toEqual('/post code' in filter ? [1] : []);
    }
    const present = await project.ask('/items/shops?fields=id&filter[address][_nnull]=true');
    expect(present.json.data).toEqual([{ id: 1 }]);
  });

  it('answer hidden columns like unknown ones, members included', async () => {
    const texts = async (name: string) => {
      const read = await project.ask(`/items/shops?fields=${name}`);
      const filtered = await project.ask(`/items/shops?filter[${name}][/city][_eq]=Ghent`);
      const wrong = await project.ask(`/items/shops?filter[${name}][/town][_eq]=Ghent`);
      const related = await project.ask(
        `/items/shops?filter[owner][${name === 'second' ? 'home' : name}][/city]=Ghent`,
      );
      const written = await project.ask('/items/shops', { method: 'POST', body: { id: 9, [name]: { city: 'x' } } });
      return [read, filtered, wrong, related, written].map((answer) => [
        answer.status,
        answer.text.replaceAll(name, 'name').replaceAll('home', 'name'),
      ]);
    };
    expect(await texts('second')).toEqual(await texts('nothing'));
    const { text } = await project.ask('/server/specs/oas');
    expect([text.includes('"second"'), text.includes('colour'), text.includes('post code')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
