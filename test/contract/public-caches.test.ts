/**
 * Answers that shared caches may keep: which, under which tags, and which of them a write purges. Source: scale-out notes,
 * section 8.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Answer, Ask } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { fencesSql, type PurgeReceiver, receivePurges, watchPurges } from '../support/purge-receiver.ts';

const header = 'surrogate-key';
const key = '00000000-0000-4000-8000-0000000000a1';
const token = 'token-of-editor-0000000000';

let receiver: PurgeReceiver;
let project: ServedProject;
beforeAll(async () => {
  receiver = await receivePurges();
  project = await serveProject({
    system: true,
    disturbed: true,
    environment: {
      CACHE_PURGE_URL: receiver.url,
      LOG_LEVEL: 'warn',
      CORS_ENABLED: 'true',
      CORS_ORIGIN: 'https://app.example.com',
    },
    sql: `CREATE TABLE authors (id integer PRIMARY KEY, name varchar(40), mentor integer REFERENCES authors);
      CREATE TABLE articles (id integer PRIMARY KEY, title varchar(40), published date, author integer REFERENCES authors ON DELETE CASCADE);
      CREATE TABLE comments (id integer PRIMARY KEY, body varchar(40), article integer REFERENCES articles ON DELETE CASCADE);
      CREATE TABLE labels (id uuid PRIMARY KEY, name varchar(40));
      CREATE TABLE article_labels (article integer REFERENCES articles ON DELETE CASCADE, label uuid REFERENCES labels, PRIMARY KEY (article, label));
      CREATE TABLE codes (code varchar(20) PRIMARY KEY, name varchar(40));
      CREATE TABLE handles (id integer PRIMARY KEY, name varchar(20) NOT NULL UNIQUE, note varchar(20));
      CREATE TABLE mentions (id integer PRIMARY KEY, handle varchar(20), FOREIGN KEY (handle) REFERENCES handles (name) ON UPDATE CASCADE);
      CREATE TABLE news (id integer PRIMARY KEY, title varchar(40), shown timestamp NULL);
      CREATE TABLE drafts (id integer PRIMARY KEY, title varchar(40));
      CREATE TABLE orders (id integer PRIMARY KEY, total integer);
      INSERT INTO authors VALUES (1, 'Ann', NULL), (2, 'Ben', 1), (3, 'Cleo', NULL);
      INSERT INTO articles VALUES (1, 'one', NULL, 1), (2, 'two', NULL, 2), (3, 'three', NULL, 1);
      INSERT INTO comments VALUES (1, 'good', 1), (2, 'bad', 2);
      INSERT INTO labels VALUES ('aaaaaaaa-0000-4000-8000-000000000001', 'red');
      INSERT INTO codes VALUES ('a', 'first'), ('b', 'second');
      INSERT INTO handles VALUES (1, 'ann', 'x'); INSERT INTO mentions VALUES (1, 'ann');
      INSERT INTO news VALUES (1, 'old', '2020-01-01 00:00:00'), (2, 'new', '2037-01-01 00:00:00');
      INSERT INTO drafts VALUES (1, 'secret'); INSERT INTO orders VALUES (1, 5);
      ${fencesSql}`,
    config: `{ collections: {
      authors: { cache: { public: '60s' } }, articles: { cache: { public: '5m' } }, comments: { cache: { public: '10' } },
      labels: { cache: { public: '60s' } }, codes: { cache: { public: '60s' } },
      handles: { cache: { public: '60s' } }, mentions: { cache: { public: '60s' } }, news: { cache: { public: '60s' } },
      orders: { cache: { public: '60s' } }, fences: { cache: { public: '60s' } },
    } }`,
    permissions: `roles: { editor: {} }
permissions:
  public:
    authors: { read: true }
    articles: { read: true }
    comments: { read: true }
    labels: { read: true }
    article_labels: { read: true }
    codes: { read: true }
    handles: { read: true }
    mentions: { read: true }
    drafts: { read: true }
    fences: { read: true }
    news: { read: { fields: [id, title], filter: { shown: { _lt: $NOW } } } }
    platform_files: { read: true }
  editor:
    authors: { read: true, create: true, update: true, delete: true }
    articles: { read: true, create: true, update: true, delete: true }
    comments: { read: true, create: true, update: true, delete: true }
    labels: { read: true, create: true, update: true, delete: true }
    article_labels: { read: true, create: true, update: true, delete: true }
    codes: { read: true, create: true, update: true, delete: true }
    orders: { read: true }`,
  });
  await project.rows(`INSERT INTO platform.platform_roles (id, name) VALUES ('${key}', 'editor')`);
  await project.rows(
    `INSERT INTO platform.platform_users (id, email, role, token) VALUES ('${key}', 'e@example.com', '${key}', '${token}')`,
  );
});
afterAll(async () => {
  await project?.close();
  await receiver?.close();
});

const controlOf = ({ headers }: Answer): string => headers.get('cache-control') ?? '';
const isShared = (answer: Answer): boolean => controlOf(answer).startsWith('public');
const tagsOf = ({ headers }: Answer): readonly string[] => headers.get(header)?.split(' ') ?? [];
const get = (path: string, ask: Ask = {}): Promise<Answer> => project.ask(path, ask);
const edit = (path: string, method: string, body?: unknown): Promise<Answer> =>
  project.ask(path, { method, token, ...(body !== undefined && { body }) });

// Answers that take long are not kept, so that a busy machine needs many tries.
vi.setConfig({ testTimeout: 300_000 });

const { kept, settle, purgedBy } = watchPurges({
  receiver: () => receiver,
  header,
  ask: get,
  touch: (number) => project.admin(`/items/fences/${number}`, { method: 'PATCH', body: { n: number } }),
});

describe('an answer to a request without a token', () => {
  it('may be kept for the time of its collection, under tags that tell no names', async () => {
    const answer = await kept('/items/articles/1?fields=id,title');
    expect(controlOf(answer)).toBe('public, max-age=0, s-maxage=300');
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Encoding, Authorization, Origin');
    expect(answer.headers.get('etag')).toMatch(/^W\/"/);
    expect(answer.headers.get('x-request-id')).toMatch(/^[\w-]{8,}$/);
    expect(tagsOf(answer)).toHaveLength(3);
    for (const tag of tagsOf(answer)) expect(tag).toMatch(/^[\w-]{8}$/);
    expect(controlOf(await kept('/items/comments?fields=body'))).toBe('public, max-age=0, s-maxage=10');
    expect(controlOf(await kept('/items/articles?limit=-1'))).toBe('public, max-age=0, s-maxage=300');
    expect(controlOf(await kept('/items/articles?aggregate[count]=*'))).toBe('public, max-age=0, s-maxage=300');
    expect(controlOf(await kept('/items/articles?export=csv'))).toBe('public, max-age=0, s-maxage=300');
  });

  it('has the same tags in every spelling of a key, and others for another item', async () => {
    const id = 'aaaaaaaa-0000-4000-8000-000000000001';
    const [lower, upper] = [await kept(`/items/labels/${id}`), await kept(`/items/labels/${id.toUpperCase()}`)];
    expect([upper.status, tagsOf(upper)]).toEqual([200, tagsOf(lower)]);
    expect(tagsOf(await kept('/items/articles/1'))[0]).not.toBe(tagsOf(await kept('/items/articles/2'))[0]);
    expect(tagsOf(await kept('/items/articles/1'))[0]).not.toBe(tagsOf(await kept('/items/authors/1'))[0]);
  });

  it('answers HEAD and unchanged items alike', async () => {
    const answer = await kept('/items/articles/1');
    const head = await get('/items/articles/1', { method: 'HEAD' });
    expect([head.status, controlOf(head), tagsOf(head)]).toEqual([200, controlOf(answer), tagsOf(answer)]);
    const etag = answer.headers.get('etag') ?? '';
    const unchanged = await get('/items/articles/1', { headers: { 'if-none-match': etag } });
    expect([unchanged.status, controlOf(unchanged), tagsOf(unchanged)]).toEqual([
      304,
      controlOf(answer),
      tagsOf(answer),
    ]);
  });

  it('stays with its client where it depends on the time, on nothing that writes tell of, or is an error', async () => {
    const paths = [
      '/items/news',
      '/items/articles?filter[published][_lt]=$NOW',
      '/items/articles?deep[comments][_filter][id][_gt]=0&filter[_or][0][published][_gt]=$NOW(-1 day)&filter[_or][1][id]=1',
      '/items/drafts',
      '/items/drafts/1',
      '/items/orders',
      '/items/articles/77',
      '/items/articles?fields=nothing',
      '/items/nothing',
      '/server/info',
    ];
    for (const path of paths) {
      const answer = await get(path);
      expect([path, isShared(answer), tagsOf(answer)]).toEqual([path, false, []]);
    }
    expect(isShared(await project.ask('/items/articles', { method: 'SEARCH', body: { query: {} } }))).toBe(false);
    const document = encodeURIComponent('{ articles { id } }');
    expect(isShared(await get(`/graphql?query=${document}`))).toBe(false);
    expect(isShared(await get('/graphql', { method: 'POST', body: { query: '{ articles { id } }' } }))).toBe(false);
  });
});

describe('a write purges the answers that it concerns, and no others', () => {
  const list = '/items/articles?fields=title';
  const nested = '/items/authors?fields=name,articles.title';
  const named = '/items/articles/2?fields=title,author.name';
  const paths = ['/items/articles/1', '/items/articles/2', list, nested, named, '/items/comments', '/items/codes/a'];

  it('a change of one item', async () => {
    const change = () => edit('/items/articles/1', 'PATCH', { title: 'uno' });
    expect(await purgedBy(change, paths)).toEqual(['/items/articles/1', list, nested]);
  });

  it('a change of several by their keys', async () => {
    const change = () => edit('/items/articles', 'PATCH', { keys: [2, 3], data: { title: 'many' } });
    expect(await purgedBy(change, paths)).toEqual(['/items/articles/2', list, nested, named]);
  });

  it('a change of those of a query, each of which may be any', async () => {
    const change = () => edit('/items/articles', 'PATCH', { query: { filter: { id: 3 } }, data: { title: 'q' } });
    expect(await purgedBy(change, paths)).toEqual(['/items/articles/1', '/items/articles/2', list, nested, named]);
  });

  it('a new item', async () => {
    const change = () => edit('/items/articles', 'POST', { id: 4, title: 'four', author: 3 });
    expect(await purgedBy(change, paths)).toEqual([list, nested]);
  });

  it('a change of a related item', async () => {
    const change = () => edit('/items/authors/2', 'PATCH', { name: 'Benjamin' });
    expect(await purgedBy(change, [...paths, '/items/authors/2?fields=name', '/items/authors/1?fields=name'])).toEqual([
      nested,
      named,
      '/items/authors/2?fields=name',
    ]);
  });

  it('nested writes of several collections', async () => {
    const change = () => edit('/items/authors', 'POST', { id: 9, name: 'Nine', articles: [{ id: 90, title: 'nine' }] });
    expect(await purgedBy(change, [list, nested, named, '/items/authors/2'])).toEqual([
      list,
      nested,
      named,
      '/items/authors/2',
    ]);
    const linked = () => edit('/items/articles/1', 'PATCH', { comments: { create: [{ id: 70, body: 'x' }] } });
    expect(await purgedBy(linked, ['/items/comments', '/items/codes/a', '/items/labels'])).toEqual(['/items/comments']);
  });

  it('what a foreign key removes as well', async () => {
    const remove = () => edit('/items/authors/1', 'DELETE');
    await project.rows('UPDATE authors SET mentor = NULL');
    expect(await purgedBy(remove, [...paths, '/items/labels?fields=name'])).toEqual([
      ...paths.filter((path) => !path.includes('codes')),
    ]);
    await project.rows("INSERT INTO authors VALUES (1, 'Ann', NULL)");
    await project.rows("INSERT INTO articles VALUES (1, 'one', NULL, 1)");
  });

  it('what a foreign key changes with a unique value that is no key of items', async () => {
    const change = (body: unknown) => () => project.admin('/items/handles/1', { method: 'PATCH', body });
    const both = ['/items/handles/1', '/items/mentions/1'];
    expect(await purgedBy(change({ name: 'anna' }), [...both, list])).toEqual(both);
    expect((await get('/items/mentions/1')).json.data.handle).toBe('anna');
    expect(await purgedBy(change({ note: 'y' }), both)).toEqual(['/items/handles/1']);
  });

  it('by GraphQL, by imports, by unique keys and by a key that is no number', async () => {
    const mutation = 'mutation { update_articles_item(id: "1", data: { title: "g" }) { id } }';
    const change = () => edit('/graphql', 'POST', { query: mutation });
    expect(await purgedBy(change, paths)).toEqual(['/items/articles/1', list, nested]);
    const body = new FormData();
    body.append('file', new Blob(['id,title\n500,imported\n'], { type: 'text/csv' }), 'a.csv');
    const bring = () => project.admin('/utils/import/articles', { method: 'POST', body });
    expect(await purgedBy(bring, [list, nested, '/items/codes/a'])).toEqual([list, nested]);
    const upsert = () => edit('/items/codes?on_conflict=code', 'POST', [{ code: 'b', name: 'B' }]);
    expect(await purgedBy(upsert, ['/items/codes/b', list])).toEqual(['/items/codes/b']);
    const code = () => edit('/items/codes/a', 'PATCH', { name: 'A' });
    expect(await purgedBy(code, ['/items/codes/a', '/items/codes/b', list])).toEqual([
      '/items/codes/a',
      '/items/codes/b',
    ]);
  });

  it('everything where an administrator clears the caches, and nothing where another caller tries', async () => {
    const clear = () => project.admin('/utils/cache/clear', { method: 'POST' });
    expect(await purgedBy(clear, paths)).toEqual(paths);
    expect(await purgedBy(() => edit('/utils/cache/clear', 'POST'), paths)).toEqual([]);
  });

  it('nothing where a write is refused or changes nothing else', async () => {
    expect(await purgedBy(() => edit('/items/articles/1', 'PATCH', { nothing: 1 }), paths)).toEqual([]);
    expect(await purgedBy(() => get('/items/articles'), paths)).toEqual([]);
  });
});

it('sends a purge again until the cache takes it, and all of them twice', async () => {
  const [tag = ''] = tagsOf(await kept('/items/articles/2'));
  await settle();
  const before = receiver.purges.length;
  receiver.fail(2);
  await edit('/items/articles/2', 'PATCH', { title: 'again' });
  const taken = () => receiver.purges.slice(before).filter((tags) => tags.includes(tag)).length;
  await expect.poll(taken, { timeout: 30_000 }).toBe(2);
});

it('takes no purge for taken that a cache without purges passes on to a server', async () => {
  const [tag = ''] = tagsOf(await kept('/items/articles/2'));
  await settle();
  receiver.fail(3, project.url);
  const before = receiver.purges.length;
  await edit('/items/articles/2', 'PATCH', { title: 'passed on' });
  await expect.poll(() => project.log(), { timeout: 30_000 }).toContain('passed the purge on to a server');
  await expect.poll(() => receiver.purges.slice(before).flat(), { timeout: 30_000 }).toContain(tag);
});

it('purges soon what is written after the cache is back, however long it was away, and tells which it is', async () => {
  const [tag = ''] = tagsOf(await kept('/items/articles/2'));
  /** Milliseconds from which on the cache takes purges to that of a write before. */
  const lateMs = async (): Promise<number> => {
    await settle();
    receiver.fail(Number.POSITIVE_INFINITY);
    await edit('/items/articles/2', 'PATCH', { title: 'meanwhile' });
    await sleep(7_500);
    const before = receiver.purges.length;
    receiver.fail(0);
    const back = performance.now();
    await expect.poll(() => receiver.purges.slice(before).flat(), { timeout: 30_000, interval: 20 }).toContain(tag);
    return performance.now() - back;
  };
  let late = Number.POSITIVE_INFINITY;
  // Other work may make one late.
  for (let tries = 0; tries < 3 && late >= 2_000; tries++) late = await lateMs();
  expect(late).toBeLessThan(2_000);
  const line = project
    .log()
    .split('\n')
    .findLast((printed) => printed.includes('The cache takes no purges.'));
  expect(JSON.parse(line ?? '')).toMatchObject({ url: receiver.url, cause: { message: 'answered 503' } });
});
