import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { explain } from '../support/explain.ts';
import type { Answer } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** Columns of every type that has an order, each with few values, so that there are ties and nulls, and its extremes. */
const columns: readonly (readonly [type: string, values: readonly string[]])[] = [
  ['integer', ['-1', '0', '7']],
  ['smallint', ['-32768', '32767']],
  ['bigint', ['9223372036854775807', '-9223372036854775808']],
  ['numeric', ["'NaN'", "'-Infinity'", '0.10', '0.1', '123456789012345678901234567890.123456789']],
  ['money', ['1.25', '-3']],
  ['real', ["'NaN'", '0.1', "'-Infinity'", '3.4028235e38']],
  ['double precision', ["'NaN'", '0.1', "'Infinity'", '5e-324', '-0.0']],
  ['boolean', ['true', 'false']],
  ['text', ["''", "'null'", "'a'", "'B'", "'ä'", "'Z'", `'"\\,{}'`]],
  ['text COLLATE "C"', ["'a'", "'B'", "'ä'"]],
  ['text COLLATE blind', ["'a'", "'A'", "'b'"]],
  ['citext', ["'a'", "'A'", "'b'"]],
  ['varchar(3)', ["'a'", "'a '"]],
  ['char(4)', ["'a'", "'b'"]],
  ['"char"', ["'a'", "'b'"]],
  ['name', ["'a'", "'B'"]],
  ['uuid', ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "'00000000-0000-0000-0000-000000000000'"]],
  ['bytea', [`'\\x00ff'`, `'\\x'`]],
  ['date', ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'5874897-12-31'", "'2024-02-29'"]],
  ['time', ["'24:00:00'", "'12:00:00.000001'"]],
  ['timetz', ["'24:00:00+02'", "'12:00:00.000001-11:30'"]],
  ['timestamp', ["'infinity'", "'0044-03-15 12:00:00.000001 BC'", "'294276-12-31 23:59:59.999999'"]],
  ['timestamptz', ["'-infinity'", "'2024-01-01 00:00:00.000001+14'", "'2024-01-01 00:00:00.000002+14'"]],
  ['interval', ["'1 month'", "'30 days'", "'-178956970 years'", "'2562047788:00:54.775807'", "'0.5s'"]],
  ['inet', ["'10.0.0.1'", "'10.0.0.0/8'", "'::1'"]],
  ['mood', ["'sad'", "'happy'", "''"]],
  ['mood_domain', ["'sad'", "'happy'"]],
  ['positive', ['1', '2']],
  ['integer[]', ["'{1,2}'", "'{1,NULL}'", "'{}'", "'{{1},{2}}'", "'[2:3]={1,2}'"]],
  ['text[]', [`'{"a,b",NULL,"\\""}'`, "'{}'"]],
  ['timestamptz[]', ["'{2024-01-01}'", "'{infinity}'"]],
];
const names = columns.map((_, index) => `c${index}`);
const rows = 120;

/** Every column has its values in turns of its own, and a null in each turn. */
function samples(): string {
  const values = columns.map(([type, texts], index) => {
    const cases = texts.map((text, at) => `WHEN ${at} THEN (${text})::${type.replace(/ COLLATE.*/, '')}`);
    return `CASE (g * ${index + 3} + g / 7) % ${texts.length + 1} ${cases.join(' ')} END`;
  });
  return `SELECT g, nullif(1 + g % 10, 10), ${values.join(', ')} FROM generate_series(1, ${rows}) g`;
}

