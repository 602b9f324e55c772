/** What a single GraphQL request may cost: G01 to G05 of the security specification, measured at the process. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import type { Answer, Ask } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { logged } from './graphql-answers.ts';

let magazine: Magazine;
beforeAll(async () => {
  magazine = await startMagazine({}, undefined, true);
  // What a server does once only, such as building a schema, is none of a request's cost.
  await ask('{ articles(limit: 1) { id } }');
  for (let i = 0; i < 20; i++) await ask(`{ zz${i} { id } }`);
});
afterAll(() => magazine?.close());

const ask = (query: string, options: Ask = {}): Promise<Answer> =>
  magazine.ask('/graphql', { method: 'POST', body: { query }, ...options });
const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => make(i)).join(' ');

/** Milliseconds of processor time that the server has taken; the system counts in hundredths of a second. */
function processorTime(): number {
  const fields = readFileSync(`/proc/${magazine.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const rounds = 10;

/** What one such request costs, asked ten times. */
async function costOf(query: string): Promise<number> {
  const before = processorTime();
  for (let i = 0; i < rounds; i++) expect(failure(await ask(`${query} # ${i}`))).toBe('400 INVALID_QUERY');
  return (processorTime() - before) / rounds;
}

describe('large documents', () => {
  it.each([
    ['one field 40,000 times', `{ articles { ${'id '.repeat(40_000)} } }`],
    [
      'a selection of 200 fields 200 times',
      `{ articles_aggregated { ${`max { ${'id '.repeat(200)} } `.repeat(200)} } }`,
    ],
    ['one field as often as the tokens reach', `{ articles { ${'id '.repeat(4_980)} } }`],
    ['a selection as often as the tokens reach', `{ articles { ${'comments { id } '.repeat(1_200)} } }`],
    ['unknown fields', `{ articles { ${many(4_900, (i) => `zz${i}`)} } }`],
    ['100 aliases of a list', `{ ${many(100, (i) => `a${i}: articles { id }`)} }`],
    ['aliases below a list', `{ articles { ${many(101, (i) => `a${i}: id`)} } }`],
    ['a circle 30 deep', `{ ${'articles { comments { article_id '.repeat(15)}{ id }${' } }'.repeat(15)} }`],
    ['nesting 5,000 deep', '{ articles '.repeat(5_000)],
    ['a list 5,000 deep', `{ articles(filter: ${'['.repeat(5_000)}`],
    [
      'fragments that double each other',
      `{ articles { ...f0 } } ${many(150, (i) => `fragment f${i} on articles { ...f${i + 1} comments { article_id { ...f${i + 1} } } }`)} fragment f150 on articles { id }`,
    ],
    ['fragments in a circle', '{ articles { ...a } } fragment a on articles { ...b } fragment b on articles { ...a }'],
    [
      'introspection of everything by everything',
      `{ ${many(19, (i) => `a${i}: __schema { types { fields { type { fields { type { name description } args { name description type { name } } } } } } }`)} }`,
    ],
    [
      'introspection without end',
      `{ __schema { types { ${'fields { type { '.repeat(8)} name ${'} } '.repeat(8)} } } }`,
    ],
  ])('%s: refused, at little cost', async (_what, query) => {
    expect(await costOf(query)).toBeLessThan(100);
  });

  it('a body that is too large is refused as over REST', async () => {
    expect(failure(await ask(`{ articles { id } } # ${'x'.repeat(1_100_000)}`))).toBe('400 INVALID_PAYLOAD');
  });

  it('variables that nest too deep, or are too many, are refused', async () => {
    const query = 'query ($f: articles_filter, $s: [String]) { articles(filter: $f, sort: $s, limit: 1) { id } }';
    const deep = `${'{"_and":['.repeat(20_000)}${']}'.repeat(20_000)}`;
    const body = `{"query":${JSON.stringify(query)},"variables":{"f":${deep}}}`;
    const answer = await magazine.ask('/graphql', { method: 'POST', body });
    expect([200, 400]).toContain(answer.status);
    expect(answer.json.errors[0].extensions.code).toBe('INVALID_QUERY');
    const sort = Array.from({ length: 50_000 }, () => 'id');
    const sorted = await magazine.ask('/graphql', { method: 'POST', body: { query, variables: { s: sort } } });
    expect(sorted.json.errors[0].extensions.code).toBe('INVALID_QUERY');
  });

  it('what was refused leaves a server that answers', async () => {
    const { status, json } = await ask('{ articles(limit: 1, sort: ["id"]) { id } }');
    expect([status, json.data.articles]).toHaveLength(2);
    expect(logged(magazine.log())).toEqual([]);
  });
});

describe('several operations', () => {
  it('a list of them is no request', async () => {
    const body = Array.from({ length: 1000 }, () => ({ query: '{ __typename }' }));
    expect(failure(await magazine.ask('/graphql', { method: 'POST', body }))).toBe('400 INVALID_PAYLOAD');
  });

  it('mutations come by POST alone, and from no form', async () => {
    const query = encodeURIComponent('mutation { create_articles_item(data: {}) { id } }');
    expect(failure(await magazine.admin(`/graphql?query=${query}`))).toBe('405 METHOD_NOT_ALLOWED');
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
      'application/graphql',
      '',
    ]) {
      const headers = { 'content-type': type };
      const answer = await magazine.admin('/graphql', { method: 'POST', body: '{"query":"{__typename}"}', headers });
      expect([type, failure(answer)]).toEqual([type, '415 UNSUPPORTED_MEDIA_TYPE']);
    }
  });
});
