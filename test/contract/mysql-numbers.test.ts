/**
 * Numbers of MariaDB and MySQL that PostgreSQL does not have: integers that are filled with zeros when they are printed,
 * which no number of JSON begins with, and those beyond a signed one.
 */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

/** Decimals of more digits than servers keep beside thirty behind the point. */
const large = ['1', '2', '3'].map((digit) => digit.padEnd(39, '0'));

/** A number of as many digits as a decimal can have. */
const largest = '7'.repeat(65);

const sql = `
CREATE TABLE films (id int(4) unsigned zerofill PRIMARY KEY, made year, part_of int(4) unsigned zerofill,
  seen bigint unsigned, took time(3), score double, light float, dim float unsigned, price decimal(8, 2),
  FOREIGN KEY (part_of) REFERENCES films (id));
CREATE TABLE scenes (film_id int(4) unsigned zerofill, no int, name varchar(9), PRIMARY KEY (film_id, no),
  FOREIGN KEY (film_id) REFERENCES films (id));
CREATE TABLE flags (id bit(12) PRIMARY KEY, name varchar(9));
CREATE TABLE masks (id int AUTO_INCREMENT PRIMARY KEY, bits bit(12) NOT NULL, whole bit(64), is_set bit(1) NOT NULL,
  bytes varbinary(4), name varchar(9), UNIQUE (bits), UNIQUE (whole, is_set), UNIQUE (bytes));
CREATE TABLE stars (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, name varchar(9), part_of bigint unsigned,
  FOREIGN KEY (part_of) REFERENCES stars (id)) AUTO_INCREMENT = 18446744073709551000;
CREATE TABLE sums (n decimal(40, 0) PRIMARY KEY, part decimal(60, 5), name varchar(9));
INSERT INTO sums VALUES (${large[0]}, ${large[0]}.5, 'one'), (${large[1]}, -${large[1]}.00001, 'two'), (${large[2]}, NULL, 'three');
CREATE TABLE coins (wei decimal(65, 0) PRIMARY KEY, id int, held decimal(65, 0));
INSERT INTO coins (wei, id) VALUES (2, 1), (1, 2), (${largest}, 3);
INSERT INTO flags VALUES (b'101010101010', 'a'), (b'1', 'b');
INSERT INTO films VALUES (1, 0, NULL, 18446744073709551615, '23:59:59.999', 5e-324, NULL, NULL, NULL), (2, 2024, 1, 9223372036854775808, NULL, NULL, NULL, NULL, NULL),
  (3, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO scenes VALUES (1, 1, 'a'), (1, 2, 'b');
`;

