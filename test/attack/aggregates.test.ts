/** Aggregation in every place that it has, with names that nobody may use and values that fit no type: E01, E02, A08. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aggregateFunctions } from '../../packages/runtime/src/language/descriptors/aggregates.ts';
import { operators } from '../../packages/runtime/src/language/operators/index.ts';
import { type Magazine, startMagazine } from '../support/magazine.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { expectDefined, fire, type Hit, type Shot, seededRandom, swarm } from '../support/swarm.ts';
import { sessionSetting } from './statement-law.ts';

const inText = (value: unknown): string => encodeURIComponent(JSON.stringify(value));

describe('names', () => {
  let magazine: Magazine;
  beforeAll(async () => {
    magazine = await startMagazine();
  });
  afterAll(() => magazine?.close());

  /** What `deep` may ask of a relation with a name in it. */
  const asked: readonly ((name: string) => object)[] = [
    (name) => ({ _group: [name] }),
    (name) => ({ _group: [`year(${name})`] }),
    (name) => ({ _group: ['id', `count(${name})`], _aggregate: { count: '*' } }),
    ...aggregateFunctions.map((call) => (name: string) => ({ _aggregate: { [call]: [name] } })),
    (name) => ({ _aggregate: { [name]: ['id'] } }),
    (name) => ({ _group: ['id'], _sort: [`-${name}`] }),
    (name) => ({ _group: ['id'], _sort: [`sum.${name}`, `-year(${name})`] }),
    (name) => ({ _group: ['id'], _having: { max: { [name]: { _gt: 1 } } } }),
    (name) => ({ _group: ['id'], _having: { [name]: { id: { _gt: 1 } } } }),
    (name) => ({ _group: ['id'], _having: { _or: [{ countDistinct: { [name]: { [name]: 1 } } }] } }),
    (name) => ({ _group: ['id'], _filter: { [name]: { _null: true } } }),
    (name) => ({ _group: ['id'], [name]: { _aggregate: { count: '*' } } }),
    (name) => ({ [name]: { _group: ['id'], _aggregate: { sum: [name] } } }),
  ];

  /** Everything at the top, on a relation, deeper, under an alias, below a link row, beside an aggregation, and in files. */
  const places: readonly ((name: string) => Shot)[] = [
    ...asked.flatMap((ask): readonly ((name: string) => Shot)[] => [
      (name) => ({ path: `/items/articles/1?fields=comments&deep=${inText({ comments: ask(name) })}` }),
      (name) => ({ path: `/items/articles?limit=2&deep=${inText({ tags: { articles: ask(name) } })}` }),
      (name) => ({ path: `/items/articles?limit=2&fields=a&alias[a]=sections&deep=${inText({ a: ask(name) })}` }),
      (name) => ({ path: `/items/articles?aggregate[count]=*&deep=${inText({ comments: ask(name) })}` }),
      (name) => ({ path: `/items/articles?limit=2&export=csv&deep=${inText({ translations: ask(name) })}` }),
      (name) => ({
        path: '/items/articles',
        method: 'SEARCH',
        body: JSON.stringify({ keys: [1], query: { fields: ['comments'], deep: { comments: ask(name) } } }),
      }),
    ]),
    (name) => ({ path: `/items/articles/1?deep=${inText({ [name]: { _aggregate: { count: '*' } } })}` }),
    (name) => ({ path: `/items/articles/1?fields=comments.${encodeURIComponent(name)}&deep[comments][_group]=id` }),
    (name) => ({ path: `/items/articles/1?fields=${encodeURIComponent(name)}&deep[comments][_aggregate][count]=*` }),
    ...[
      (name: string) => ({ aggregate: { max: [name] } }),
      (name: string) => ({ groupBy: [name] }),
      (name: string) => ({ groupBy: ['id'], sort: [name] }),
      (name: string) => ({ groupBy: ['id'], having: { max: { [name]: { _gt: 1 } } } }),
      (name: string) => ({ groupBy: ['id'], fields: [name] }),
    ].map(
      (query) =>
        (name: string): Shot => ({
          path: '/items/articles',
          method: 'SEARCH',
          body: JSON.stringify({ keys: [1], query: query(name) }),
        }),
    ),
    (name) => ({
      path: '/items/articles_tags',
      method: 'SEARCH',
      body: JSON.stringify({ keys: [{ [name]: 1, tag_id: 1 }], query: { aggregate: { count: '*' } } }),
    }),
    (name) => ({
      path: `/items/${encodeURIComponent(name)}`,
      method: 'SEARCH',
      body: JSON.stringify({ keys: [1], query: { aggregate: { count: '*' } } }),
    }),
  ];

  const hidden = ['created_by', 'author_email', 'released', 'order_lines', 'orders', 'customer_email'];

  function without(name: string, { status, text, headers }: Hit): string {
    return `${status} ${headers} ${text.replaceAll(name, 'NAME')}`;
  }

  it('hidden and unknown ones are answered with the same bytes', async () => {
    const random = seededRandom();
    magazine.statements.reset();
    for (const place of places) {
      for (const name of hidden) {
        const letters = [...name].map((letter) => (letter === '_' ? '_' : 'bcdfghjklmnp'[Math.floor(random() * 12)]));
        const unknown = letters.join('');
        const shot = place(name);
        const [one, other] = await Promise.all([fire(magazine.url, shot), fire(magazine.url, place(unknown))]);
        expectDefined(shot, one);
        expect(one.status, `${shot.path} ${shot.body}`).toBeGreaterThan(399);
        expect(without(name, one), `${shot.path} ${shot.body}`).toBe(without(unknown, other));
      }
    }
    // A connection that is opened meanwhile is set up.
    const read = magazine.statements
      .texts()
      .filter((text) => text.startsWith('SELECT') && !/; SET |set_config/.test(text));
    expect(read).toEqual([]);
  }, 120_000);

  it('garbage in their place is refused, and reaches no statement', async () => {
    const marker = `zq${Math.floor(seededRandom()() * 2 ** 31).toString(36)}`;
    const garbage = ['', '*', '-', '.', '$1', 'id;--', 'id"', "'", 'id)', '(select 1)', 'count(*)', 'year(id', '_and'];
    const more = [
      '_eq',
      '__proto__',
      'constructor',
      'toString',
      'ID',
      'іd',
      '\u202e',
      'x'.repeat(2000),
      't0.id',
      '{',
      '[]',
    ];
    const names = [...garbage, ...more].flatMap((name) => [name, `${marker}${name}`]);
    magazine.statements.reset();
    await swarm(
      magazine.url,
      places.flatMap((place) => names.map((name) => place(name))),
      (shot, hit) => {
        // A name that is no path segment.
        if (hit.status !== 404) expectDefined(shot, hit);
      },
    );
    const texts = magazine.statements.texts().filter((text) => !sessionSetting.test(text));
    expect(texts.filter((text) => /--|;|select 1/.test(text) || text.includes(marker))).toEqual([]);
    expect(magazine.statements.errors()).toEqual([]);
  }, 120_000);
});

