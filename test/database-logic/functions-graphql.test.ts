/** Functions and procedures of the database over GraphQL: the same answers, and the same rights. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Atlas, clerk, startAtlas } from '../support/atlas.ts';
import { failure, serveProject } from '../support/project.ts';
import { runWarm } from '../support/warm-command.ts';

let atlas: Atlas;
beforeAll(async () => {
  atlas = await startAtlas();
});
afterAll(() => atlas?.close());

type Role = 'public' | 'clerk' | 'auditor' | 'admin';

async function ask(role: Role, query: string, variables: object = {}) {
  const request = { method: 'POST', body: { query, variables } };
  const { json } =
    role === 'admin'
      ? await atlas.admin('/graphql', request)
      : await atlas.ask('/graphql', role === 'public' ? request : { ...request, token: atlas.tokens[role] });
  return json.errors === undefined ? json.data : `${json.errors[0].extensions.code}: ${json.errors[0].message}`;
}

describe('queries', () => {
  it('give values, objects and items', async () => {
    expect(await ask('public', '{ shop_count words(phrase: "a b") }')).toEqual({ shop_count: '4', words: ['a', 'b'] });
    expect(await ask('auditor', '{ titles(status: "published", limit: 1, offset: 1) }')).toEqual({
      titles: ['Summer at the harbour'],
    });
    const objects = '{ region_totals(limit: 1) { __typename n: shops region } extent(region: 1) { west } }';
    expect(await ask('clerk', objects)).toEqual({
      region_totals: [{ __typename: 'region_totals_result', n: '2', region: 'Ghent' }],
      extent: { west: 3.72 },
    });
    const items =
      '{ nearest_shops(lng: 3.2, lat: 51.2, max_count: 3) { name region { name } } best_shop(region: 9) { name } }';
    expect(await ask('public', items)).toEqual({
      nearest_shops: [
        { name: 'Belfry', region: { name: 'Bruges' } },
        { name: 'Harbour', region: { name: 'Ghent' } },
      ],
      best_shop: null,
    });
    const filtered =
      '{ nearest_shops(lng: 3.2, lat: 51.2, filter: { rating: { _nnull: true } }, sort: ["-name"], limit: 1) { name } }';
    expect(await ask('clerk', filtered)).toEqual({ nearest_shops: [{ name: 'Market' }] });
  });

  it('take variables, other values each time', async () => {
    const query = 'query ($lng: Float!, $n: Int) { nearest_shops(lng: $lng, lat: 51.2, max_count: $n) { name } }';
    expect(await ask('clerk', query, { lng: 3.2, n: 1 })).toEqual({ nearest_shops: [{ name: 'Belfry' }] });
    expect(await ask('clerk', query, { lng: 9, n: 1 })).toEqual({ nearest_shops: [{ name: 'Market' }] });
  });

  it('take a null for another argument than none, whichever comes first', async () => {
    await atlas.database.rows(`INSERT INTO shops SELECT i, 'Stall ' || i, 2, 0, 0 FROM generate_series(101, 110) i`);
    const count = async (variables: object): Promise<number> => {
      const query = 'query ($n: Int) { nearest_shops(lng: 0, lat: 0, max_count: $n) { id } }';
      return (await ask('clerk', query, variables)).nearest_shops.length;
    };
    const counts = [await count({}), await count({ n: null }), await count({})];
    await atlas.database.rows('DELETE FROM shops WHERE id > 100');
    expect(counts).toEqual([10, 14, 10]);
  });
});

describe('mutations', () => {
  it('give what REST gives, in one transaction', async () => {
    const closing =
      'mutation { a: close_region(region: 1, sort: ["-name"]) { name is_open } b: close_region(region: 9) { name } reopen }';
    expect(await ask('clerk', closing)).toEqual({
      a: [
        { name: 'Market', is_open: false },
        { name: 'Harbour', is_open: false },
      ],
      b: [],
      reopen: true,
    });
    await atlas.database.rows('UPDATE shops SET is_open = false WHERE id = 4');
    const both = 'mutation { rename_shop(shop: 4, new_name: "Vault") { name } place_order(lines: []) }';
    expect(await ask('clerk', both)).toBe('UNPROCESSABLE_ENTITY: An order needs a line.');
    expect(await atlas.database.rows('SELECT name FROM shops WHERE id = 4')).toEqual([{ name: 'Cellar' }]);
    expect(await ask('clerk', 'mutation { place_order(lines: [1]) }')).toEqual({
      place_order: { order: expect.any(Number), customer: clerk },
    });
    expect(await ask('auditor', 'mutation { archive_documents(before: "2000-01-01") { archived } }')).toEqual({
      archive_documents: { archived: 0 },
    });
    // The auditor reads no shop.
    expect(await ask('auditor', 'mutation { close_region(region: 9) }')).toEqual({ close_region: true });
  });
});

describe('attacks', () => {
  it('a function without the right is a field that does not exist', async () => {
    const hidden = await ask('public', '{ region_totals { region } }');
    const unknown = await ask('public', '{ region_notals { region } }');
    expect(String(hidden).replace('region_totals', 'region_notals')).toBe(unknown);
    expect(await ask('clerk', 'mutation { place_order(lines: [1], customer: "me") }')).toMatch(
      /^INVALID_QUERY: Unknown argument "customer"/,
    );
  });

  it.each([
    '{ nearest_shops(lng: 3.2, lat: 51.2) { supplier_note } }',
    '{ nearest_shops(lng: 3.2, lat: 51.2, filter: { supplier_note: { _nnull: true } }) { name } }',
    '{ nearest_shops(lng: 3.2, lat: 51.2, sort: ["supplier_note"]) { name } }',
    '{ nearest_shops(lng: 3.2, lat: 51.2, filter: { is_open: { _eq: false } }) { name } }',
  ])('a hidden column is not reached by %s', async (query) => {
    expect(await ask('public', query)).toMatch(/^(?:INVALID_QUERY|FORBIDDEN): /);
  });

  it('errors that a function raises say no more than over REST', async () => {
    expect(await ask('admin', 'mutation { place_order(lines: [1], customer: "banned") }')).toBe(
      'FORBIDDEN: Not found, or you do not have permission.',
    );
    expect(await ask('admin', 'mutation { place_order(lines: [1, 2, 3, 4]) }')).toBe(
      'UNPROCESSABLE_ENTITY: The function refuses this.',
    );
  });
});

it('documents that are known beforehand may call them', async () => {
  const folder = join(atlas.folder, 'documents', 'clerk');
  await mkdir(folder, { recursive: true });
  const text = `query Near($lng: Float!, $n: Int) { nearest_shops(lng: $lng, lat: 51.2, max_count: $n) { name } extent(region: 1) { west } }
    mutation Order($lines: JSON!) { place_order(lines: $lines) reopen }`;
  await writeFile(join(folder, 'shops.graphql'), text);
  const { code, stderr } = await runWarm(['generate', '--offline', '--project', atlas.folder]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  const planned = await readFile(join(atlas.folder, 'generated/graphql/documents.sql'), 'utf8');
  expect(planned).toMatch(/-- clerk: Near, \w+\n-- nearest_shops\nSELECT [^;]*"nearest_shops"\(/);
  expect(planned).toContain('-- extent: a call of a function\n');
  expect(planned).toContain('-- place_order: a write, planned with its payload\n');
});

it('a user without a role calls what is granted to all with the values of a user; a guest may not', async () => {
  const user = '5b0f6c1e-0000-4000-8000-0000000000b1';
  const token = 'static-token-without-role';
  const project = await serveProject({
    system: true,
    sql: `CREATE TABLE shops (id integer PRIMARY KEY, name text); INSERT INTO shops VALUES (1, 'Belfry');
      CREATE FUNCTION shops_of(reader uuid) RETURNS SETOF shops LANGUAGE sql STABLE
        AS $$ SELECT * FROM shops WHERE reader IS NOT NULL $$;
      CREATE FUNCTION reader_key(reader uuid) RETURNS uuid LANGUAGE sql STABLE AS $$ SELECT reader $$;
      CREATE FUNCTION greet(reader uuid) RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT 'Hello, ' || reader $$;`,
    config: '{ functions: { shops_of: {}, reader_key: {}, greet: {} } }',
    permissions: `permissions: { public: { shops: { read: true } } }
functions:
  public:
    shops_of: { args: { reader: $CURRENT_USER } }
    reader_key: { args: { reader: $CURRENT_USER } }
    greet: { args: { reader: $CURRENT_USER } }`,
  });
  try {
    await project.rows(
      `INSERT INTO platform.platform_users (id, email, token) VALUES ('${user}', 'a@b.example', '${token}')`,
    );
    const documents = ['{ shops_of { name } }', '{ reader_key }', 'mutation { greet }'];
    const answers = [{ shops_of: [{ name: 'Belfry' }] }, { reader_key: user }, { greet: `Hello, ${user}` }];
    for (const [index, query] of documents.entries()) {
      const request = { method: 'POST', body: { query } };
      // The guest comes first and last: what is compiled for one is not the other's.
      expect((await project.ask('/graphql', request)).json.errors[0].extensions.code).toBe('FORBIDDEN');
      expect((await project.ask('/graphql', { ...request, token })).json).toEqual({ data: answers[index] });
      expect((await project.ask('/graphql', request)).json.errors[0].extensions.code).toBe('FORBIDDEN');
    }
    expect((await project.ask('/functions/reader_key', { token })).json).toEqual({ data: user });
    expect(failure(await project.ask('/functions/reader_key'))).toBe('404 ROUTE_NOT_FOUND');
  } finally {
    await project.close();
  }
});
