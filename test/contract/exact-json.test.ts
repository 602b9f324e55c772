/**
 * JSON of requests means one thing: integers beyond 2^53 are the digits that were written, also where a double happens to
 * hold them, and a key that stands twice is refused. On every surface that takes JSON, for typed fields and within JSON.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** Of these a double holds the second, and the third, whose last digits are zeros; the others it would round. */
const numbers = ['9007199254740993', '9007199254740994', '9100000000000000000', '-9223372036854775807'] as const;

/** A number beyond 2^53, and one of 30 digits with decimals. */
const large = '9007199254740993';
const long = '123456789012345678901234567890.0123456789';
const documents = [
  `{"n":${large},"d":${long},"l":[${large}]}`,
  `{"n":9007199254740992,"d":${long.replace(/.$/, '8')},"l":[9007199254740992]}`,
  `{"n":"${large}","d":"${long}","l":["${large}"]}`,
  '{"n":1.5}',
];
/** MySQL itself keeps decimals within JSON as doubles. */
const keepsDecimals = process.env.CONTRACT_DATABASE !== 'mysql';
const decimals = [
  ['decimal', `{ /d: { _eq: ${long} } }`, [large]],
  ['above', `{ /d: { _lt: +${long} } }`, ['9007199254740992']],
] as const;
/** Rules of the permissions file by name, with the numbers and texts that they find. */
const ruled = [
  ['equal', `{ /n: { _eq: ${large} } }`, [large]],
  ['listed', `{ /n: { _in: [1, ${large}] } }`, [large]],
  ['between', `{ /n: { _between: [${large}, ${large}] } }`, [large]],
  ...(keepsDecimals ? decimals : []),
  ['element', `{ /l: { _has: ${large} } }`, [large]],
  ['quoted', `{ /n: { _eq: "${large}" } }`, [`"${large}"`]],
  ['short', '{ /n: { _eq: 1.50 } }', ['1.5']],
] as const;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: `CREATE TABLE parents (id bigint PRIMARY KEY, amount numeric(30,4), about json);
      CREATE TABLE children (id bigint PRIMARY KEY, parent bigint REFERENCES parents);
      ${numbers.map((id) => `INSERT INTO parents (id, amount) VALUES (${id}, ${id});`).join('\n')}
      INSERT INTO parents (id) VALUES (9007199254740992), (1);
      CREATE TABLE spaced (id integer PRIMARY KEY, about json);
      INSERT INTO spaced VALUES (1, '{\n  "a": 1,\r\n  "b": [\r2\n]\n}'), (2, '{"a": "c"}');
      CREATE TABLE ruled (id integer PRIMARY KEY, rule varchar(20), about json);
      ${ruled.flatMap(([name], rule) => documents.map((text, at) => `INSERT INTO ruled (id, rule, about) VALUES (${rule * 10 + at}, '${name}', '${text}');`)).join('\n')}`,
    permissions: `permissions:
  public:
    ruled:
      read:
${ruled.map(([name, filter]) => `        - { fields: [id, rule, about], filter: { rule: { _eq: ${name} }, about: ${filter} } }`).join('\n')}
      create: { fields: [id, rule], presets: { about: { n: ${large}, d: ${long}, s: "${large}" } } }`,
  });
});
afterAll(() => project?.close());

/** Sends a text as JSON, so that no digit is lost on the way to the server. */
const send = (method: string, path: string, body: string): Promise<Answer> => project.admin(path, { method, body });
const ids = (answer: Answer): readonly unknown[] | string =>
  answer.status === 200 ? answer.json.data.map(({ id }: { readonly id: unknown }) => id) : answer.text;

