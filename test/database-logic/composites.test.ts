/** Composite types: objects in REST and GraphQL, written whole, compared by their members, hidden with their column. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminToken, createProject, runPlatform } from '../support/platform.ts';
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
  CREATE TYPE shape AS (centre point, document json);
  CREATE TABLE shapes (id integer PRIMARY KEY, shape shape);
  INSERT INTO shapes VALUES (1, '("(1,2)",{})'), (2, '("(1,2)",{})'), (3, '("(2,1)",)'), (4, NULL);
  CREATE TABLE names (id integer PRIMARY KEY, strange strange, braces braces);
  INSERT INTO names VALUES (1, ROW('x'), ROW('y'));
  CREATE TABLE owners (id integer PRIMARY KEY, home address);
  CREATE TABLE shops (id integer PRIMARY KEY, name text, address address, former address[], second checked_address, odds odds,
    owner integer REFERENCES owners);
  CREATE FUNCTION city_of(place address, spots spot[] DEFAULT '{}') RETURNS text LANGUAGE sql STABLE AS
    $$ SELECT (place).city || ' ' || cardinality(spots) $$;
  CREATE FUNCTION near(place checked_address) RETURNS address LANGUAGE sql STABLE AS
    $$ SELECT ROW((place).street, 'near ' || (place).city, (place)."post code", (place).spot)::address $$;
  CREATE FUNCTION odds_of(odds odds, place address, more text DEFAULT '') RETURNS TABLE (odds jsonb, place address, more text)
    LANGUAGE sql STABLE AS $$ SELECT to_jsonb(odds_of.odds), odds_of.place, odds_of.more $$;
  CREATE FUNCTION places() RETURNS TABLE (id integer, place address) LANGUAGE sql STABLE AS
    $$ SELECT s.id, s.address FROM shops AS s ORDER BY s.id $$;
  CREATE FUNCTION move_shop(shop integer, place address) RETURNS SETOF shops LANGUAGE sql VOLATILE AS
    $$ UPDATE shops AS s SET address = place WHERE s.id = shop RETURNING s.* $$;`;

const ghent = { street: 'Kouter 1', city: 'Ghent', 'post code': 9000, spot: { lat: 51.05, lon: 3.72 } };
const paris = { street: 'Rue "Q"\\, (2)', city: 'Paris', 'post code': 75001, spot: null };
/** A value under the names of GraphQL. */
const named = ({ 'post code': post_code, ...rest }: { readonly 'post code': number | null }) => ({
  ...rest,
  post_code,
});

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
      create: { fields: [id, name], presets: { address: ${JSON.stringify(ghent)} } }
    owners: { read: { fields: [id] } }
functions:
  public: { city_of: true, odds_of: { args: { odds: ${JSON.stringify(odds)}, place: ${JSON.stringify(paris)} } } }
