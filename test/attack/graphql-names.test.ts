/** Hidden and unknown names wherever a GraphQL request takes one, and the borders of scopes and unions: G07, G08, A11, A22. */
import { join } from 'node:path';
import type { CompiledApi } from '@tablewright/runtime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importApi } from '../support/compile.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { fire, type Shot, seededRandom, swarm } from '../support/swarm.ts';
import { expectAnswered, graphqlShot } from './graphql-answers.ts';
import { createStatementLaw, sessionSetting } from './statement-law.ts';

let magazine: Magazine;
let api: CompiledApi;
let fixed: ReadonlySet<string>;
beforeAll(async () => {
  magazine = await startMagazine();
  fixed = new Set(magazine.statements.texts());
  api = await importApi(join(magazine.folder, 'generated'));
});
afterAll(() => magazine?.close());

interface Position {
  /** The collection whose fields and relations stand here, null for collections, `none` for what is neither. */
  readonly level: string | null;
  /** A name that the public can say here and that is answered without errors. */
  readonly known: string;
  readonly shot: (name: string) => Shot;
}

function at(level: string | null, known: string, write: (name: string) => string, variables?: unknown): Position {
  return {
    level,
    known,
    shot: (name) => graphqlShot({ query: write(name), ...(variables !== undefined && { variables }) }),
  };
}

const articles = (rest: string): string => `{ articles(limit: 1) { ${rest} } }`;
const filtered = (filter: string): string => `{ articles(limit: 1, filter: {${filter}}) { id } }`;
const aggregated = (rest: string): string => `{ articles_aggregated { ${rest} } }`;