const permissions = `permissions:
  public:
    films: { read: { fields: ['*'], filter: { _or: [{ took: { _null: true } }, { took: { _gte: '-838:59:59' } }] } } }
    scenes: { read: { fields: [name], filter: { film_id: { _lt: 4000000000 } } } }
    stars: { read: { fields: [name], filter: { id: { _gt: 18446744073709550999 } } } }
    masks:
      read: true
      create: { fields: [name], presets: { bits: Cqs=, is_set: true } }
      update: { fields: [name] }
`;

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql, { 'permissions.yaml': permissions });

  const films = async (query: string): Promise<unknown> => (await platform().ask(`/items/films${query}`)).json.data;

  it('are numbers in lists, items, relations and groups', async () => {
    const all = [{ made: 0 }, { made: 2024 }, { made: null }];
    expect(await films('?fields=made&sort=id')).toEqual(all);
    expect(await films('/1?fields=id,made,films.id,films.made&deep[films][_sort]=id')).toEqual({
      ...{ id: 1, made: 0 },
      films: [
        { id: 2, made: 2024 },
        { id: 3, made: null },
      ],
    });
    expect(await films('/2?fields=part_of.made')).toEqual({ part_of: { made: 0 } });
    expect(await films('?groupBy=made&aggregate[count]=*&sort=made')).toEqual([
      { made: null, count: 1 },
      { made: 0, count: 1 },
      { made: 2024, count: 1 },
    ]);
    expect(await films('?filter[made]=0&fields=id')).toEqual([{ id: 1 }]);
  });

  it('name items below, also where an upsert finds what they lie below', async () => {
    const scenes = ['1,1', '1,2'];
    for (const path of ['/items/films/1?fields=scenes', '/items/films?on_conflict=id&fields=scenes']) {
      const request = path.includes('/1')
        ? { method: 'PATCH', body: { scenes } }
        : { method: 'POST', body: { id: 1, scenes } };
      expect((await platform().admin(path, request)).json).toEqual({ data: { scenes } });
    }
  });

  it('are found beyond a signed number, too', async () => {
    expect(await films('?filter[seen]=18446744073709551615&fields=id')).toEqual([{ id: 1 }]);
    expect(await films('?filter[seen][_gte]=9223372036854775808&fields=id&sort=-seen')).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await films('?filter[seen][_between]=1,9223372036854775808&fields=id')).toEqual([{ id: 2 }]);
    expect(await films('?filter[took]=23:59:59.999&fields=id')).toEqual([{ id: 1 }]);
  });

  it('are stored as the numbers that they are', async () => {
    for (const made of [0, 1999, null]) {
      const request = { method: 'POST', body: { id: 9, made } };
      expect((await platform().admin('/items/films?fields=made', request)).json.data).toEqual({ made });
      const change = {
        method: 'PATCH',
        body: [
          { id: 9, made: 2000 },
          { id: 3, made },
        ],
      };
      expect((await platform().admin('/items/films?fields=made', change)).json.data).toEqual([
        { made: 2000 },
        { made },
      ]);
      await platform().admin('/items/films/9', { method: 'DELETE' });
    }
  });

  it.each(['light', 'dim'])('have all digits and are found by them, in four bytes, too: %s', async (field) => {
    for (const number of [0.1, 1_234_567, 16_777_216, -1e30, 0.12345670163631439, 3.4028234663852886e38]) {
      if (field === 'dim' && number < 0) continue;
      const request = { method: 'PATCH', body: { [field]: number } };
      const { json } = await platform().admin(`/items/films/1?fields=${field}`, request);
      expect(Math.fround(json.data[field])).toBe(Math.fround(number));
      const digits = encodeURIComponent(json.data[field]);
      expect(await films(`?filter[${field}]=${digits}&fields=id`)).toEqual([{ id: 1 }]);
      expect(await films(`?filter[${field}][_in]=${digits}&fields=id`)).toEqual([{ id: 1 }]);
      expect(await films(`?filter[${field}][_gt]=${digits}&fields=id`)).toEqual([]);
      expect(await films(`/2?fields=part_of.${field}`)).toEqual({ part_of: json.data });
    }
    const beyond = { method: 'PATCH', body: { [field]: 1e39 } };
    expect(failure(await platform().admin('/items/films/1', beyond))).toBe('400 FAILED_VALIDATION');
  });

  it('are times of more hours than a day has', async () => {
    for (const took of ['838:59:59', '-838:59:59', '-00:00:01.5', '100:00:00', '24:00:00']) {
      const request = { method: 'PATCH', body: { took } };
      expect((await platform().admin('/items/films/2?fields=took', request)).json.data).toEqual({ took });
      expect(await films(`?filter[took]=${took}&fields=id`)).toEqual([{ id: 2 }]);
    }
    const beyond = { method: 'PATCH', body: { took: '839:00:00' } };
    expect(failure(await platform().admin('/items/films/2', beyond))).toBe('400 FAILED_VALIDATION');
    await platform().admin('/items/films/2', { method: 'PATCH', body: { took: null } });
  });

  it('are refused where the server has none', async () => {
    for (const price of ['NaN', 'Infinity']) {
      expect(failure(await platform().admin('/items/films/1', { method: 'PATCH', body: { price } }))).toBe(
        '400 INVALID_PAYLOAD',
      );
      expect(failure(await platform().admin(`/items/films?filter[price]=${price}`))).toBe('400 INVALID_QUERY');
    }
    for (const score of ['NaN', 'Infinity']) {
      const request = { method: 'POST', body: { id: 9, score } };
      expect(failure(await platform().admin('/items/films', request))).toMatch(/^400 /);
    }
    for (const score of [5e-324, -1.7976931348623157e308, 0.1]) {
      const request = { method: 'PATCH', body: { score } };
      expect((await platform().admin('/items/films/1?fields=score', request)).json.data).toEqual({ score });
    }
  });

  it('are decimals of all digits, by which items are found, paged and changed', async () => {
    const [one = '', two = '', three = ''] = large;
    const found = async (query: string) =>
      (await platform().admin(`/items/sums?fields=name&${query}`)).json.data.map(({ name }: { name: string }) => name);
    expect(await found(`filter[n]=${one}`)).toEqual(['one']);
    expect(await found(`filter[n][_in]=${two},${three}&sort=n`)).toEqual(['two', 'three']);
    expect(await found(`filter[n][_gt]=${one}.5&sort=-n`)).toEqual(['three', 'two']);
    expect(await found(`filter[part][_in]=${one}.5,-${two}.00001&sort=n`)).toEqual(['one', 'two']);
    expect(await found(`filter[n]=${one}.5`)).toEqual([]);
    const groups = await platform().admin(`/items/sums?groupBy=name&having[sum][n][_gte]=${two}&sort=name`);
    expect(groups.json.data).toEqual([{ name: 'three' }, { name: 'two' }]);
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { json } = await platform().admin(`/items/sums?fields=n&sort=-n&limit=1&cursor=${cursor}`);
      paged.push(...json.data.map(({ n }: { n: string }) => n));
      cursor = json.meta.next_cursor;
    }
    expect(paged).toEqual([three, two, one]);
    expect((await platform().admin(`/items/sums/${two}?fields=name`)).json.data).toEqual({ name: 'two' });
    const search = { keys: [one, three], query: { fields: ['name'] } };
    const keys = await platform().admin('/items/sums', { method: 'SEARCH', body: search });
    expect(keys.json.data).toEqual([{ name: 'one' }, { name: 'three' }]);
    const body = [
      { n: one, name: '1' },
      { n: two, name: '2' },
    ];
    const changed = await platform().admin('/items/sums?fields=n,name', { method: 'PATCH', body });
    expect(changed.json.data).toEqual(body);
  });

  it('are compared with decimals of more digits behind the point than they have', async () => {
    const found = async (query: string): Promise<unknown> => {
      const { json, text } = await platform().admin(`/items/coins?fields=id&sort=id&${query}`);
      return json.data?.map(({ id }: { readonly id: number }) => id) ?? text;
    };
    const below = `${largest.slice(0, -1)}6.5`;
    for (const [query, ids] of [
      ['filter[wei]=1.5', []],
      ['filter[wei]=0.1e1', [2]],
      ['filter[wei][_neq]=1.5', [1, 2, 3]],
      ['filter[wei][_gt]=1.5', [1, 3]],
      ['filter[wei][_gte]=15e-1', [1, 3]],
      ['filter[wei][_lt]=1.5', [2]],
      ['filter[wei][_lte]=2.4', [1, 2]],
      ['filter[wei][_gt]=-0.5', [1, 2, 3]],
      ['filter[wei][_lt]=-0.5', []],
      ['filter[wei][_between]=1.5,2.4', [1]],
      ['filter[wei][_nbetween]=1.5,1.7', [1, 2, 3]],
      ['filter[wei][_in]=1.5,1.0', [2]],
      ['filter[wei][_in]=1.5', []],
      ['filter[wei][_nin]=1.5,1', [1, 3]],
      [`filter[wei]=${largest}`, [3]],
      [`filter[wei]=${largest}.5`, []],
      [`filter[wei][_gt]=${largest}.5`, []],
      [`filter[wei][_gt]=${below}`, [3]],
      [`filter[wei][_lt]=${below}`, [1, 2]],
    ] as const)
      expect([query, await found(query)]).toEqual([query, ids]);
    expect((await platform().admin('/items/coins/1.5')).status).toBe(403);
    expect((await platform().admin(`/items/coins/${largest}?fields=id`)).json.data).toEqual({ id: 3 });
    const groups = 'groupBy=id&sort=id&filter[id][_lt]=3';
    for (const [having, ids] of [
      ['having[avg][wei][_gt]=1.5', [{ id: 1 }]],
      ['having[sum][wei][_lt]=1.5', [{ id: 2 }]],
    ] as const)
      expect((await platform().admin(`/items/coins?${groups}&${having}`)).json.data, having).toEqual(ids);
    const write = async (path: string, method: 'PATCH' | 'POST' | 'DELETE', body?: object) =>
      platform().admin(`/items/coins${path}`, { method, ...(body && { body }) });
    const held = { held: largest };
    expect((await write('/1.5', 'PATCH', held)).status).toBe(403);
    expect((await write(`/${largest}?fields=held`, 'PATCH', held)).json).toEqual({ data: held });
    const made = { wei: below.slice(0, -2), id: 4, held: `-${largest}` };
    expect((await write('?fields=wei,id,held', 'POST', made)).json).toEqual({ data: made });
    const changed = { ...made, id: 5, held: largest };
    expect((await write('?on_conflict=wei&fields=wei,id,held', 'POST', changed)).json).toEqual({ data: changed });
    expect((await write('/1.5', 'DELETE')).status).toBe(403);
    expect((await write('', 'DELETE', ['1.5'])).status).toBe(403);
    expect((await write('', 'PATCH', [{ wei: '1.5', id: 6 }])).status).toBe(403);
    const search = { method: 'SEARCH', body: { keys: ['1.5', '2'] } } as const;
    expect((await platform().admin('/items/coins', search)).status).toBe(403);
    expect((await write(`/${made.wei}`, 'DELETE')).status).toBe(204);
  });

  it('are bytes where they are bits, by which items are found and changed', async () => {
    const read = async (path: string) => (await platform().admin(`/items/flags${path}`)).json.data;
    expect(await read('')).toEqual([
      { id: 'AAE=', name: 'b' },
      { id: 'Cqo=', name: 'a' },
    ]);
    const one = await platform().admin('/items/flags/AAE%3D', { method: 'PATCH', body: { name: 'c' } });
    expect(one.json.data).toEqual({ id: 'AAE=', name: 'c' });
    const body = [
      { id: 'Cqo=', name: 'd' },
      { id: 'AAE=', name: 'e' },
    ];
    expect((await platform().admin('/items/flags', { method: 'PATCH', body })).json.data).toEqual(body);
    await platform().admin('/items/flags', { method: 'DELETE', body: ['Cqo='] });
    expect(await read('?fields=name')).toEqual([{ name: 'e' }]);
  });

  it('are the key of an item that a POST changes where they are bits', async () => {
    const whole = '//////////8=';
    const first = { bits: 'Cqo=', whole, is_set: true, bytes: '/wA=' };
    const path = '/items/masks?fields=bits,whole,is_set,bytes,name';
    const setByRule = `${path}&on_conflict=bits`;
    for (const name of ['new', 'there']) {
      const { json } = await platform().ask(setByRule, { method: 'POST', body: { name } });
      expect(json.data, name).toEqual({ bits: 'Cqs=', whole: null, is_set: true, bytes: null, name });
    }
    const zeros = { bits: 'AAAAAAAAAAqr', is_set: true, name: 'zeros' };
    const found = await platform().admin(setByRule, { method: 'POST', body: zeros });
    expect(found.json.data).toMatchObject({ bits: 'Cqs=', name: 'zeros' });
    for (const bits of ['AQAAAAAAAAqr', '//8=']) {
      const tooLong = await platform().admin(setByRule, { method: 'POST', body: { bits, is_set: true } });
      expect(failure(tooLong)).toBe('400 FAILED_VALIDATION');
    }
    await platform().admin('/items/masks', { method: 'DELETE', body: { query: { limit: -1 } } });
    const { json } = await platform().admin(path, { method: 'POST', body: { ...first, name: 'new' } });
    expect(json.data).toEqual({ ...first, name: 'new' });
    for (const conflict of ['bits', 'whole,is_set', 'is_set,whole', 'bytes', 'bits,whole']) {
      const on = `${path}&on_conflict=${conflict}`;
      if (conflict === 'bits,whole') {
        expect(failure(await platform().admin(on, { method: 'POST', body: first }))).toBe('400 INVALID_QUERY');
        continue;
      }
      const name = conflict.slice(0, 9);
      const one = await platform().admin(on, { method: 'POST', body: { ...first, name } });
      expect(one.json.data, conflict).toEqual({ ...first, name });
      const other = { bits: 'AAE=', whole: 'AAAAAAAAAAE=', is_set: false, bytes: 'AA==', name: 'other' };
      const both = await platform().admin(on, { method: 'POST', body: [{ ...first, name: 'many' }, other] });
      expect(both.json.data, conflict).toEqual([{ ...first, name: 'many' }, other]);
      const twice = await platform().admin(on, { method: 'POST', body: [first, { ...first, name: 'twice' }] });
      expect(twice.json.data, conflict).toEqual([{ ...first, name: 'twice' }]);
      expect((await platform().admin('/items/masks?aggregate[count]=*')).json.data).toEqual([{ count: 2 }]);
    }
  });

  it('are numbers in GraphQL', async () => {
    const body = { query: '{ films(sort: ["id"]) { id made part_of { made } } }' };
    const { json } = await platform().ask('/graphql', { method: 'POST', body });
    expect(json.data.films).toEqual([
      { id: '1', made: 0, part_of: null },
      { id: '2', made: 2024, part_of: { made: 0 } },
      { id: '3', made: null, part_of: { made: 0 } },
    ]);
  });

  it('are texts in GraphQL where they outgrow its integers, and taken as such', async () => {
    const ask = async (query: string, variables = {}) => {
      const { json } = await platform().admin('/graphql', { method: 'POST', body: { query, variables } });
      expect(json.errors).toBeUndefined();
      return json.data;
    };
    const most = '4294967295';
    const made = `mutation ($id: GraphQLBigInt!) { create_films_item(data: { id: $id, part_of: { id: 4294967294 } }) { id part_of { id } } }`;
    expect(await ask(made, { id: most })).toEqual({ create_films_item: { id: most, part_of: { id: '4294967294' } } });
    const read = `query ($id: GraphQLBigInt, $key: ID!) {
      films(filter: { id: { _in: [$id, 4294967294] } }, sort: ["-id"]) { id part_of { id } films { id } }
      films_by_id(id: $key) { id }
      films_aggregated { max { id } sum { id } count { id } } }`;
    expect(await ask(read, { id: Number(most), key: most })).toEqual({
      films: [
        { id: most, part_of: { id: '4294967294' }, films: [] },
        { id: '4294967294', part_of: null, films: [{ id: most }] },
      ],
      films_by_id: { id: most },
      films_aggregated: [{ max: { id: most }, sum: { id: 8_589_934_595 }, count: { id: 5 } }],
    });
    expect((await platform().admin(`/items/films/${most}?fields=id,part_of`)).json.data).toEqual({
      ...{ id: Number(most), part_of: 4_294_967_294 },
    });
    for (const id of [most, '4294967294'])
      expect(await ask(`mutation { delete_films_item(id: "${id}") { id } }`)).toEqual({ delete_films_item: { id } });
  });

  it('are keys that the server counts beyond a signed integer', async () => {
    const body = { name: 'one', part_of: { name: 'two' }, stars: [{ name: 'three' }, { name: 'four' }] };
    const answer = await platform().admin('/items/stars?fields=id,name,part_of.name,stars.name', {
      method: 'POST',
      body,
    });
    expect(answer.json.data).toEqual({
      ...{ id: expect.stringMatching(/^184467440737095510\d\d$/), name: 'one', part_of: { name: 'two' } },
      stars: [{ name: 'three' }, { name: 'four' }],
    });
    const many = await platform().admin('/items/stars?fields=name', {
      method: 'POST',
      body: [{ name: 'a' }, { name: 'b' }],
    });
    expect(many.json.data).toEqual([{ name: 'a' }, { name: 'b' }]);
  });

  it('are compared by rules beyond a signed integer, too', async () => {
    expect((await platform().ask('/items/scenes?fields=name')).json.data).toEqual([{ name: 'a' }, { name: 'b' }]);
    await platform().admin('/items/stars', { method: 'POST', body: [{ id: 7, name: 'early' }, { name: 'late' }] });
    const named = '/items/stars?fields=name&filter[name][_in]=early,late';
    expect((await platform().ask(named)).json.data).toEqual([{ name: 'late' }]);
  });
});