`,
    config: '{ functions: { city_of: {}, near: {}, places: {}, move_shop: {}, odds_of: {} } }',
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
  });

  it('are objects of GraphQL, of which members are selected', async () => {
    const whole = '{ street city post_code spot { lat lon } }';
    const read = `{ shops_by_id(id: 1) { address ${whole} former ${whole} owner { home ${whole} } odds { big raw numbers spots { lat } document } } }`;
    expect(await graphql(read)).toEqual({
      shops_by_id: {
        ...{ address: named(ghent), former: [named(paris), null, named(nothing)], owner: { home: named(ghent) } },
        odds: { big: odds.big, raw: 'AQID', numbers: [1, null, 3], spots: [{ lat: 1 }, null], document: { a: [1, 2] } },
      },
    });
    const parts = `query ($no: Boolean!) { shops(sort: "id") {
      a: address { __typename town: city ...more spot @skip(if: $no) { lat } }
      b: address { spot { __typename n: lat } } } }
      fragment more on address_composite { post_code spot { lon } }`;
    expect(await graphql(parts, { no: true })).toEqual({
      shops: [
        {
          a: { __typename: 'address_composite', town: 'Ghent', post_code: 9000, spot: { lon: 3.72 } },
          b: { spot: { __typename: 'spot_composite', n: 51.05 } },
        },
        { a: { __typename: 'address_composite', town: 'Paris', post_code: 75001, spot: null }, b: { spot: null } },
        { a: { __typename: 'address_composite', town: null, post_code: null, spot: null }, b: { spot: null } },
        { a: null, b: null },
      ],
    });
    const many = Array.from({ length: 52 }, (_, index) => `m${index}: city`);
    const { shops } = await graphql(
      `{ shops(filter: { id: { _eq: 1 } }) { former { ${many.join(' ')} } owner { shops { address { city } } } } }`,
    );
    expect([Object.keys(shops[0].former[0]), shops[0].former[0].m51, shops[0].owner]).toEqual([
      ...[many.map((_, index) => `m${index}`), 'Paris', { shops: [{ address: { city: 'Ghent' } }] }],
    ]);
    expect(await graphql('{ shops { address } }')).toContain('INVALID_QUERY');
  });

  it('are written whole, over REST and GraphQL', async () => {
    const changed = await post('/items/shops/2', { address: ghent, former: [ghent], second: null }, 'PATCH');
    expect([changed.status, changed.json.data]).toMatchObject([200, { address: ghent, former: [ghent] }]);
    const write =
      'mutation ($a: address_composite_input) { update_shops_item(id: 2, data: { address: $a }) { address { city post_code } } }';
    const after = { update_shops_item: { address: { city: 'Paris', post_code: 75001 } } };
    expect(await graphql(write, { a: named(paris) })).toEqual(after);
    expect((await project.admin('/items/shops/2?fields=address')).json.data).toEqual({ address: paris });
    expect(await graphql(write, { a: null })).toEqual({ update_shops_item: { address: null } });
    expect(await graphql(write, { a: { city: 'x' } })).toContain(
      'INVALID_PAYLOAD: "address" needs the member "street"',
    );
    expect(await graphql(write, { a: { town: 'x' } })).toContain('INVALID_QUERY');
    const made = `mutation { create_owners_item(data: { id: 2, home: { street: null, city: "Lier", post_code: 1, spot: { lat: 1, lon: 2 } },
      shops: [{ id: 5, former: [{ street: "a", city: "b", post_code: 2, spot: null }, null] }] }) { home { city } shops { former { street } } } }`;
    expect(await graphql(made)).toEqual({
      create_owners_item: { home: { city: 'Lier' }, shops: [{ former: [{ street: 'a' }, null] }] },
    });
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
    // Members are compared by their paths; elements are for arrays of JSON.
    expect(client).toContain('address?: CompositeOperators;');
    expect(failure(await project.admin('/items/shops?filter[address][_has]=a'))).toBe('400 INVALID_QUERY');
    const sdl = (await project.admin('/server/specs/graphql/items')).text;
    expect(sdl).toContain(
      'type address_composite {\n  street: String\n  city: String\n  post_code: Int\n  spot: spot_composite\n}',
    );
    expect(sdl).toContain('former: [address_composite]');
    expect(sdl).toContain('former: [address_composite_input]');
    expect(sdl).toContain('input spot_composite_input {\n  lat: Float\n  lon: Float\n}');
  });
});

describe('functions', () => {
  it('take objects, in queries, payloads and documents', async () => {
    const query = `place=${encodeURIComponent(JSON.stringify(ghent))}&spots=${encodeURIComponent('[{"lat":1,"lon":2},null]')}`;
    expect((await project.ask(`/functions/city_of?${query}`)).json).toEqual({ data: 'Ghent 2' });
    const body = { args: { place: paris } };
    expect((await project.ask('/functions/city_of', { method: 'SEARCH', body })).json).toEqual({ data: 'Paris 0' });
    const moved = await post('/functions/move_shop?fields=id,address', { shop: 3, place: ghent });
    expect(moved.json).toEqual({ data: [{ id: 3, address: ghent }] });
  });

  it('take objects that rules set, which callers cannot', async () => {
    const set = await project.ask('/functions/odds_of?more=x');
    expect(set.text).toContain('"big": 9007199254740993');
    expect(set.json.data).toMatchObject([{ odds: { exact: 1.5, spots: odds.spots }, place: paris, more: 'x' }]);
    const answer = await project.ask('/functions/odds_of', { method: 'SEARCH', body: { args: { place: ghent } } });
    expect(failure(answer)).toBe('400 INVALID_QUERY');
    const made = await project.ask('/items/shops?fields=id,address', { method: 'POST', body: { id: 9, name: 'x' } });
    expect([made.status, made.json.data]).toEqual([200, { id: 9, address: ghent }]);
    const permissions = `permissions:
  public:
    shops: { create: { fields: [id], presets: { address: { city: Ghent } } } }