/** Every position of a document that takes a name of the model. */
const positions: readonly Position[] = [
  at(null, 'articles', (name) => `{ ${name} { id } }`),
  at(null, 'articles', (name) => `{ x: ${name}(limit: 1) { id } }`),
  at(null, 'articles', (name) => `{ ${name}_by_id(id: 1) { id } }`),
  at(null, 'articles', (name) => `{ ${name}_aggregated { countAll } }`),
  at(null, 'articles', (name) => `{ articles(limit: 1) { ... on ${name} { id } } }`),
  at(null, 'articles', (name) => `{ articles(limit: 1) { ...f } } fragment f on ${name} { id }`),
  at(null, 'articles', (name) => `query ($f: ${name}_filter) { articles(filter: $f, limit: 1) { id } }`),
  at(null, 'section_headings', (name) => articles(`sections { item { ... on ${name} { id } } }`)),
  at(null, 'section_headings', (name) => filtered(`sections: {_some: {item__${name}: {id: {_null: true}}}}`)),
  at(null, 'articles', (name) => `{ __type(name: "${name}") { name fields { name } } }`),
  at(null, 'articles', (name) => `{ __type(name: "${name}_filter") { name inputFields { name } } }`),
  at('articles', 'title', (name) => articles(name)),
  at('articles', 'title', (name) => articles(`x: ${name}`)),
  at('articles', 'author_id', (name) => articles(`${name} { id }`)),
  at('articles', 'comments', (name) => articles(`${name}(limit: 1) { id }`)),
  at('articles', 'published_at', (name) => articles(`${name}_func { year }`)),
  at('articles', 'comments', (name) => articles(`${name}_func { count }`)),
  at('authors', 'name', (name) => articles(`author_id { ${name} }`)),
  at('comments', 'body', (name) => articles(`comments { ${name} }`)),
  at('articles', 'title', (name) => articles(`comments { article_id { ${name} } }`)),
  at('tags', 'name', (name) => articles(`tags { ${name} }`)),
  at('sections', 'sort', (name) => articles(`sections { ${name} }`)),
  at('section_headings', 'level', (name) => articles(`sections { item { ... on section_headings { ${name} } } }`)),
  at('articles', 'title', (name) => filtered(`${name}: {_null: true}`)),
  at('articles', 'title', (name) => filtered(`_or: [{_and: [{${name}: {_nnull: true}}]}]`)),
  at('articles', 'published_at', (name) => filtered(`${name}_func: {year: {_eq: 1}}`)),
  at('articles', 'comments', (name) => filtered(`${name}: {_some: {id: {_eq: 1}}}`)),
  at('authors', 'name', (name) => filtered(`author_id: {${name}: {_null: true}}`)),
  at('comments', 'body', (name) => filtered(`comments: {_none: {${name}: {_null: true}}}`)),
  at('section_headings', 'text', (name) =>
    filtered(`sections: {_some: {item__section_headings: {${name}: {_null: true}}}}`),
  ),
  at('comments', 'body', (name) => articles(`comments(filter: {${name}: {_null: true}}) { id }`)),
  at('articles', 'title', (name) => `{ articles(limit: 1, sort: ["${name}"]) { id } }`),
  at('authors', 'name', (name) => `{ articles(limit: 1, sort: ["-author_id.${name}"]) { id } }`),
  at('articles', 'comments', (name) => `{ articles(limit: 1, sort: ["count(${name})"]) { id } }`),
  at('comments', 'body', (name) => articles(`comments(sort: ["${name}"]) { id }`)),
  at('articles', 'status', (name) => `{ articles_aggregated(groupBy: ["${name}"]) { group } }`),
  at('articles', 'published_at', (name) => `{ articles_aggregated(groupBy: ["year(${name})"]) { group } }`),
  ...['count', 'countDistinct', 'sum', 'sumDistinct', 'avg', 'avgDistinct', 'min', 'max'].map((call) =>
    at('articles', 'views', (name) => aggregated(`${call} { ${name} }`)),
  ),
  {
    level: 'articles',
    known: 'title',
    shot: (name) =>
      graphqlShot({
        query: 'query ($f: articles_filter) { articles(limit: 1, filter: $f) { id } }',
        variables: { f: { [name]: { _null: true } } },
      }),
  },
  {
    level: 'authors',
    known: 'name',
    shot: (name) =>
      graphqlShot({
        query: 'query ($f: articles_filter) { articles(limit: 1, filter: $f) { id } }',
        variables: { f: { _and: [{ author_id: { [name]: { _null: true } } }] } },
      }),
  },
  {
    level: 'articles',
    known: 'title',
    shot: (name) =>
      graphqlShot({
        query: 'query ($s: [String]) { articles(limit: 1, sort: $s) { id } }',
        variables: { s: [name] },
      }),
  },
];

/** The part of hidden names at all positions that is asked, another one in every run; ATTACK_ALL=1 asks all. */
const share = process.env.ATTACK_ALL === '1' ? 1 : 0.25;

/** What the public can name at a level. */
function visibleAt(level: string | null): ReadonlySet<string> {
  const readable = api.access.find(({ roles }) => roles.includes('public'))?.collections ?? [];
  if (level === null) return new Set(readable.map(({ collection }) => collection));
  const here = readable.filter(({ collection }) => collection === level);
  return new Set(here.flatMap(({ read = [] }) => read.flatMap(({ fields }) => fields)));
}

/** Every name that there is in the compiled API. */
function allNames(): readonly string[] {
  const names = api.collections.flatMap(({ name, fields, relations }) => [
    name,
    ...[...fields, ...relations].map((one) => one.name),
  ]);
  return [...new Set(names)].sort();
}

it('names that can be read are heard at every position', async () => {
  for (const { shot, known } of positions) {
    const hit = await fire(magazine.url, shot(known));
    const { errors } = expectAnswered(shot(known), hit);
    expect(errors, `${shot(known).body} -> ${hit.text.slice(0, 300)}`).toBeUndefined();
  }
});

