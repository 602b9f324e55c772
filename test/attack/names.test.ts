/** Hidden and unknown names in every place that takes one, and text that wants to become SQL: E01, A01, A05, A07, A11. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { expectDefined, fire, type Hit, type Shot, seededRandom, swarm } from '../support/swarm.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

/** What the public may not see. */
const hidden = [
  ...[
    'orders',
    'order_lines',
    'countries',
    'measurements',
    'article_stats',
    'email',
    'country',
    'user_id',
    'joined_on',
  ],
  ...['author_email', 'created_by', 'released', 'customer_email', 'unit_price'],
];

const garbage = [
  ...['id;--', 'id" desc', 'id"', '`', "'", 'id)', '(select 1)', 't0.id', 't0.password', 'users.password', '"a"."b"'],
  ...['a.b.c.d.e.f', 'toString', '__proto__', 'constructor', 'hasOwnProperty', 'prototype', 'іd', 'ID', 'id ', ' id'],
  ...['$1', '$NOW', '-', '--', '*', '**', '.', '..', 'id.', '.id', '%', '_', '_and', '_or', '_not', '_eq', 'id::text'],
  ...['count(*)', 'count(id)', 'year(id)', 'sleep(9)', 'x'.repeat(3000), 'a.'.repeat(50), '😀', '\u202e', 'null', '0'],
  ...[
    'item:orders',
    'item:section_headings',
    'item:',
    '{',
    '}',
    '[',
    ']',
    '[]',
    '[0]',
    '\\',
    '\u2028',
    '\n',
    '/*',
    '*/',
  ],
];

const inText = (name: string): string => encodeURIComponent(name);
const inFilter = (filter: object): string => `filter=${encodeURIComponent(JSON.stringify(filter))}`;

/** Every place of a request that takes a name. */
const places: readonly ((name: string) => Shot)[] = [
  (name) => ({ path: `/items/${inText(name)}` }),
  (name) => ({ path: `/items/${inText(name)}/1` }),
  (name) => ({ path: `/items/${inText(name)}`, method: 'SEARCH', body: '{}' }),
  (name) => ({ path: `/items/${inText(name)}`, method: 'SEARCH', body: '{"keys":[1]}' }),
  (name) => ({ path: `/items/${inText(name)}?limit=0&meta=*` }),
  (name) => ({ path: `/items/${inText(name)}`, method: 'OPTIONS' }),
  ...[
    (name: string) => `fields=${inText(name)}`,
    (name: string) => `fields=id,${inText(name)}.id`,
    (name: string) => `fields[]=${inText(name)}.*`,
    (name: string) => `fields=author_id.${inText(name)}`,
    (name: string) => `fields=comments.${inText(name)},title`,
    (name: string) => `fields=tags.articles.${inText(name)}`,
    (name: string) => `fields=sections.${inText(name)}`,
    (name: string) => `sort=${inText(name)}`,
    (name: string) => `sort=-${inText(name)},id`,
    (name: string) => `sort=author_id.${inText(name)}`,
    (name: string) => `sort=${inText(name)}.id`,
    (name: string) => `filter[${inText(name)}][_eq]=1`,
    (name: string) => `filter[${inText(name)}][_null]=true`,
    (name: string) => `filter[author_id][${inText(name)}][_starts_with]=a`,
    (name: string) => inFilter({ [name]: 1 }),
    (name: string) => inFilter({ [name]: { id: { _eq: 1 } } }),
    (name: string) => inFilter({ [name]: { _some: { id: 1 } } }),
    (name: string) => inFilter({ comments: { _none: { [name]: { _gt: 1 } } } }),
    (name: string) => inFilter({ tags: { articles: { [name]: { _contains: 'x' } } } }),
    (name: string) => inFilter({ _or: [{ id: 1 }, { _and: [{ [name]: null }] }] }),
    (name: string) => inFilter({ sections: { [`item:${name}`]: { id: 1 } } }),
    (name: string) => inFilter({ sections: { 'item:section_headings': { [name]: 1 } } }),
    (name: string) => inFilter({ [`year(${name})`]: { _eq: 1 } }),
    (name: string) => inFilter({ [`count(${name})`]: { _eq: 1 } }),
    (name: string) => inFilter({ created_at: { _gt: `$CURRENT_USER.${name}` } }),
    (name: string) => inFilter({ id: { [name]: 1 } }),
    (name: string) => `fields=count(${inText(name)})`,
    (name: string) => `sort=year(${inText(name)})`,
    (name: string) => `meta=${inText(name)}`,
    (name: string) => `search=${inText(name)}`,
    (name: string) => `aggregate[min]=${inText(name)}`,
    (name: string) => `groupBy=${inText(name)}`,
    (name: string) => `alias[x]=${inText(name)}`,
    (name: string) => `deep[comments][_filter][${inText(name)}][_eq]=1`,
    (name: string) => `deep[${inText(name)}][_limit]=-1`,
    (name: string) => `${inText(name)}=1&limit=1&fields=id`,
  ].map(
    (query) =>
      (name: string): Shot => ({ path: `/items/articles?${query(name)}` }),
  ),
  (name) => ({ path: '/items/articles', method: 'SEARCH', body: JSON.stringify({ query: { fields: ['id', name] } }) }),
  (name) => ({ path: '/items/articles', method: 'SEARCH', body: JSON.stringify({ query: { sort: [name] } }) }),
  (name) => ({ path: '/items/articles', method: 'SEARCH', body: JSON.stringify({ [name]: 1 }) }),
  (name) => ({
    path: '/items/articles_tags',
    method: 'SEARCH',
    body: JSON.stringify({ keys: [{ [name]: 1, tag_id: 1 }] }),
  }),
];

