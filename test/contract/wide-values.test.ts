/** Values at the ends of PostgreSQL's types: what is read is found, and written again unchanged, by REST and by GraphQL. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** Column type, its text in SQL, JSON of the answer. */
const values: readonly (readonly [type: string, sql: string, json: unknown])[] = [
  [
    'integer[]',
    '{{1,2},{3,NULL}}',
    [
      [1, 2],
      [3, null],
    ],
  ],
  [
    'integer[]',
    '{{{1},{2}},{{3},{4}}}',
    [
      [[1], [2]],
      [[3], [4]],
    ],
  ],
  [
    'text[]',
    '{{"a,b","{}"},{NULL,"\\""}}',
    [
      ['a,b', '{}'],
      [null, '"'],
    ],
  ],
  ['numeric[]', '{{1.50},{NaN}}', [['1.50'], ['NaN']]],
  ['numeric[]', '{Infinity,-Infinity}', ['Infinity', '-Infinity']],
  ['timestamptz[]', '{{"0044-03-15 00:00:00+00 BC"},{infinity}}', [['0044-03-15T00:00:00+00:00 BC'], ['infinity']]],
  ['boolean[]', '{{t,f}}', [[true, false]]],
  ['mood[]', '{{happy,"so so"}}', [['happy', 'so so']]],
  ['bytea[]', '{{"\\\\xff"}}', [['/w==']]],
  ['inet[]', '{{10.0.0.1}}', [['10.0.0.1']]],
  ['numeric', 'NaN', 'NaN'],
  ['numeric', 'Infinity', 'Infinity'],
  ['numeric', '-Infinity', '-Infinity'],
  ['numeric(5,2)', 'NaN', 'NaN'],
  ['real', 'NaN', 'NaN'],
  ['double precision', '-Infinity', '-Infinity'],
  ['time', '24:00:00', '24:00:00'],
  ['timetz', '24:00:00+00', '24:00:00+00'],
  ['timetz', '12:00:00+15:59:59', '12:00:00+15:59:59'],
  ['date', '0044-03-15 BC', '0044-03-15 BC'],
  ['date', '4714-11-24 BC', '4714-11-24 BC'],
  ['date', '0001-01-01', '0001-01-01'],
  ['date', '0001-12-31 BC', '0001-12-31 BC'],
  ['date', '0001-02-29 BC', '0001-02-29 BC'],
  ['date', '10000-01-01', '10000-01-01'],
  ['date', '5874897-12-31', '5874897-12-31'],
  ['date', '-infinity', '-infinity'],
  ['timestamp', '0044-03-15 12:00:00.5 BC', '0044-03-15T12:00:00.5 BC'],
  ['timestamp', '4714-11-24 00:00:00 BC', '4714-11-24T00:00:00 BC'],
  ['timestamp', '294276-12-31 23:59:59.999999', '294276-12-31T23:59:59.999999'],
  ['timestamptz', '0044-03-15 12:00:00.5+00 BC', '0044-03-15T12:00:00.5+00:00 BC'],
  ['timestamptz', '4714-11-24 00:00:00+00 BC', '4714-11-24T00:00:00+00:00 BC'],
  ['timestamptz', '12026-01-01 00:00:00+00', '12026-01-01T00:00:00+00:00'],
  ['timestamptz', '294276-12-31 23:59:59.999999+00', '294276-12-31T23:59:59.999999+00:00'],
  ['interval', 'infinity', 'infinity'],
  ['interval', '-178000000 years', 'P-178000000Y'],
  ['interval', '2562047788 hours -0.000001 seconds', 'PT2562047787H59M59.999999S'],
  ['interval', '2147483647 days', 'P2147483647D'],
];

