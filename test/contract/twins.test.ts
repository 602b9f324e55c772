/**
 * The same rows on PostgreSQL and on MariaDB, and on MySQL where there is one: every read is answered with the same bytes,
 * on these also without optimisations.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { serve } from '@tablewright/runtime';
import { undoMigrations } from '@tablewright/runtime/tools';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startHosted } from '../support/host.ts';
import { loadApi } from '../support/in-process.ts';
import { startOneLane } from '../support/lanes.ts';
import { createMysqlDatabase, type MysqlServer, withMysql } from '../support/mariadb.ts';
import { type Answer, createProject, type Platform, secret } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { mysqlMigrationConnection } from '../support/system.ts';
import { runWarm } from '../support/warm-command.ts';
import { nestedAggregates } from './twins/aggregates.ts';
import { furtherJsonFilters, jsonDocuments, jsonFilters } from './twins/json-filters.ts';

const key = '9007199254740993';
/** Beside those that PostgreSQL alone is asked about: quotes, escapes, and numbers that are keys. */
const furtherNotes = String.raw`
  (8, NULL), (10, '{"7": [[{"deep": ["\\u00e4", 1000.0, false, null, ["b"], {"c": 1}]}]]}'), (11, '{"7": "seven", "name": "Ådä"}'),
  (12, '{"key \\"quoted\\" \\\\ $.*[0]": "found", "Ünï 🎈": "Größer\\n\\""}'), (13, '{"a": [[1], {"b": 1.0}], "name": "ada"}')`;

/** Lists, asked with their parameters as JSON. */
const lists: readonly (readonly [collection: string, query: Record<string, unknown>])[] = [
  ['kinds', {}],
  ['kinds', { fields: 'id,flag,document', sort: '-id', limit: 2, offset: 1 }],
  ['articles', {}],
  ['articles', { fields: ['*', 'author_id.*', 'author_id.country.name', 'comments.*', 'tags.name'], meta: '*' }],
  ['articles', { fields: '*.*.*' }],
  ['articles', { fields: 'id,comments.id,comments.article_id.comments.id' }],
  ['articles', { fields: ['id', 'sections.*', 'sections.item:headings.text', 'sections.item:pictures.*'] }],
  ['articles', { fields: 'id,sections' }],
  ['articles', { fields: 'id,year(published_at),month(published_at),week(published_at),weekday(published_at)' }],
  ['articles', { fields: 'id,hour(published_at),minute(published_at),second(published_at),day(published_at)' }],
  ['articles', { fields: 'id,count(comments),count(settings)', sort: ['-count(comments)', 'id'] }],
  [
    'articles',
    { alias: { newest: 'comments' }, fields: 'id,newest.id', deep: { newest: { _sort: '-id', _limit: 1 } } },
  ],
  ['articles', { fields: 'id,comments.id', deep: { comments: { _sort: '-created_at', _limit: 2, _offset: 1 } } }],
  ['articles', { fields: 'id,comments', deep: { comments: { _filter: { body: { _contains: 'ice' } } } } }],
  ['articles', { fields: 'id,comments', deep: { comments: { _limit: 17, _page: 1 } } }],
  ['articles', { fields: 'id,comments.id', deep: { comments: { _offset: 1, _limit: -1 } } }],
  ['articles', { fields: 'id', sort: 'title' }],
  ['articles', { fields: 'id', sort: ['author_id.name', 'id'], filter: { author_id: { _nnull: true } } }],
  ['articles', { fields: 'id', limit: 0, meta: 'filter_count' }],
  ['articles', { fields: 'id', offset: 5, meta: 'total_count' }],
  ['articles', { fields: 'id', offset: 99, meta: '*' }],
  ['articles', { fields: 'id', limit: 3, page: 2 }],
  ['articles', { fields: 'id', limit: -1 }],
  ['articles', { fields: 'id', search: 'FIRST' }],
  ['articles', { fields: 'id', search: 'Größer' }],
  ['articles', { fields: 'id', search: '100%' }],
  ['reviews', {}],
  ['reviews', { fields: '*,article_id.title', sort: '-stars' }],
  ['authors', { fields: 'id,articles.reviews', sort: 'id' }],
  ['categories', { fields: 'id,categories.id,categories.categories.name' }],
  ['articles', { aggregate: { count: '*' } }],
  [
    'articles',
    { aggregate: { count: 'rating', countDistinct: 'status', sum: 'views,rating', min: 'title,published_at' } },
  ],
  ['articles', { aggregate: { count: '*', max: 'views' }, groupBy: 'status' }],
  ['articles', { aggregate: { avg: 'views' }, groupBy: ['author_id'], filter: { author_id: { _nnull: true } } }],
  ['articles', { groupBy: 'status' }],
  [
    'articles',
    { aggregate: { count: '*' }, groupBy: 'year(published_at)', filter: { published_at: { _nnull: true } } },
  ],
  ['articles', { aggregate: { count: '*' }, groupBy: 'status', sort: '-count', limit: 2, meta: '*' }],
  ['authors', { aggregate: { count: 'id' }, groupBy: 'name' }],
  ['kinds', { aggregate: { sum: 'exact,small', min: 'day,words', max: 'large,happened' } }],
];