describe.each(numbers)('%s', (number) => {
  it('is a key in bodies', async () => {
    expect(ids(await send('SEARCH', '/items/parents', `{"keys":[${number}]}`))).toEqual([number]);
    expect(ids(await send('PATCH', '/items/parents', `{"keys":[${number}],"data":{}}`))).toEqual([number]);
    expect(ids(await send('PATCH', '/items/parents', `[{"id":${number},"amount":${number}}]`))).toEqual([number]);
    expect((await send('DELETE', '/items/parents', `[${number}]`)).status).toBe(204);
    const made = await send('POST', '/items/parents', `{"id":${number},"amount":${number}}`);
    expect(made.json.data).toMatchObject({ id: number, amount: `${number}.0000` });
  });

  it('is what a filter compares with', async () => {
    const filter = `{"_and":[{"id":${number}},{"id":{"_in":[${number}]}},{"amount":{"_between":[${number},${number}]}}]}`;
    expect(ids(await send('SEARCH', '/items/parents', `{"query":{"filter":${filter}}}`))).toEqual([number]);
    expect(ids(await project.admin(`/items/parents?filter=${encodeURIComponent(filter)}`))).toEqual([number]);
    expect(ids(await project.admin(`/items/parents?filter[id][_eq]=${number}`))).toEqual([number]);
    const changed = await send('PATCH', '/items/parents', `{"query":{"filter":${filter}},"data":{"amount":${number}}}`);
    expect(ids(changed)).toEqual([number]);
  });

  it('links, alone and in trees', async () => {
    expect((await send('POST', '/items/children', `[{"id":${number},"parent":${number}}]`)).status).toBe(200);
    expect((await send('PATCH', '/items/parents/1', `{"children":[${number}]}`)).json.data.children).toEqual([number]);
    const back = await send('PATCH', `/items/parents/${number}`, `{"children":{"update":[{"id":${number}}]}}`);
    expect(back.json.data.children).toEqual([number]);
    expect((await send('DELETE', '/items/children', `{"keys":[${number}]}`)).status).toBe(204);
  });

  it('is itself in GraphQL, as a variable and in the document', async () => {
    const ask = (query: string, variables = '{}') =>
      send('POST', '/graphql', `{"query":${JSON.stringify(query)},"variables":${variables}}`);
    const found = { parents: [{ id: number }] };
    const typed = await ask(
      'query ($id: GraphQLBigInt, $all: [GraphQLBigInt]) { parents(filter: { id: { _eq: $id, _in: $all } }) { id } }',
      `{"id":${number},"all":[${number}]}`,
    );
    expect(typed.json.data).toEqual(found);
    const whole = await ask(
      'query ($f: parents_filter) { parents(filter: $f) { id } }',
      `{"f":{"id":{"_eq":${number}}}}`,
    );
    expect(whole.json.data).toEqual(found);
    expect((await ask(`{ parents(filter: { id: { _eq: ${number} } }) { id } }`)).json.data).toEqual(found);
    expect((await ask(`{ parents_by_id(id: ${number}) { id } }`)).json.data).toEqual({ parents_by_id: { id: number } });
    const written = await ask(
      'mutation ($id: ID!, $data: update_parents_input!) { update_parents_item(id: $id, data: $data) { id amount } }',
      `{"id":${number},"data":{"amount":${number}}}`,
    );
    expect(written.json.data).toEqual({ update_parents_item: { id: number, amount: `${number}.0000` } });
  });

  it('is kept within JSON, and found there', async () => {
    const written = await send('PATCH', `/items/parents/1`, `{"about":{"n":${number},"list":[${number}]}}`);
    expect(written.text).toMatch(new RegExp(`"n": ?${number}\\b`));
    const filter = `{"about":{"/n":{"_eq":${number},"_in":[1,${number}]}}}`;
    expect(ids(await send('SEARCH', '/items/parents', `{"query":{"filter":${filter}}}`))).toEqual(['1']);
    expect(ids(await project.admin(`/items/parents?filter=${encodeURIComponent(filter)}`))).toEqual(['1']);
    expect(ids(await project.admin(`/items/parents?filter[about][/n][_eq]=${number}`))).toEqual(['1']);
    const next = `${BigInt(number) + 1n}`;
    expect(ids(await project.admin(`/items/parents?filter[about][/n][_eq]=${next}`))).toEqual([]);
  });
});

describe('rules of the permissions file compare and set numbers within JSON with every digit', () => {
  it.each(ruled)('%s: %s', async (name, _, found) => {
    const { text } = await project.ask(`/items/ruled?fields=about&filter[rule][_eq]=${name}&limit=-1`);
    expect([...text.matchAll(/"n": ?([^,}]+)/g)].map(([, number]) => number)).toEqual(found);
  });

  it('as presets', async () => {
    const made = await project.ask('/items/ruled', { method: 'POST', body: { id: 1000, rule: 'quoted' } });
    expect([made.status, made.text]).toEqual([204, '']);
    const { text } = await project.admin('/items/ruled/1000?fields=about');
    const decimal = keepsDecimals ? [`"d": ?${long}`] : [];
    for (const member of [...decimal, `"n": ?${large}`, `"s": ?"${large}"`]) expect(text).toMatch(new RegExp(member));
  });
});

it('numbers of any length are no text', async () => {
  expect(failure(await send('POST', '/items/parents', '{"id":[9007199254740994]}'))).toBe('400 INVALID_PAYLOAD');
  expect(failure(await send('POST', '/items/parents', '{"id":9007199254740994.5}'))).toBe('400 INVALID_PAYLOAD');
  expect(failure(await send('POST', '/items/parents', '{"id":19007199254740994000}'))).toBe('400 FAILED_VALIDATION');
  expect(failure(await send('SEARCH', '/items/parents', '{"keys":[19007199254740994000]}'))).toBe('403 FORBIDDEN');
  const limited = await send('SEARCH', '/items/parents', '{"query":{"limit":9007199254740994}}');
  expect(failure(limited)).toBe('400 INVALID_QUERY');
});

