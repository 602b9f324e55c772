/** Documents that were right once: tokens left out, doubled, swapped and put in where they do not belong. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { adminToken } from '../support/platform.ts';
import { type Shot, seededRandom, swarm } from '../support/swarm.ts';
import { expectAnswered, logged } from './graphql-answers.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine();
});
afterAll(() => magazine?.close());

const documents = [
  `query Q($id: ID!, $n: Int = 2, $on: Boolean!) {
    articles_by_id(id: $id) { ...A author_id @include(if: $on) { name } }
    list: articles(limit: $n, sort: ["-id"], filter: { _or: [{ views: { _gt: 1 } }, { title: { _null: false } }] }) { ...A __typename }
  }
  fragment A on articles { id t: title comments(limit: 1, filter: { id: { _in: [1, 2] } }) { id body } published_at_func { year } }`,
  `{ articles_aggregated(groupBy: ["status"], limit: 3) { group countAll sum { views } min { title } } }`,
  `query ($f: articles_filter) { articles(filter: $f, limit: 1) { id sections { item { __typename ... on section_headings { text } } } tags { name } } }`,
  `{ __schema { queryType { name } } __type(name: "articles") { fields { name type { name ofType { name } } } } articles(limit: 1) { id } }`,
  `mutation M($d: update_tags_input!) { a: create_tags_item(data: { name: "n" }) { id } update_tags_item(id: 999999999, data: $d) { id name } }`,
  `mutation { create_tags_items(data: [{ name: "x" }, { name: "y" }]) { id articles { id } } delete_tags_items(ids: [999999999]) { ids } }`,
];
const variables = [
  { id: '1', n: 1, on: true, f: { title: { _contains: 'a' } }, d: { name: 'z' } },
  { id: 1, on: false, f: null, d: {} },
  { id: null, n: 'x', on: 'yes', f: { zz: 1 }, d: [1] },
];
const strangers = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  ':',
  '!',
  '$',
  '@',
  '...',
  '|',
  '&',
  '=',
  '""',
  '"""',
  '"\\u{1F600}"',
  '-0',
  '1e999',
].concat(
  [
    'null',
    'true',
    'on',
    'fragment',
    'query',
    'mutation',
    'subscription',
    '__typename',
    '__schema',
    'articles',
    '$id',
    '@skip(if: true)',
  ],
  [
    '@include(if: $on)',
    '@deprecated',
    '#',
    ',',
    '\uFEFF',
    '\u0000',
    '😀',
    'extend',
    'type',
    'A',
    '...A',
    'limit: -1',
    'id: ""',
    '{ _and: [] }',
  ],
);

const tokensOf = (text: string): string[] => text.match(/"""|"(?:[^"\\]|\\.)*"|\.\.\.|[$@]?\w+|\S/g) ?? [];

const names = documents.flatMap(tokensOf).filter((token) => /^\w/.test(token));

/** At most three changes of one document. */
function* mutants(count: number): Generator<Shot> {
  const random = seededRandom();
  const below = (most: number): number => Math.floor(random() * most);
  for (let i = 0; i < count; i++) {
    const tokens = tokensOf(documents[below(documents.length)] ?? '');
    for (let changes = below(4); changes > 0; changes--) {
      const place = below(tokens.length);
      const kind = below(8);
      if (kind === 0) tokens.splice(place, 1);
      else if (kind === 1) tokens.splice(place, 0, ...tokens.slice(place, place + 1 + below(6)));
      else if (kind === 2) tokens.splice(place, below(2), strangers[below(strangers.length)] ?? '');
      else if (kind === 3) tokens.push(...tokens.splice(place, 1 + below(5)));
      // Most often one name for another, which parses.
      else if (/^\w/.test(tokens[place] ?? '')) tokens[place] = names[below(names.length)] ?? '';
    }
    const body = JSON.stringify({ query: tokens.join(' '), variables: variables[below(variables.length)] });
    yield { path: '/graphql', method: 'POST', body, ...(random() < 0.7 && { token: adminToken }) };
  }
}

it('each is answered or refused by the table, and none is a bug', async () => {
  let answered = 0;
  const count = process.env.ATTACK_ALL === '1' ? 50_000 : 2_000;
  await swarm(magazine.url, mutants(count), (shot, hit) => {
    if (shot.body?.includes('\\u0000')) expect(hit.status).toBe(400);
    else if (expectAnswered(shot, hit).errors === undefined) answered += 1;
  });
  console.info(`${count} documents, ${answered} answered`);
  expect(answered).toBeGreaterThan(count / 50);
  expect(logged(magazine.log())).toEqual([]);
}, 300_000);