const columns = values.map(([type], index) => `c${index} ${type}`);
const cases = values.map(([type, sql, json], index) => [type, sql, json, `c${index}`] as const);

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `CREATE TYPE mood AS ENUM ('happy', 'so so');
      CREATE TABLE wide (id integer PRIMARY KEY, ${columns.join(', ')});
      INSERT INTO wide VALUES (1, ${values.map(([, sql]) => `'${sql}'`).join(', ')}), (2${', NULL'.repeat(values.length)});`,
    permissions: JSON.stringify({
      permissions: {
        public: {
          wide: {
            read: { fields: ['id'], filter: { _and: cases.map(([, , json, name]) => ({ [name]: { _eq: json } })) } },
          },
        },
      },
    }),
  });
});
afterAll(() => project?.close());

const ask = async (query: string, variables: object) =>
  (await project.admin('/graphql', { method: 'POST', body: { query, variables } })).json;
const stored = (id: number) =>
  project.rows(`SELECT ${cases.map(([, , , name]) => `${name}::text`).join(', ')} FROM wide WHERE id = ${id}`);

it('are compared by rules', async () => {
  expect((await project.ask('/items/wide')).json).toEqual({ data: [{ id: 1 }] });
});

describe('over REST', () => {
  it.each(cases)('%s %s', async (type, _, json, name) => {
    const path = `/items/wide/1?fields=${name}`;
    const before = await stored(1);
    expect((await project.admin(path)).json).toEqual({ data: { [name]: json } });
    const back = await project.admin(path, { method: 'PATCH', body: { [name]: json } });
    expect([back.status, back.json]).toEqual([200, { data: { [name]: json } }]);
    expect(await stored(1)).toEqual(before);
    const made = await project.admin(`/items/wide?fields=${name}`, {
      method: 'POST',
      body: [{ id: 3, [name]: json }, { id: 4 }],
    });
    expect(made.json.data).toEqual([{ [name]: json }, { [name]: null }]);
    await project.admin('/items/wide', { method: 'DELETE', body: [3, 4] });
    for (const filter of [{ [name]: { _eq: json } }, { [name]: json }, { [name]: { _in: [json] } }]) {
      if (type.endsWith('[]') && !('_eq' in (Object.values(filter)[0] as object))) continue;
      const found = await project.admin('/items/wide', {
        method: 'SEARCH',
        body: { query: { filter, fields: ['id'] } },
      });
      expect([filter, found.json]).toEqual([filter, { data: [{ id: 1 }] }]);
    }
    if (typeof json === 'string') {
      const found = await project.admin(`/items/wide?fields=id&filter[${name}]=${encodeURIComponent(json)}`);
      expect(found.json).toEqual({ data: [{ id: 1 }] });
    }
  });
});

describe('over GraphQL', () => {
  it.each(cases)('%s %s', async (_type, _sql, json, name) => {
    const before = await stored(1);
    const input = 'update_wide_input!';
    const read = await ask(`{ wide_by_id(id: 1) { ${name} } }`, {});
    expect(read).toEqual({ data: { wide_by_id: { [name]: json } } });
    const written = await ask(`mutation ($data: ${input}) { update_wide_item(id: 1, data: $data) { ${name} } }`, {
      data: { [name]: json },
    });
    expect(await stored(1)).toEqual(before);
    expect(written).toEqual({ data: { update_wide_item: { [name]: json } } });
    const filter = { [name]: { _eq: json } };
    expect(await ask('query ($filter: wide_filter) { wide(filter: $filter) { id } }', { filter })).toEqual({
      data: { wide: [{ id: 1 }] },
    });
  });
});