const filters: readonly (readonly [collection: string, filter: Record<string, unknown>])[] = [
  ['articles', { id: key }],
  ['articles', { id: { _in: [1, key, '77'] } }],
  ['articles', { id: { _nin: [1, 2] } }],
  ['articles', { id: { _in: [] } }],
  ['articles', { id: { _nin: [] } }],
  ['articles', { id: { _gt: '9007199254740992' } }],
  ['articles', { id: { _between: [2, 6] } }],
  ['articles', { views: { _nbetween: [1, 50] } }],
  ['articles', { rating: { _gte: '4.5' } }],
  ['articles', { rating: { _in: ['4.50', 3] } }],
  ['articles', { title: 'First' }],
  ['articles', { title: { _neq: 'First' } }],
  ['articles', { title: { _in: ['first', 'SECOND'] } }],
  ['articles', { title: { _nin: ['first'] } }],
  ['articles', { title: { _contains: 'irs' } }],
  ['articles', { title: { _icontains: 'FIRST' } }],
  ['articles', { title: { _ncontains: 'irs' } }],
  ['articles', { title: { _starts_with: '100%' } }],
  ['articles', { title: { _ends_with: '_thing' } }],
  ['articles', { title: { _istarts_with: 's' } }],
  ['articles', { title: { _niends_with: 'D' } }],
  ['articles', { title: { _contains: '\\' } }],
  ['articles', { body: { _empty: true } }],
  ['articles', { body: { _nempty: true } }],
  ['articles', { body: { _null: true } }],
  ['articles', { settings: { _nnull: true } }],
  ['articles', { settings: { '/a/1': { _eq: 2 } } }],
  ['articles', { settings: { '/a': { _has_all: [2, 1] } } }],
  ['articles', { settings: { _has: 3 } }],
  ['articles', { published_at: { _lt: '2026-01-02T04:04:06+01:00' } }],
  ['articles', { published_at: { _gt: '$NOW(-200 years)' } }],
  ['articles', { published_at: { _gt: '$NOW(+1 month)' } }],
  ['articles', { published_at: { _gt: '$NOW(-3000 years)' } }],
  ['articles', { published_at: { _gt: '$NOW(-800000 days)' } }],
  ['articles', { published_at: { _lt: '$NOW(-3000 years)' } }],
  ['articles', { 'year(published_at)': { _eq: 2026 } }],
  ['articles', { author_id: { name: { _eq: 'Åsa' } } }],
  ['articles', { author_id: { name: { _eq: 'ann' } } }],
  ['articles', { comments: { _some: { author_name: 'Reader' } } }],
  ['articles', { comments: { _none: { author_name: 'Reader' } } }],
  ['articles', { author_id: { id: { _null: true } } }],
  ['articles', { author_id: { id: { _nnull: true } } }],
  ['articles', { comments: { id: { _null: true } } }],
  ['articles', { comments: { _or: [{ id: { _null: true } }, { author_name: 'Reader' }] } }],
  ['articles', { tags: { id: { _null: true } } }],
  ['articles', { sections: { id: { _null: true } } }],
  ['articles', { sections: { 'item:headings': { id: { _null: true } } } }],
  ['articles', { 'count(comments)': { _gt: 1 } }],
  ['articles', { tags: { name: { _in: ['blue', 'Red'] } } }],
  ['articles', { sections: { 'item:headings': { text: { _contains: 'o' } } } }],
  ['articles', { sections: { 'item:pictures': { id: { _eq: 7 } } } }],
  ['articles', { _or: [{ status: 'draft' }, { _and: [{ views: { _gt: 5 } }, { views: { _lt: 11 } }] }] }],
  ['articles', { _or: [] }],
  ['kinds', { flag: true }],
  ['kinds', { flag: { _neq: true } }],
  ['kinds', { day: { _in: ['2024-02-29', '1999-12-31'] } }],
  ['kinds', { moment: { _lt: '12:30:00.000002' } }],
  ['kinds', { happened: { _eq: '2026-01-02T03:04:05.123456' } }],
  ['kinds', { happened: { _in: ['1999-12-31T23:59:59', '2024-02-29T12:30:00.5'] } }],
  ['kinds', { changed: { _eq: '2026-01-02T04:04:05.1+01:00' } }],
  ['kinds', { changed: { _in: ['2000-01-01', '2024-02-29T12:30:00.000001Z'] } }],
  ['kinds', { token: { _eq: '0F8FAD5B-D9CB-469F-A165-70867728950E' } }],
  ['kinds', { token: { _in: ['ffffffff-ffff-ffff-ffff-ffffffffffff'] } }],
  ['kinds', { words: { _in: ['', 'Ω≈ç√ 🎈'] } }],
  ['kinds', { large: { _lt: 0 } }],
  ['kinds', { small: { _gt: 40000 } }],
];

