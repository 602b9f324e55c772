/** Marks in everything that is secret or hidden, and no sight of one in any answer, error or log: A07, A08, H16, H17. */

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { adminToken } from '../support/platform.ts';
import { type Hit, type Shot, swarm } from '../support/swarm.ts';
import { positions } from './positions.ts';

const mark = `canary${Math.floor(Math.random() * 2 ** 40).toString(36)}`;
const uuid = `${Math.floor(Math.random() * 2 ** 31)
  .toString(16)
  .padStart(8, 'c')}-9c0b-4ef8-bb6d-6bb9bd380a11`;

/** Marks every cell that the public may not read; `authors.bio` it reads masked, as everybody does. */
const marking = `
  UPDATE authors SET email = '${mark}e' || id || '@example.com', bio = '${mark}secret' || id, user_id = NULL;
  UPDATE authors SET user_id = '${uuid}' WHERE id = 1;
  UPDATE comments SET author_email = '${mark}c@example.com';
  UPDATE articles SET created_by = '${uuid}';
  UPDATE articles SET title = '${mark}t' || id, slug = '${mark}s' || id, body = '${mark}b', keywords = ARRAY['${mark}k'],
    metadata = jsonb_build_object('${mark}m', 1) WHERE status <> 'published';
  UPDATE comments SET body = '${mark}o', author_name = '${mark}n' FROM articles a WHERE a.id = article_id AND a.status <> 'published';
  UPDATE article_translations SET title = '${mark}r', body = '${mark}l' FROM articles a WHERE a.id = article_id AND a.status <> 'published';
  UPDATE sections SET item = '${mark}i' FROM articles a WHERE a.id = article_id AND a.status <> 'published';
  UPDATE section_headings SET text = '${mark}h' WHERE NOT released;
  UPDATE section_paragraphs SET text = '${mark}p' WHERE NOT released;
  UPDATE section_images SET url = '${mark}u', alt = '${mark}a', caption = '${mark}g' WHERE NOT released;
  UPDATE orders SET customer_name = '${mark}q', customer_email = '${mark}q@example.com', note = '${mark}q';
  UPDATE order_lines SET description = '${mark}d';
  UPDATE countries SET name = '${mark}z' || code;
  UPDATE measurements SET station = '${mark}x';`;

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine({ LOG_LEVEL: 'trace' }, async (folder, database) => {
    await withClient(database.url, (client) => client.query(marking));
    const file = join(folder, 'platform.config.ts');
    const config = await readFile(file, 'utf8');
    await writeFile(
      file,
      config.replace('collections: {', `collections: {\n    authors: { fields: { bio: { type: 'hash' } } },`),
    );
  });
});
afterAll(() => magazine?.close());

const hidden = [
  'email',
  'user_id',
  'bio',
  'author_email',
  'created_by',
  'orders',
  'countries',
  'released',
  'country',
  'note',
];
const collections = [
  'articles',
  'authors',
  'comments',
  'sections',
  'tags',
  'categories',
  'article_translations',
  'orders',
];
const operators = [
  '_eq',
  '_neq',
  '_lt',
  '_gte',
  '_in',
  '_nin',
  '_contains',
  '_ncontains',
  '_icontains',
  '_starts_with',
  '_null',
  '_empty',
  '_between',
];

/** Requests that ask for what is marked, in every way there is; no request holds a mark, so that none can be an echo. */
function* shots(asked: readonly string[]): Generator<Shot> {
  for (const { shot, known } of positions) for (const name of [known, ...hidden]) yield shot(name);
  for (const collection of asked) {
    for (const rest of [
      '?fields=*.*&limit=-1',
      '?limit=-1&export=csv',
      '?export=xml&fields=*.*',
      '?search=a&meta=*',
      '/2',
      '?offset=5',
    ]) {
      yield { path: `/items/${collection}${rest}` };
    }
    for (const call of ['min', 'max', 'count', 'countDistinct']) {
      for (const name of ['title', 'body', 'name', 'item', 'author_name', ...hidden]) {
        yield { path: `/items/${collection}?aggregate[${call}]=${name}` };
        yield { path: `/items/${collection}?groupBy=${name}&aggregate[${call}]=id&limit=-1` };
      }
    }
    for (const operator of operators) {
      for (const name of ['title', 'id', ...hidden])
        yield { path: `/items/${collection}?filter[${name}][${operator}]=1,2&limit=-1` };
    }
    for (let key = 1; key < 30; key++) yield { path: `/items/${collection}/${key}?fields=*.*` };
  }
  for (const path of ['/server/specs/oas', '/server/info', '/server/health', '/nothing', '/items', '/items/articles/'])
    yield { path };
  for (const body of ['{', '[]', '{"keys":[{}]}', '{"keys":[[]]}', '{"query":5}'])
    yield { path: '/items/articles', method: 'SEARCH', body };
}

function marksIn({ text, headers }: Pick<Hit, 'text' | 'headers'>, marks: readonly string[]): readonly string[] {
  return marks.filter((one) => `${text}${headers}`.includes(one));
}

it('no answer to the public has a mark, nor has the log', async () => {
  const seen: string[] = [];
  const fired = await swarm(magazine.url, shots(collections), (shot, hit) => {
    if (marksIn(hit, [mark, uuid.slice(0, 8)]).length > 0)
      seen.push(`${shot.method ?? 'GET'} ${shot.path} ${shot.body ?? ''}`);
  });
  console.info(`${fired} requests`);
  expect(seen).toEqual([]);
  expect(magazine.log()).not.toContain(mark);
}, 120_000);

it('what is secret stays so for the administrator', async () => {
  const seen: string[] = [];
  const asked = [...shots(['authors'])]
    .filter(({ method }) => method !== 'OPTIONS')
    .map((shot) => ({ ...shot, token: adminToken }));
  await swarm(magazine.url, asked, (shot, hit) => {
    if (marksIn(hit, [`${mark}secret`]).length > 0) seen.push(shot.path);
  });
  expect(seen).toEqual([]);
  const { text } = await magazine.admin('/items/authors?fields=*&limit=2');
  expect(text).toContain('"bio":"**********"');
  // The marks are there to be seen: the administrator sees the others.
  expect(text).toContain(`${mark}e1@`);
  expect(magazine.log()).not.toContain(mark);
}, 120_000);

it('tokens and query strings do not reach the log', async () => {
  const token = `${mark}token`;
  for (const path of [
    `/items/tags?access_token=${token}`,
    `/items/tags?search=${token}&filter[name]=${token}`,
    `/nothing?${token}`,
  ]) {
    await magazine.ask(path);
    await magazine.ask(path, { token });
    await magazine.ask(path, { headers: { authorization: `Basic ${token}`, cookie: token, 'user-agent': token } });
    await magazine.ask(path, { method: 'SEARCH', body: { query: { search: token, [token]: 1 }, [token]: token } });
  }
  expect(magazine.log()).toContain('INVALID_CREDENTIALS');
  expect(magazine.log()).not.toContain(mark);
});

it('a database that fails tells nothing', async () => {
  await withClient(magazine.database.url, (client) => client.query('ALTER TABLE comments RENAME COLUMN body TO gone'));
  const { status, text } = await magazine.ask('/items/comments?fields=body&limit=5');
  expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  expect(text).not.toMatch(/comments|column|body|gone|postgres|42703/i);
  expect(magazine.log()).not.toContain(mark);
});