it('hidden and unknown names are answered with the same bytes, and no statement holds a hidden name', async () => {
  magazine.statements.reset();
  const random = seededRandom();
  // Of the same length, so that places in the document are the same too, and of letters that no two words of an answer join.
  const unknown = new Map<number, string>();
  const unknownOf = (length: number): string => {
    const name = unknown.get(length) ?? Array.from({ length }, () => 'jqxz'[Math.floor(random() * 4)]).join('');
    unknown.set(length, name);
    return name;
  };
  const names = allNames();
  const answers = new Map<Position, Map<string, string>>();
  const placed = new Map<Shot, { position: Position; name: string }>();
  for (const position of positions) {
    answers.set(position, new Map());
    const visible = visibleAt(position.level);
    const hidden = names.filter((name) => !visible.has(name) && random() < share);
    for (const name of [...visible, ...hidden, ...new Set(hidden.map(({ length }) => unknownOf(length)))]) {
      placed.set(position.shot(name), { position, name });
    }
  }
  const fired = await swarm(magazine.url, placed.keys(), (shot, hit) => {
    const place = placed.get(shot);
    expectAnswered(shot, hit);
    if (place !== undefined) answers.get(place.position)?.set(place.name, `${hit.status} ${hit.headers} ${hit.text}`);
  });
  console.info(`${fired} requests at ${positions.length} positions`);
  for (const [position, given] of answers) {
    const visible = visibleAt(position.level);
    for (const [name, answer] of given) {
      if (visible.has(name)) continue;
      const other = unknownOf(name.length);
      expect(answer, position.shot(name).body).toBe(given.get(other)?.replaceAll(other, name));
      expect(answer).not.toMatch(/did you mean/i);
    }
  }
  const law = createStatementLaw(api, 'public');
  const own = magazine.statements.texts().filter((text) => !fixed.has(text) && !sessionSetting.test(text));
  expect(own.length).toBeGreaterThan(20);
  expect([...new Set(own.flatMap(law))]).toEqual([]);
  expect(magazine.statements.errors()).toEqual([]);
}, 120_000);

describe('borders', () => {
  const ask = async (query: string, path = '/graphql') =>
    (await magazine.ask(path, { method: 'POST', body: { query } })).json;

  it('root fields stay in their scope', async () => {
    for (const [query, path] of [
      ['{ server_ping }', '/graphql'],
      ['{ articles { id } }', '/graphql/system'],
      ['mutation { auth_login(email: "a", password: "b") { access_token } }', '/graphql'],
    ] as const) {
      const { data, errors } = await ask(query, path);
      expect([data, errors[0].extensions.code]).toEqual([undefined, 'INVALID_QUERY']);
    }
  });

  it('members of a union that cannot be read are not in it', async () => {
    const { data } = await ask('{ __type(name: "sections_item_union") { possibleTypes { name } } }');
    const members = data.__type.possibleTypes.map(({ name }: { readonly name: string }) => name);
    expect(members.sort()).toEqual(['section_headings', 'section_images', 'section_paragraphs']);
    const { errors } = await ask('{ articles { sections { item { ... on orders { id } } } } }');
    expect(errors[0].extensions.code).toBe('INVALID_QUERY');
  });

  it('a relation to what cannot be read is a key at most', async () => {
    const { errors } = await ask('{ articles { created_by { id } } }');
    expect(errors[0].extensions.code).toBe('INVALID_QUERY');
  });

  it('an item that is hidden and one that does not exist are one', async () => {
    const key = await magazine.admin('/items/articles?filter[status][_eq]=draft&fields=id&limit=1');
    const hidden = await ask(`{ articles_by_id(id: ${key.json.data[0].id}) { id } }`);
    const missing = await ask('{ articles_by_id(id: 99999999) { id } }');
    const malformed = await ask('{ articles_by_id(id: "x") { id } }');
    expect(hidden).toEqual({
      errors: [expect.objectContaining({ path: ['articles_by_id'], extensions: { code: 'FORBIDDEN' } })],
      data: { articles_by_id: null },
    });
    expect([missing, malformed]).toEqual([hidden, hidden]);
  });
});