const sql = `
  CREATE EXTENSION citext;
  CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
  CREATE TYPE mood AS ENUM ('sad', 'happy', '');
  CREATE DOMAIN mood_domain AS mood;
  CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
  CREATE TABLE owners (id integer PRIMARY KEY, name text, since timestamptz, parent_id integer REFERENCES owners);
  INSERT INTO owners SELECT g, nullif('o' || g % 3, 'o1'),
    timestamptz '2024-01-01Z' + nullif(g % 4, 0) * interval '1 microsecond', nullif(g / 2, 0) FROM generate_series(1, 9) g;
  CREATE TABLE samples (id integer PRIMARY KEY, owner_id integer REFERENCES owners,
    ${columns.map(([type], index) => `c${index} ${type}`).join(', ')});
  INSERT INTO samples ${samples()};
  CREATE INDEX ON samples (c0, id);
  CREATE TABLE pairs (a text, b timestamptz, c integer, PRIMARY KEY (a, b));
  INSERT INTO pairs SELECT 'a' || g % 5, timestamptz '2024-01-01Z' + g * interval '1 microsecond', g % 3
    FROM generate_series(1, 40) g;
  CREATE TABLE loose (word citext PRIMARY KEY);
  INSERT INTO loose VALUES ('a'), ('B'), ('c'), ('D'), ('Ä');
  CREATE TABLE keyless (n integer);
  CREATE TABLE one (id integer PRIMARY KEY, n integer);
  CREATE TABLE masked (id integer PRIMARY KEY, n integer);
  INSERT INTO masked SELECT i, i FROM generate_series(1, 6) AS i;
  CREATE TABLE moving (id integer PRIMARY KEY, n integer);
  INSERT INTO moving SELECT g, g % 7 FROM generate_series(1, 200) g;`;