describe('a key that stands twice', () => {
  const place = (answer: Answer): readonly string[] => {
    const message = String(answer.json.errors[0].message);
    return [
      failure(answer),
      ...(/^The body has the key "(.*)" twice, at (.*)\.$/.exec(message)?.slice(1) ?? [message]),
    ];
  };

  it.each([
    ['POST', '/items/parents', '{"id":50,"id":51}', 'id', '$.id'],
    ['POST', '/items/parents', '{"id":50,"\\u0069d":51}', 'id', '$.id'],
    ['POST', '/items/parents', '[{"id":50},{"id":51,"children":[{"id":1,"id":2}]}]', 'id', '$[1].children[0].id'],
    ['POST', '/items/parents', '{"id":50,"about":{"a":{"b":1,"b":1}}}', 'b', '$.about.a.b'],
    ['PATCH', '/items/parents/1', '{"amount":1, "amount" : 1}', 'amount', '$.amount'],
    ['PATCH', '/items/parents', '{"keys":[1],"keys":[2],"data":{}}', 'keys', '$.keys'],
    ['DELETE', '/items/parents', '{"query":{"filter":{"id":1,"id":{"_nnull":true}}}}', 'id', '$.query.filter.id'],
    ['SEARCH', '/items/parents', '{"query":{"limit":1},"query":{}}', 'query', '$.query'],
    ['POST', '/auth/login', '{"email":"a@b","password":"x","email":"c@d"}', 'email', '$.email'],
    ['POST', '/graphql', '{"query":"{ parents { id } }","variables":{},"query":"{ x }"}', 'query', '$.query'],
    ['POST', '/graphql', '{"query":"{ parents { id } }","variables":{"a":1,"a":2}}', 'a', '$.variables.a'],
  ])('in %s %s %s', async (method, path, body, key, where) => {
    // What is known of a document may not hide it.
    for (let turn = 0; turn < 3; turn++) {
      const answer = await send(method, path, body);
      expect(place(answer)).toEqual(['400 INVALID_PAYLOAD', key, where]);
    }
    expect(ids(await project.admin('/items/parents?filter[id][_between]=50,51'))).toEqual([]);
  });

  it('in a document that is known', async () => {
    const query = '{"query":"{ parents { id } }","variables":{}';
    expect((await send('POST', '/graphql', `${query}}`)).status).toBe(200);
    expect((await send('POST', '/graphql', `${query}}`)).status).toBe(200);
    expect(place(await send('POST', '/graphql', `${query},"query":"{ x }"}`))).toEqual([
      '400 INVALID_PAYLOAD',
      'query',
      '$.query',
    ]);
  });

  it('in an imported file and in its cells', async () => {
    const bring = (name: string, type: string, text: string) => {
      const body = new FormData();
      body.append('file', new Blob([text], { type }), name);
      return project.admin('/utils/import/parents', { method: 'POST', body });
    };
    const answer = await bring('a.json', 'application/json', '[{"id":50,"id":51}]');
    expect(failure(answer)).toBe('400 INVALID_PAYLOAD');
    expect(answer.json.errors[0].message).toBe('Item 0 of the file has the key "id" twice, at $.id.');
    const cell = await bring('a.csv', 'text/csv', 'id,about\n50,"{""a"":1,""a"":2}"\n');
    expect(failure(cell)).toBe('400 INVALID_PAYLOAD');
    expect(ids(await project.admin('/items/parents?filter[id][_between]=50,51'))).toEqual([]);
  });

  it('in JSON of a query string is INVALID_QUERY', async () => {
    const filter = encodeURIComponent('{"id":1,"id":{"_nnull":true}}');
    expect(failure(await project.admin(`/items/parents?filter=${filter}`))).toBe('400 INVALID_QUERY');
  });

  it('stands in no text', async () => {
    const about = '{"a":"\\"b\\":1,\\"b\\":2","c":{"a":"\\\\"},"d":[{"a":1},{"a":1}]}';
    const answer = await send('PATCH', '/items/parents/1', `{"about":${about}}`);
    expect(answer.json.data.about).toEqual(JSON.parse(about));
  });
});

it('keys with escapes are read as what they are, whatever others sent before', async () => {
  // V8 takes such a key for one with a backslash that an object with the same members before it had.
  for (let turn = 0; turn < 5; turn++) {
    await send('PATCH', '/items/parents/1', '{"amount":1,"\\\\":2}');
    await send('PATCH', '/items/parents/1', '{"about":{"a":1,"\\\\":2}}');
    const answer = await send('PATCH', '/items/parents/1', '{"amount":1,"\\u0061bout":{"a":1,"\\n":2,"\\u0062":3}}');
    expect(answer.json.data.about).toEqual({ a: 1, '\n': 2, b: 3 });
  }
});

it('is one line of a file of lines, also where it is stored in several', async () => {
  for (const limit of ['', '&limit=-1']) {
    const { text } = await project.admin(`/items/spaced?export=ndjson${limit}`);
    expect(text.split(/[\r\n]/).map((line) => (line === '' ? null : JSON.parse(line)))).toEqual([
      { id: 1, about: { a: 1, b: [2] } },
      { id: 2, about: { a: 'c' } },
      null,
    ]);
  }
});