/** Single items, and what is refused. */
const paths: readonly string[] = [
  `/items/articles/${key}`,
  '/items/articles/1?fields=*,comments.*,author_id.name',
  '/items/articles/99',
  '/items/articles/nothing',
  '/items/reviews/ann,1',
  '/items/reviews/b%252Cc,2',
  '/items/countries/DE',
  '/items/countries/de?fields=*,authors.name',
  '/items/settings',
  '/items/unknown',
  '/items/articles?filter[title][_regex]=a',
  '/items/articles?fields=nothing',
  '/items/articles?filter[id][_eq]=text',
  '/items/articles?filter[views]=99999999999',
  '/items/articles?export=csv&fields=id,title,author_id.name',
  '/items/articles?export=ndjson&limit=-1',
];

const notes = `INSERT INTO notes VALUES ${jsonDocuments},${furtherNotes};`;

const jsonConditions = [...jsonFilters.map(([path, condition]) => ({ [path]: condition })), ...furtherJsonFilters];

describe.each(servers)('PostgreSQL and $name', ({ missing, start, exact, uuid, json }) => {
  // MySQL has no type for identifiers: they are compared as texts there.
  const asked = filters.filter(([, filter]) => uuid === 'uuid' || !('token' in filter));
  if (missing) return void it.skip('is not there');

  let server: MysqlServer;
  let database: TestDatabase;
  let url: string;
  const projects: Awaited<ReturnType<typeof createProject>>[] = [];
  const twins: Platform[] = [];
  const folder = (): string => projects[1]?.folder ?? '';

  beforeAll(async () => {
    server = await start();
    const [postgres, mariadb, data] = await Promise.all(['postgres', 'mariadb', 'data'].map(sqlOf));
    database = await createDatabase(
      `SET timezone = 'UTC'; ${postgres?.replaceAll(' json', ` ${json}`)}${data?.replaceAll('\\\\', '\\')}${rawOf("'\\x00ff10'")}${notes.replaceAll('\\\\', '\\')}`,
    );
    url = await createMysqlDatabase(
      server,
      `${mariadb?.replace('token uuid', `token ${uuid}`)}${data}${rawOf("X'00ff10'")}${notes}`,
      exact,
    );
    for (const one of [database.url, url]) {
      const project = await createProject('test/contract/twins');
      projects.push(project);
      twins.push(await startOneLane({ folder: project.folder, databaseUrl: one }));
    }
    twins.push(await startHosted(folder(), url, { PLATFORM_OPTIMIZE: 'none' }, false));
  }, 120_000);
  afterAll(async () => {
    await Promise.all(twins.map((twin) => twin.stop()));
    await Promise.all([server?.stop(), database?.drop(), ...projects.map((project) => project.remove())]);
  });

  async function compare(ask: (twin: Platform) => Promise<Answer>): Promise<Answer | undefined> {
    const [postgres, ...others] = await Promise.all(twins.map(ask));
    for (const other of others) expect([other.status, other.text]).toEqual([postgres?.status, postgres?.text]);
    return others[0];
  }

  async function compareList(collection: string, query: Record<string, unknown>): Promise<void> {
    const path = `/items/${collection}`;
    const answer = await compare((twin) => twin.admin(path, { method: 'SEARCH', body: { query } }));
    expect(answer?.status).toBe(200);
    // The servers have nulls in other places, which an order by cells that some cannot read would show.
    if (!ordersNulls(query)) await compare((twin) => twin.ask(path, { method: 'SEARCH', body: { query } }));
  }

  it.each(lists)('%s %j', compareList);

  it.each(asked)('%s where %j', (collection, filter) =>
    compareList(collection, { fields: 'id', filter, meta: 'filter_count' }),
  );

  it.each(nestedAggregates)('%s %j', compareList);

  it.each(jsonConditions)('notes where %j', (condition) =>
    compareList('notes', { fields: 'id', filter: { data: condition }, meta: 'filter_count' }),
  );

  it.each(paths)('%s', async (path) => {
    await compare((twin) => twin.admin(path));
    await compare((twin) => twin.ask(path));
  });

  it.each([
    ['kinds', undefined],
    ['articles', undefined],
    ['articles', { status: 'published' }],
    ['articles', { _and: [{ status: { _eq: 'draft' } }, { views: { _gte: 0 } }] }],
  ])('%s where %j, when items are written past the form of PostgreSQL', async (collection, filter) => {
    const path = `/items/${collection}`;
    const options = { method: 'SEARCH', body: { query: { fields: '*', sort: 'id', ...(filter && { filter }) } } };
    let rows = 0;
    for (let items = 1; items > 0 && rows < 600; rows += items) {
      const { json } = (await twins[1]?.admin(path, options)) ?? {};
      items = Array.isArray(json?.data) ? json.data.length : 0;
    }
    expect(rows).toBeGreaterThan(500);
    await compare((twin) => twin.admin(path, options));
  });

  it('pages by cursor', async () => {
    const pages = await Promise.all(
      twins.map(async (twin) => {
        const found: unknown[] = [];
        let cursor = '';
        for (let page = 0; page < 9; page++) {
          const query = { fields: 'id', sort: ['-views', 'title'], limit: 2, cursor };
          const { json } = await twin.admin('/items/articles', { method: 'SEARCH', body: { query } });
          found.push(json.data);
          cursor = json.meta?.next_cursor ?? '';
          if (cursor === '') break;
        }
        return found;
      }),
    );
    expect(pages[0]?.length).toBeGreaterThan(2);
    expect(pages[1]).toEqual(pages[0]);
  });

  it('answers GraphQL', async () => {
    const query = `{ articles(sort: ["id"], filter: { status: { _eq: "published" } }) {
      id title author_id { name articles { id } } comments(limit: 2) { id body } tags { name }
      articles_tags { tag_id { name } } } articles_aggregated { count { id } sum { views } } }`;
    await compare((twin) => twin.admin('/graphql', { method: 'POST', body: { query } }));
  });

  it.each(['__typename', 'group'])('answers GraphQL about groups of which only %s is selected', async (selected) => {
    for (const least of [1, 1_000]) {
      const query = `{ articles_aggregated(having: { count: { _gt: ${least} } }) { ${selected} } }`;
      const answer = await compare((twin) => twin.admin('/graphql', { method: 'POST', body: { query } }));
      expect(answer?.json.data.articles_aggregated).toHaveLength(least === 1 ? 1 : 0);
    }
  });

  it('takes no text for a number, and no number for a text', async () => {
    for (const [field, value] of [
      ['title', 0],
      ['title', false],
      ['views', 'First'],
    ] as const) {
      const query = { filter: { [field]: { _eq: value } } };
      const { status } = (await twins[1]?.admin('/items/articles', { method: 'SEARCH', body: { query } })) ?? {};
      expect([field, status]).toEqual([field, 400]);
    }
  });

  it('reads numbers without a sign as far as they reach', async () => {
    await withMysql(url, (connection) =>
      connection.query('INSERT INTO wide VALUES (4294967295, 18446744073709551615)'),
    );
    const answer = await twins[1]?.admin('/items/wide/4294967295?fields=*');
    expect(answer?.text).toBe('{"data":{"id":4294967295,"large":"18446744073709551615"}}');
    const query = { filter: { large: { _in: ['18446744073709551615', '1'] }, id: { _lte: 4294967295 } } };
    const { json } = (await twins[1]?.admin('/items/wide', { method: 'SEARCH', body: { query } })) ?? {};
    expect(json.data).toHaveLength(1);
  });

  it('has the tables of the platform only where somebody asks for them', async () => {
    const migrate = (...args: string[]) => runWarm(['migrate', ...args, '--project', folder()], { DATABASE_URL: url });
    const { code, stderr } = await migrate('--status');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^ {2}1 accounts {2}pending$/m)]);
    expect((await migrate()).stderr).toContain('Applied 8 migrations');
    expect((await migrate('--status')).code).toBe(0);
    // The tests after this one know nothing of these tables.
    await withMysql(url, (connection) => undoMigrations(mysqlMigrationConnection(connection), 8));
  });

  it('is not served over a database of another kind', async () => {
    const api = await loadApi(folder());
    const served = serve(api, { variables: { SECRET: secret }, database: { url: database.url }, signals: false });
    await expect(served).rejects.toThrow('another kind of database');
  });
});

async function sqlOf(name: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`./twins/${name}.sql`, import.meta.url)), 'utf8');
}

/** Whether an order of visitors has nulls in it: by authors without a country, and by the status and comments of archived articles. */
function ordersNulls(query: Record<string, unknown>): boolean {
  return /author_id\.name|"status"|-count\(comments\)/.test(
    JSON.stringify([query.sort ?? null, query.groupBy ?? null]),
  );
}

/** Bytes are written differently everywhere. */
function rawOf(literal: string): string {
  return `UPDATE kinds SET raw = ${literal} WHERE id = 1;`;
}