/** The public reads `c8` of the first half only, and never the key of an owner. */
const permissions = `permissions:
  public:
    samples:
      read:
        - { fields: [id, owner_id, c0, c8], filter: { id: { _lte: 60 } } }
        - { fields: [id, owner_id, c0], filter: { id: { _gt: 60 } } }
    owners: { read: { fields: [name, samples], filter: { id: { _neq: 3 } } } }
    moving: { read: [{ fields: [id, n], filter: { n: { _lt: 3 } } }, { fields: [n], filter: { n: { _gte: 3 } } }] }
    masked: { read: [{ fields: [id] }, { fields: [n], filter: { n: { _lt: 3 } } }] }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, permissions, config: '{ collections: { one: { singleton: true } } }' });
});
afterAll(() => project?.close());

type Read = (path: string) => Promise<Answer>;

/** Reads page after page, at most so many items each, and calls `between` before each but the first. */
async function walk(read: Read, path: string, limit: number, between?: (page: number) => Promise<void>) {
  const items: unknown[] = [];
  const pages: { readonly data: unknown[]; readonly meta: Record<string, string | null> }[] = [];
  let cursor: string | null = '';
  for (let page = 0; cursor !== null; page += 1) {
    if (page > 0) await between?.(page);
    const { json, text } = await read(`${path}&limit=${limit}&cursor=${cursor}`);
    if (json.data === undefined) throw new Error(`${path} ${text}`);
    // A page is full unless it is the last one, and never empty behind another.
    expect(json.data.length).toBe(json.meta.next_cursor === null ? Math.min(limit, json.data.length) : limit);
    if (page > 0) expect(json.data.length).toBeGreaterThan(0);
    items.push(...json.data);
    pages.push(json);
    cursor = json.meta.next_cursor;
  }
  if (between === undefined && limit <= 1000) await walkBack(read, path, limit, pages);
  return items;
}

/** Reads the same pages again from the last one back. */
async function walkBack(
  read: Read,
  path: string,
  limit: number,
  pages: readonly { readonly data: unknown[]; readonly meta: Record<string, string | null> }[],
) {
  for (let page = pages.length - 1; page > 0; page -= 1) {
    const { json } = await read(`${path}&limit=${limit}&cursor=${pages[page]?.meta.previous_cursor}`);
    // The first page has none before it.
    const expected = pages[page - 1];
    const { next_cursor: next, previous_cursor: previous } = json.meta;
    expect([json.data, next, previous]).toEqual([
      expected?.data,
      expected?.meta.next_cursor,
      expected?.meta.previous_cursor,
    ]);
  }
}

async function whole(read: Read, path: string) {
  return (await read(`${path}&limit=-1`)).json.data;
}

const admin: Read = (path) => project.admin(path);
const open: Read = (path) => project.ask(path);

describe('all pages together are the list', () => {
  it.each([...columns.keys()].flatMap((index) => [[index, ''] as const, [index, '-'] as const]))(
    'in the order of column %i%s',
    async (index, minus) => {
      const path = `/items/samples?fields=id&sort=${minus}c${index}`;
      expect(await walk(admin, path, 17)).toEqual(await whole(admin, path));
    },
  );

  it.each([
    ['owner_id.name'],
    ['-owner_id.since'],
    ['owner_id.parent_id.name,-c1'],
    ['year(c18),-month(c21),id'],
    ['-count(c28),c0'],
    ['-owner_id.count(samples),owner_id.name'],
    ['-id'],
    ['-c0,-id'],
    ['c0,id,c1'],
  ])('in the order of %s', async (sort) => {
    const path = `/items/samples?fields=id,owner_id.name&sort=${sort}`;
    const all = await whole(admin, path);
    expect(all).toHaveLength(rows);
    expect(await walk(admin, path, 7)).toEqual(all);
  });

  it('in any order, for anybody, with any filter, for pages of any size', async () => {
    const mine = ['id', 'c0', 'c8', 'owner_id', 'owner_id.name', 'owner_id.count(samples)'];
    const term = (names: readonly string[]) => fc.tuple(fc.constantFrom('', '-'), fc.constantFrom(...names));
    const any = fc.oneof(
      fc.record({ read: fc.constant(open), sort: fc.array(term(mine), { maxLength: 4 }) }),
      fc.record({ read: fc.constant(admin), sort: fc.array(term([...mine, ...names]), { maxLength: 5 }) }),
    );
    const filters = ['', '&filter[c0][_gte]=0', '&search=a', '&filter[owner_id][name][_nnull]=true'];
    await fc.assert(
      fc.asyncProperty(
        any,
        fc.constantFrom(...filters),
        fc.integer({ min: 1, max: 60 }),
        async (list, filter, size) => {
          const sort = list.sort.map(([minus, name]) => minus + name).join(',');
          const path = `/items/samples?fields=id${filter}&sort=${sort}`;
          expect(await walk(list.read, path, size)).toEqual(await whole(list.read, path));
        },
      ),
      { numRuns: 20 },
    );
  }, 120_000);

  it('with a key of several fields', async () => {
    for (const sort of ['', '-c', 'c,-b', 'a']) {
      const path = `/items/pairs?fields=*&sort=${sort}`;
      expect(await walk(admin, path, 3)).toEqual(await whole(admin, path));
    }
  });

  it('with a key that compares in another way than it orders', async () => {
    const words = await walk(admin, '/items/loose?fields=word', 2);
    expect(words).toHaveLength(5);
    expect(words).toEqual(expect.arrayContaining(await whole(admin, '/items/loose?fields=word')));
  });

  it('while other rows come and go', async () => {
    const change = (page: number) =>
      withClient(project.database.url, (client) =>
        client.query(
          `INSERT INTO moving VALUES (${1000 + page}, ${page % 7}); DELETE FROM moving WHERE id = ${page * 3}`,
        ),
      );
    const items = await walk(admin, '/items/moving?fields=id&sort=-n', 9, async (page) => void (await change(page)));
    const seen = items.map((item) => Number(Object(item).id));
    expect(new Set(seen).size).toBe(seen.length);
    const stayed = Array.from({ length: 200 }, (_, index) => index + 1).filter((id) => id % 3 !== 0);
    expect(stayed.filter((id) => !seen.includes(id))).toEqual([]);
  });
});

describe('a page', () => {
  it('counts what the filter matches, wherever it starts', async () => {
    const path = '/items/samples?fields=id&filter[id][_lte]=10&limit=4&meta=*';
    const first = await project.admin(`${path}&cursor=`);
    const second = await project.admin(`${path}&cursor=${first.json.meta.next_cursor}`);
    expect(second.json).toEqual({
      data: [5, 6, 7, 8].map((id) => ({ id })),
      meta: {
        total_count: rows,
        filter_count: 10,
        next_cursor: expect.any(String),
        previous_cursor: expect.any(String),
      },
    });
    expect(first.text).toMatch(
      /,"meta":\{"total_count":120,"filter_count":10,"next_cursor":"[\w-]+","previous_cursor":null\}\}$/,
    );
  });

  it('without matches has no next one', async () => {
    for (const meta of ['', '&meta=filter_count']) {
      const { json } = await project.admin(`/items/samples?filter[id]=0&cursor=${meta}`);
      expect([json.data, json.meta.next_cursor]).toEqual([[], null]);
    }
  });

  it('has the default size, or everything that remains', async () => {
    const { json } = await project.admin('/items/samples?fields=id&cursor=');
    expect(json.data).toHaveLength(100);
    const rest = await project.admin(`/items/samples?fields=id&cursor=${json.meta.next_cursor}&limit=-1`);
    expect(rest.json.data).toHaveLength(20);
    expect(rest.json.meta).toEqual({ next_cursor: null, previous_cursor: expect.any(String) });
  });

  it('can be of another size, and be streamed', async () => {
    await withClient(project.database.url, (client) =>
      client.query('INSERT INTO moving SELECT g, 1 FROM generate_series(5000, 9000) g'),
    );
    const path = '/items/moving?fields=id&sort=n';
    const items = await walk(admin, path, 1500);
    expect(items).toEqual(await whole(admin, path));
  });

  it('reads alike in the body of SEARCH, with deep and alias', async () => {
    const query = { fields: ['id', 'who.name'], alias: { who: 'owner_id' }, sort: ['-c0'], limit: 2 };
    const search = (cursor: string) =>
      project.admin('/items/samples', { method: 'SEARCH', body: { query: { ...query, cursor } } });
    const first = await search('');
    const get = `/items/samples?fields=id,who.name&alias[who]=owner_id&sort=-c0&limit=2&cursor=`;
    expect(first.text).toBe((await project.admin(get)).text);
    const next = first.json.meta.next_cursor;
    expect((await search(next)).text).toBe((await project.admin(get + next)).text);
  });

  it('is one statement that starts in the index', async () => {
    const statementOf = async (path: string) => {
      const { json } = await project.admin(`${path}&limit=3&cursor=`);
      project.statements.reset();
      await project.admin(`${path}&limit=3&cursor=${json.meta.next_cursor}`);
      expect(project.statements.executed()).toBe(1);
      return project.statements.texts()[0] ?? '';
    };
    const plans = async (path: string) => {
      const text = await statementOf(path);
      return [text, ...(await explain(project.database.url, text))].join('\n');
    };
    const byKey = await plans('/items/samples?fields=c7,c5');
    expect(byKey).toContain('WHERE t0."id" > $1');
    expect(byKey).toMatch(/Index (Only )?Scan using samples_pkey.*\nIndex Cond: \(id > \$1\)$/);
    const both = await plans('/items/samples?fields=c7,c5&sort=-c0,-id&filter[c0][_nnull]=true');
    expect(both).toMatch(/Backward using samples_c0_id_idx.*\nIndex Cond: .*ROW\(c0, id\) < ROW\(\$1, \$2\)/);
    const mixed = await plans('/items/samples?fields=c7,c5&sort=-c0&filter[c0][_nnull]=true');
    expect(mixed).toMatch(/Index Cond: .*c0 <= \$1/);
  });
});

describe('a page before', () => {
  it('is read in the reversed order, with nested lists and counts', async () => {
    const path =
      '/items/samples?fields=id,owner_id.samples.id&deep[owner_id][samples][_limit]=2&sort=-c0&limit=3&meta=*';
    const first = await project.admin(`${path}&cursor=`);
    const second = await project.admin(`${path}&cursor=${first.json.meta.next_cursor}`);
    project.statements.reset();
    const again = await project.admin(`${path}&cursor=${second.json.meta.previous_cursor}`);
    expect(project.statements.executed()).toBe(1);
    expect(again.text).toBe(first.text);
  });

  it('is short where rows before it are gone, and empty where all are', async () => {
    const path = '/items/owners?fields=id&filter[id][_lte]=4&limit=3';
    const first = await project.admin(`${path}&cursor=`);
    const second = await project.admin(`${path}&cursor=${first.json.meta.next_cursor}`);
    const before = second.json.meta.previous_cursor;
    const fewer = await project.admin(`${path.replace('_lte', '_gt').replace('=4', '=2')}&cursor=${before}`);
    expect(fewer.json).toEqual({
      data: [{ id: 3 }],
      meta: { next_cursor: expect.any(String), previous_cursor: null },
    });
    const none = await project.admin(`${path.replace('_lte', '_gt').replace('=4', '=3')}&cursor=${before}`);
    expect(none.json).toEqual({ data: [], meta: { next_cursor: null, previous_cursor: null } });
  });

  it('has a bounded size', async () => {
    const { json } = await project.admin('/items/samples?fields=id&limit=3&cursor=');
    const second = await project.admin(`/items/samples?fields=id&limit=3&cursor=${json.meta.next_cursor}`);
    for (const limit of [-1, 1001]) {
      const refused = await project.admin(`/items/samples?limit=${limit}&cursor=${second.json.meta.previous_cursor}`);
      expect(failure(refused)).toBe('400 INVALID_QUERY');
    }
  });
});

describe('a cursor', () => {
  const next = async (path: string): Promise<string> =>
    (await project.admin(`${path}${path.includes('?') ? '&' : '?'}limit=1&cursor=`)).json.meta.next_cursor;

  it('belongs to its list and its order', async () => {
    const cursor = await next('/items/samples?sort=c0');
    const others = ['samples?sort=-c0', 'samples?sort=c1', 'samples?', 'samples?sort=c0,c1', 'moving?sort=n', 'pairs?'];
    for (const other of others) {
      expect([other, failure(await project.admin(`/items/${other}&cursor=${cursor}`))]).toEqual([
        other,
        '400 INVALID_QUERY',
      ]);
    }
    expect((await project.admin(`/items/samples?sort=c0&filter[id][_gt]=5&fields=id&cursor=${cursor}`)).status).toBe(
      200,
    );
  });

  it.each(['offset=0', 'offset=5', 'page=1', 'aggregate[count]=*', 'groupBy=c0', 'export=csv', 'limit=0'])(
    'does not stand beside %s',
    async (rival) => {
      expect(failure(await project.admin(`/items/samples?cursor=&${rival}`))).toBe('400 INVALID_QUERY');
    },
  );

  it('is for lists of items with a key', async () => {
    const refused = [
      'samples/1?cursor=',
      'one?cursor=',
      'keyless?cursor=',
      'samples?cursor=&cursor=',
      'samples?cursor[a]=1',
    ];
    for (const path of refused) {
      expect([path, failure(await project.admin(`/items/${path}`))]).toEqual([path, '400 INVALID_QUERY']);
    }
    const body = { keys: [1], query: { cursor: '' } };
    expect(failure(await project.admin('/items/samples', { method: 'SEARCH', body }))).toBe('400 INVALID_QUERY');
    const number = { query: { cursor: 1 } };
    expect(failure(await project.admin('/items/samples', { method: 'SEARCH', body: number }))).toBe(
      '400 INVALID_QUERY',
    );
  });

  it('is refused where the key is hidden, like where there is none', async () => {
    const [hidden, some, none] = await Promise.all([
      project.ask('/items/owners?fields=name&cursor='),
      project.ask('/items/moving?fields=n&cursor='),
      project.admin('/items/keyless?cursor='),
    ]);
    expect(failure(hidden)).toBe('400 INVALID_QUERY');
    expect([some?.text, none?.text]).toEqual([hidden?.text, hidden?.text]);
  });

  it('takes a key that one of several rules shows on every row', async () => {
    const items = await walk((path) => project.ask(path), '/items/masked?fields=id,n&sort=-n', 4);
    expect(items).toEqual([3, 4, 5, 6, 2, 1].map((id) => ({ id, n: id < 3 ? id : null })));
  });

  it('tells nothing of cells that cannot be read', async () => {
    const path = '/items/samples?fields=id&filter[id][_gt]=60&sort=c8,owner_id.name&limit=1&cursor=';
    const { json } = await project.ask(path);
    const held = Buffer.from(json.meta.next_cursor.slice(13), 'base64url').toString();
    expect(JSON.parse(held)[0]).toBeNull();
  });

  it('of somebody else is judged by the same rules', async () => {
    const path = '/items/samples?fields=id&sort=c8,id&limit=5';
    const { json } = await project.admin(`${path}&filter[id][_gt]=60&cursor=`);
    const answer = await project.ask(`${path}&cursor=${json.meta.next_cursor}`);
    expect(answer.status).toBe(200);
  });

  it('hides no mistake of names and follows the order of checks', async () => {
    expect(failure(await project.ask('/items/samples?sort=c1&cursor='))).toBe('403 FORBIDDEN');
    expect(failure(await project.ask('/items/hidden?cursor='))).toBe('403 FORBIDDEN');
    expect(failure(await project.ask('/items/hidden?cursor=x'))).toBe('400 INVALID_QUERY');
    expect(failure(await project.ask('/items/one?cursor='))).toBe('403 FORBIDDEN');
  });
});