it('documents of GraphQL hold lists of lists, and floats that are no numbers', async () => {
  const [list, enums, float] = ['integer[]', 'mood[]', 'real'].map(
    (type) => `c${values.findIndex(([column]) => column === type)}`,
  );
  const write = (data: string, declared = '', variables = {}) =>
    ask(
      `mutation ${declared} { update_wide_item(id: 2, data: { ${data} }) { a: ${list} b: ${enums} c: ${float} } }`,
      variables,
    );
  const done = (a: unknown, b: unknown, c: unknown) => ({ data: { update_wide_item: { a, b, c } } });
  expect(await write(`${list}: [[1, null], [$x, 4]], ${float}: "NaN"`, '($x: Int)', { x: 3 })).toEqual(
    done(
      [
        [1, null],
        [3, 4],
      ],
      null,
      'NaN',
    ),
  );
  expect(await write(`${enums}: [["happy"], ["so so"]], ${float}: -1.5`)).toEqual(
    done(
      [
        [1, null],
        [3, 4],
      ],
      [['happy'], ['so so']],
      -1.5,
    ),
  );
  // Variables have the type that clients see.
  expect(await write(`${list}: $x, ${float}: $y`, '($x: [Int], $y: Float)', { x: [7], y: '-Infinity' })).toEqual(
    done([7], [['happy'], ['so so']], '-Infinity'),
  );
  for (const [data, declared, variables] of [
    [`${list}: [["1"]]`],
    [`${list}: [[1.5]]`],
    [`${float}: "nan"`],
    [`${list}: $x`, '($x: [String])', { x: ['1'] }],
    [`${list}: $x`, '($x: [Int])', { x: [[1]] }],
    [`${list}: $x`, '($x: [[Int]])', { x: [[1]] }],
  ] as const) {
    const { errors } = await write(data, declared, variables);
    expect([data, errors?.[0].extensions.code]).toEqual([data, 'INVALID_QUERY']);
  }
  await project.rows(`UPDATE wide SET ${list} = NULL, ${enums} = NULL, ${float} = NULL WHERE id = 2`);
});

it.each([
  ['integer[]', [[1, 2], [3]], 'same length'],
  ['integer[]', [[1, 2], 3], 'same depth'],
  ['integer[]', [[1, 2], null], 'same depth'],
  ['integer[]', [[]], 'empty'],
  ['integer[]', [[[[[[[1]]]]]]], 'dimensions'],
  ['integer[]', [['x']], 'integer'],
  ['numeric', 'nan', 'decimal'],
  ['time', '24:00:01', 'time'],
  ['date', '4714-11-23 BC', 'date'],
  ['date', '5874898-01-01', 'date'],
  ['date', '0000-01-01 BC', 'date'],
  ['timestamp', '294277-01-01T00:00:00', 'date'],
])('%s %j is refused', async (type, value, told) => {
  const name = `c${values.findIndex(([column]) => column === type)}`;
  const answer = await project.admin('/items/wide/2', { method: 'PATCH', body: { [name]: value } });
  expect(failure(answer)).toBe('400 INVALID_PAYLOAD');
  expect(answer.json.errors[0].message).toContain(told);
  const query = { filter: { [name]: { _eq: value } } };
  expect(failure(await project.admin('/items/wide', { method: 'SEARCH', body: { query } }))).toBe('400 INVALID_QUERY');
});

it('a number of limited digits is not infinite', async () => {
  const name = `c${values.findIndex(([column]) => column === 'numeric(5,2)')}`;
  const answer = await project.admin('/items/wide/2', { method: 'PATCH', body: { [name]: 'Infinity' } });
  expect(failure(answer)).toBe('400 FAILED_VALIDATION');
  expect((await project.admin(`/items/wide?fields=id&filter[${name}]=Infinity`)).json).toEqual({ data: [] });
});

it('a sum and an average beyond the range of their type say so', async () => {
  const name = `c${values.findIndex(([column]) => column === 'double precision')}`;
  await project.rows(`UPDATE wide SET ${name} = 1.7e308`);
  for (const call of ['sum', 'avg']) {
    const answer = await project.admin(`/items/wide?aggregate[${call}]=${name}`);
    expect([failure(answer), answer.json.errors[0].message]).toEqual([
      '400 INVALID_QUERY',
      'A number of the query, or of its answer, is out of range.',
    ]);
  }
});
