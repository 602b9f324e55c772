/** Every operator, on every type of column, with every value that has ever broken something: E02, E05, E08, E10, E11. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operators } from '../../packages/runtime/src/language/operators/index.ts';
import { parameterNames } from '../../packages/runtime/src/query/parse/parse-query-string.ts';
import { withClient } from '../support/database.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { expectDefined, type Shot, seededRandom, swarm } from '../support/swarm.ts';
import { createTypes, encoded, inJson, texts, types } from './bad-values.ts';

/** Whether PostgreSQL lets columns of a type be keys. */
function isKey(type: string): boolean {
  return !['json', 'xml', 'point', 'xid', 'json[]'].includes(type);
}

/** Whether a text is one segment of a path; what is none has no route. */
function isSegment(text: string): boolean {
  return text !== '' && !/^%(ed|ff)/.test(text);
}

let project: ServedProject;
beforeAll(async () => {
  const columns = types.map((type, index) => `c${index} ${type}`).join(', ');
  project = await serveProject({
    sql: `
      ${createTypes}
      CREATE TABLE samples (id integer PRIMARY KEY, ${columns.replace(/(c\d+) positive(,|$)/, '$1 positive DEFAULT 1$2')});
      INSERT INTO samples (id, c${types.indexOf('json')}, c${types.indexOf('jsonb')})
        VALUES (1, '{"a":1,"b":["x",1]}', '{"a":1,"b":["x",1]}'), (2, '{"a":"\\ud800","b":[true]}', '{"a":"x","b":[true]}');
      ${types.map((type, index) => (isKey(type) ? `CREATE TABLE k${index} (id ${type} PRIMARY KEY);` : '')).join('\n')}`,
  });
});
afterAll(() => project?.close());

const inTwos = /between|overlaps|within/;

/** The columns, and values within those of JSON. */
const targets = types.flatMap((type, index): readonly (readonly string[])[] => {
  const column = [`c${index}`];
  return /^jsonb?$/.test(type) ? [column, [...column, '/a'], [...column, '/b/0']] : [column];
});

/** The whole product, each written once it is chosen; operators that need two values take each value in twos. */
function* shots(): Generator<() => Shot> {
  let turn = 0;
  for (const names of targets) {
    for (const operator of [...operators, '_some', '_none', '_and']) {
      const isInTwos = inTwos.test(operator);
      for (const text of texts) {
        yield () => {
          const list = isInTwos ? `${encoded(text)},1` : encoded(text);
          return { path: `/items/samples?limit=1&filter[${names.join('][')}][${operator}]=${list}`, token: adminToken };
        };
      }
      for (const value of inJson) {
        turn += 1;
        const inAddress = turn % 2 === 0;
        yield () => {
          const operand = isInTwos && !value.startsWith('[') ? `[${value},${value}]` : value;
          const filter = names.reduceRight((inner, name) => `{"${name}":${inner}}`, `{"${operator}":${operand}}`);
          return inAddress
            ? { path: `/items/samples?filter=${encodeURIComponent(filter)}`, token: adminToken }
            : { path: '/items/samples', method: 'SEARCH', body: `{"query":{"filter":${filter}}}`, token: adminToken };
        };
      }
    }
  }
}

/** Values as keys, below functions and in `having`, and as the values of every parameter. */
function* shotsElsewhere(): Generator<() => Shot> {
  const search = (collection: string, body: string) => (): Shot => ({
    path: `/items/${collection}`,
    method: 'SEARCH',
    body,
    token: adminToken,
  });
  for (const [index, type] of types.entries()) {
    const calls = ['year', 'weekday', 'second', 'count'].map((call) => `{"${call}(c${index})":{"_gte":`);
    const having = ['max', 'countDistinct', 'sum'].map((call) => `{"${call}":{"c${index}":{"_in":[`);
    for (const value of inJson) {
      for (const filter of calls) yield search('samples', `{"query":{"filter":${filter}${value}}}}}`);
      for (const filter of having)
        yield search('samples', `{"query":{"groupBy":["id"],"having":${filter}${value}]}}}}}`);
      if (isKey(type)) yield search(`k${index}`, `{"keys":[${value}]}`);
    }
    for (const text of texts)
      if (isKey(type) && isSegment(text))
        yield () => ({ path: `/items/k${index}/${encoded(text)}`, token: adminToken });
  }
  for (const parameter of parameterNames) {
    for (const text of texts) yield () => ({ path: `/items/samples?${parameter}=${encoded(text)}`, token: adminToken });
    for (const value of inJson) yield search('samples', `{"query":{"${parameter}":${value}}}`);
  }
}

/** A part of them, another one in every run; ATTACK_ALL=1 takes all of them, which is a few minutes. */
function* some(all: Iterable<() => Shot>, part: number): Generator<Shot> {
  const random = seededRandom();
  const share = process.env.ATTACK_ALL === '1' ? 1 : part;
  for (const write of all) if (random() < share) yield write();
}

it.each([
  ['in filters', shots, 0.006],
  ['elsewhere', shotsElsewhere, 0.2],
])(
  '%s, each is answered or refused by the table, and the database never troubled',
  async (_, all, part) => {
    project.statements.reset();
    let answered = 0;
    const fired = await swarm(project.url, some(all(), part), (shot, hit) => {
      expectDefined(shot, hit);
      if (hit.status === 200) answered += 1;
    });
    console.info(`${fired} requests, ${answered} answered`);
    // The server answers one in 22 of those elsewhere.
    expect(answered).toBeGreaterThan(fired / 28);
    expect([...new Set(project.statements.errors())]).toEqual([]);
  },
  300_000,
);

it('would have noticed an error of the database', async () => {
  await withClient(project.statements.url, (client) => client.query('SELECT 1 / 0').catch(() => undefined));
  expect(project.statements.errors()).toEqual([expect.stringContaining('division by zero')]);
});