/** An answer with the name of its request taken out. */
function without(name: string, { status, text, headers }: Hit): string {
  return `${status} ${headers} ${text.replaceAll(name, 'NAME')}`;
}

it('hidden and unknown names are answered with the same bytes', async () => {
  const random = seededRandom();
  for (const place of places) {
    for (const name of hidden) {
      const unknown = [...name]
        .map((letter) => (letter === '_' ? '_' : 'bcdfghjklmnp'[Math.floor(random() * 12)]))
        .join('');
      const shot = place(name);
      const [one, other] = await Promise.all([fire(magazine.url, shot), fire(magazine.url, place(unknown))]);
      expectDefined(shot, one);
      expect(without(name, one), `${shot.path} ${shot.body}`).toBe(without(unknown, other));
    }
  }
}, 120_000);

it('garbage in the place of a name is refused, and no text of a request reaches a statement', async () => {
  magazine.statements.reset();
  const marker = `zq${Math.floor(seededRandom()() * 2 ** 31).toString(36)}`;
  const shots = places.flatMap((place) => [...garbage, ...garbage.map((name) => `${marker}${name}`)].map(place));
  const values = ['title', 'slug', 'body', 'keywords', 'metadata'].flatMap((field) =>
    ['_eq', '_contains', '_in', '_nin', '_starts_with', '_iends_with', '_between'].map((operator) => ({
      path: `/items/articles?fields=id&filter[${field}][${operator}]=${marker}'"$1,${marker};--`,
    })),
  );
  const fired = await swarm(magazine.url, [...shots, ...values], (shot, hit) => {
    if (hit.status !== 404 || !shot.path.startsWith('/items/')) expectDefined(shot, hit);
  });
  const texts = magazine.statements.texts().filter((text) => !text.startsWith('SET client_encoding'));
  console.info(`${fired} requests, ${texts.length} statements prepared`);
  expect(texts.length).toBeGreaterThan(10);
  const leaks = texts.filter(
    (text) => /sleep|users|password|::text desc|--|;|\/\*/i.test(text) || text.includes(marker),
  );
  expect(leaks).toEqual([]);
  expect(magazine.statements.errors()).toEqual([]);
}, 120_000);

it('wildcards give what can be read and nothing of what cannot', async () => {
  for (const path of [
    '/items/articles?fields=*.*.*&limit=20',
    '/items/authors?fields=*.*',
    '/items/tags?fields=*.*.*',
  ]) {
    const { status, text } = await fire(magazine.url, { path });
    expect(status).toBe(200);
    expect(text).not.toMatch(/"(email|country|user_id|joined_on|author_email|created_by|released)":/);
  }
});