describe('values', () => {
  const types = [
    ...['smallint', 'integer', 'bigint', 'numeric', 'numeric(5,2)', 'money', 'real', 'double precision', 'boolean'],
    ...[
      'text',
      'varchar(3)',
      'char(4)',
      'uuid',
      'json',
      'jsonb',
      'bytea',
      'xml',
      'date',
      'time',
      'timetz',
      'timestamp',
    ],
    ...['timestamptz', 'interval', 'inet', 'bit(3)', 'point', 'int4range', 'mood', 'positive', 'integer[]', 'mood[]'],
  ];

  let project: ServedProject;
  beforeAll(async () => {
    const columns = types.map((type, index) => `c${index} ${type}`).join(', ');
    project = await serveProject({
      sql: `
        CREATE TYPE mood AS ENUM ('happy', 'so so');
        CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
        CREATE TABLE parents (id integer PRIMARY KEY);
        CREATE TABLE samples (id integer PRIMARY KEY, parent_id integer REFERENCES parents, ${columns});
        INSERT INTO parents VALUES (1), (2);
        INSERT INTO samples (id, parent_id) VALUES (1, 1), (2, 1);
        INSERT INTO samples (id, parent_id, c1, c2, c3, c6, c7, c9, c17, c21)
          VALUES (3, 1, 2147483647, 9223372036854775807, 'NaN', 'NaN', 'Infinity', '', 'infinity', '-infinity'),
            (4, 2, -2147483648, -9223372036854775808, 'Infinity', '-Infinity', 1e150, E'\\t"', '4713-01-01 BC', now()),
            (5, 2, 1, 1, 1e300, 1, -1, 'é', now(), 'infinity');`,
    });
  });
  afterAll(() => project?.close());

  const values: readonly unknown[] = [
    ...[null, '', 'null', 'true', true, 0, -1, 1.5, 2147483648, '9'.repeat(400), 'NaN', '-Infinity', '1e400', 'abc'],
    ...[[], {}, [1], [1, 2], ['a', null], [[1, 2]], [{}, {}], { _eq: 1 }, '1,2', 'a,b,c', '$NOW', '$NOW(x)', '$X'],
    ...['$CURRENT_USER', '$CURRENT_USER.id', '$CURRENT_ROLE', '2024-02-30', 'infinity', '24:00', 'P1D', 'P9999999Y'],
    ...["x'); DROP TABLE samples;--", '\u0000', '\ud800', '%', '\\', '192.168.0.1', '{1,2}', 'x'.repeat(2000)],
  ];
  const bounds: readonly unknown[] = [-2, -1, 0, 1, 1.5, '1', 'x', '', null, [1], {}, 2 ** 53, '9'.repeat(30), true];

  /** Every function on every type with every operator and value, at the top or on a relation; written once chosen. */
  function* conditions(): Generator<() => Shot> {
    let turn = 0;
    for (const [index] of types.entries()) {
      for (const call of aggregateFunctions) {
        for (const operator of [...operators, '_some', '_and', '_foo']) {
          for (const value of values) {
            turn += 1;
            const isAtTop = turn % 2 === 0;
            yield () => {
              const row = call === 'countAll' ? { [operator]: value } : { [`c${index}`]: { [operator]: value } };
              const having = { [call]: row };
              return isAtTop ? atTop(having) : onRelation({ _group: ['id'], _having: having });
            };
          }
        }
      }
    }
  }

  /** Other parameters, of every form. */
  function* forms(): Generator<Shot> {
    for (const value of [...values, ...bounds]) {
      for (const name of ['_aggregate', '_group', '_having', '_sort', '_search', '_filter']) {
        yield onRelation({ _group: ['id'], [name]: value });
        yield onRelation({ _aggregate: { count: '*' }, [name]: value });
      }
      for (const name of ['_limit', '_offset', '_page']) yield onRelation({ _group: ['id'], [name]: value });
      for (const call of aggregateFunctions) yield onRelation({ _aggregate: { [call]: value } });
      yield search({ keys: [value], query: { aggregate: { count: '*' } } });
      yield search({ keys: value, query: { groupBy: ['id'] } });
    }
    for (const [index] of types.entries()) {
      for (const call of aggregateFunctions) {
        yield onRelation({ _aggregate: { [call]: `c${index}` } });
        yield search({ keys: [1, 2, 3, 4, 5], query: { aggregate: { [call]: `c${index}` } } });
      }
      for (const call of ['', 'year', 'week', 'second', 'count', 'nothing']) {
        const name = call === '' ? `c${index}` : `${call}(c${index})`;
        yield onRelation({ _group: name, _sort: `-${name}` });
      }
    }
  }

  const search = (body: object): Shot => ({
    path: '/items/samples',
    method: 'SEARCH',
    body: JSON.stringify(body),
    token: adminToken,
  });
  const atTop = (having: object): Shot => search({ query: { groupBy: ['parent_id'], having } });
  const onRelation = (samples: object): Shot => ({
    path: '/items/parents',
    method: 'SEARCH',
    body: JSON.stringify({ query: { fields: ['samples'], deep: { samples } } }),
    token: adminToken,
  });

  /** A part of the conditions, another one in every run; ATTACK_ALL=1 takes all of them. */
  function* shots(): Generator<Shot> {
    yield* forms();
    const random = seededRandom();
    const share = process.env.ATTACK_ALL === '1' ? 1 : 0.008;
    for (const write of conditions()) if (random() < share) yield write();
  }

  it(
    'are answered, or refused by the table, and never trouble the database',
    async () => {
      project.statements.reset();
      let answered = 0;
      const fired = await swarm(project.url, shots(), (shot, hit) => {
        expectDefined(shot, hit);
        if (hit.status === 200) answered += 1;
      });
      console.info(`${fired} requests, ${answered} answered`);
      expect(answered).toBeGreaterThan(fired / 20);
      expect([...new Set(project.statements.errors())]).toEqual([]);
    },
    process.env.ATTACK_ALL === '1' ? 7_200_000 : 300_000,
  );
});