functions:
  public: { city_of: { args: { place: ${JSON.stringify({ ...ghent, spot: { lat: 'x', lon: 1 } })} } } }
`;
    const { folder, remove } = await createProject();
    await cp(join(project.folder, 'platform.config.ts'), join(folder, 'platform.config.ts'));
    await writeFile(join(folder, 'permissions.yaml'), permissions);
    const { stderr } = await runPlatform(['generate', '--project', folder], { DATABASE_URL: project.database.url });
    await remove();
    expect(stderr).toContain('The preset "address" needs the member "street".');
    expect(stderr).toContain('The argument "place" has a member "spot" that has a member "lat" that must be a number');
  });

  it('take and give objects in GraphQL', async () => {
    const text = `query ($place: address_composite_input!) { city_of(place: $place, spots: [{ lat: 1, lon: 2 }])
      near(place: $place) { city post_code spot { lat } } places { id place { city } } }`;
    expect(await graphql(text, { place: named(ghent) })).toEqual({
      ...{ city_of: 'Ghent 1', near: { city: 'near Ghent', post_code: 9000, spot: { lat: 51.05 } } },
      places: ['Ghent', 'Paris', null, undefined].map((city, index) => {
        return { id: index + 1, place: city === undefined ? null : { city } };
      }),
    });
    const moved =
      'mutation ($place: address_composite_input!) { move_shop(shop: 4, place: $place) { id address { city } } }';
    expect(await graphql(moved, { place: named(paris) })).toEqual({
      move_shop: [{ id: 4, address: { city: 'Paris' } }],
    });
  });

  it('give objects', async () => {
    const near = await project.admin(`/functions/near?place=${encodeURIComponent(JSON.stringify(ghent))}`);
    expect(near.json).toEqual({ data: { ...ghent, city: 'near Ghent' } });
    const places = await project.admin('/functions/places');
    expect(places.json.data).toEqual([ghent, paris, nothing, null].map((place, index) => ({ id: index + 1, place })));
  });

  it('refuse what is no value of the type', async () => {
    const told = async (place: unknown) => {
      const answer = await project.ask('/functions/city_of', { method: 'SEARCH', body: { args: { place } } });
      return `${failure(answer)}: ${answer.json.errors?.[0].message}`;
    };
    expect(await told({ city: 'Ghent' })).toContain('400 INVALID_QUERY: "place" needs the member "street"');
    expect(await told('(a,Ghent,1,)')).toContain('400 INVALID_QUERY: "place" must be an object');
    expect(await told({ ...ghent, 'post code': 'x' })).toContain('must be an integer');
    const texts = await project.ask('/functions/city_of?place=(a,Ghent,1,)');
    expect(failure(texts)).toBe('400 INVALID_QUERY');
    expect(failure(await post('/functions/move_shop', { shop: 3, place: { city: 'x' } }))).toBe('400 INVALID_PAYLOAD');
    const refused = await project.admin(
      `/functions/near?place=${encodeURIComponent(JSON.stringify({ ...ghent, city: 'Nowhere' }))}`,
    );
    expect(failure(refused)).toBe('400 INVALID_QUERY');
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

  it('are counted where members know no equality', async () => {
    const counted = '/items/shapes?aggregate[count]=shape&aggregate[countDistinct]=shape';
    expect((await project.admin(counted)).json.data).toEqual([{ count: { shape: 3 }, countDistinct: { shape: 2 } }]);
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
    const sdl = (await project.ask('/server/specs/graphql/items')).text;
    expect([sdl.includes('type address_composite'), /odds_composite|colour/.test(sdl)]).toEqual([true, false]);
    expect([text.includes('"second"'), text.includes('colour'), text.includes('post code')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
