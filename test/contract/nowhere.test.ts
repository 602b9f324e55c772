/** Relations that lead nowhere for the caller, in filters and in rules. Source: API specification, sections 5.2 and 8. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE people (id integer PRIMARY KEY, secret boolean NOT NULL, note text);
      CREATE TABLE lists (id integer PRIMARY KEY, owner integer REFERENCES people);
      CREATE TABLE tasks (id integer PRIMARY KEY, list integer REFERENCES lists, secret boolean NOT NULL);
      CREATE TABLE reports (id integer PRIMARY KEY, list integer REFERENCES lists);
      CREATE TABLE parts (a integer, b integer, list integer REFERENCES lists, PRIMARY KEY (a, b));
      INSERT INTO people VALUES (1, false, null), (2, true, 'x');
      INSERT INTO lists VALUES (1, 1), (2, 2), (3, null), (4, 1);
      INSERT INTO tasks VALUES (1, 1, false), (2, 2, true), (3, 4, true), (4, 4, false), (5, null, false);
      INSERT INTO reports VALUES (1, 1), (2, 2), (3, 3), (4, null);
      INSERT INTO parts VALUES (1, 1, 1), (1, 2, 1), (2, 1, 4);`,
    permissions: `permissions:
  public:
    people: { read: { fields: [id, note, lists], filter: { secret: { _eq: false } } } }
    lists: { read: { fields: [id, owner, tasks, parts, reports] } }
    tasks: { read: { fields: [id, list], filter: { secret: { _eq: false } } } }
    parts:
      read: { fields: [a, b, list] }
      create: { fields: [a, b, list], validation: { list: { id: { _null: true } } } }
    reports:
      read: { fields: [id, list], filter: { list: { tasks: { id: { _null: true } } } } }
      create:
        fields: [id, list]
        validation: { list: { id: { _nnull: true }, owner: { id: { _null: true } } } }`,
  });
});
afterAll(() => project?.close());

async function ids(path: string, collection: string, filter: unknown): Promise<readonly number[]> {
  const answer = await project.ask(`${path}${collection}?sort=id&filter=${encodeURIComponent(JSON.stringify(filter))}`);
  expect([filter, answer.status]).toEqual([filter, 200]);
  const data: readonly { readonly id: number }[] = answer.json.data;
  return data.map(({ id }) => id);
}

/** The same filter over GraphQL, by a variable of the type that generators of clients declare for it. */
async function idsByGraphql(collection: string, filter: unknown): Promise<readonly number[]> {
  const query = `query ($filter: ${collection}_filter) { ${collection}(filter: $filter, sort: ["id"]) { id } }`;
  const answer = await project.ask('/graphql', { method: 'POST', body: { query, variables: { filter } } });
  expect([filter, answer.json]).toEqual([filter, { data: expect.anything() }]);
  const items: readonly { readonly id: string }[] = answer.json.data[collection];
  return items.map(({ id }) => Number(id));
}

it.each([
  ['lists', { owner: { id: { _null: true } } }, [2, 3]],
  ['lists', { owner: { id: { _nnull: true } } }, [1, 4]],
  // The field itself is the caller's to read, whatever the row that it leads to.
  ['lists', { owner: { _null: true } }, [3]],
  ['lists', { owner: { note: { _null: true } } }, [1, 4]],
  ['lists', { tasks: { id: { _null: true } } }, [2, 3]],
  ['lists', { tasks: { id: { _nnull: true } } }, [1, 4]],
  ['lists', { parts: { a: { _null: true } } }, [2, 3]],
  ['lists', { parts: { b: { _nnull: true } } }, [1, 4]],
  ['people', { lists: { tasks: { id: { _null: true } } } }, []],
  ['people', { lists: { owner: { id: { _nnull: true } } } }, [1]],
  ['tasks', { list: { owner: { id: { _null: true } } } }, []],
  // Names below a relation to many stand for one item, beside quantifiers too.
  ['lists', { tasks: { id: { _gt: 1 } } }, [4]],
  ['lists', { tasks: { id: { _gt: 1 }, list: { id: { _eq: 1 } } } }, []],
  ['lists', { tasks: { _or: [{ id: { _null: true } }, { id: { _eq: 4 } }] } }, [2, 3, 4]],
  ['lists', { parts: { a: { _eq: 1 }, _none: { b: { _eq: 2 } } } }, []],
  ['lists', { tasks: {} }, [1, 4]],
  ['lists', { tasks: { _none: {} } }, [2, 3]],
] as const)('what a caller cannot see is not there: %s with %j', async (collection, filter, expected) => {
  expect(await ids('/items/', collection, filter)).toEqual(expected);
  expect(await idsByGraphql(collection, filter)).toEqual(expected);
});

it('rules see every row', async () => {
  expect(await ids('/items/', 'reports', {})).toEqual([3]);
});

it('what is written is judged by it too', async () => {
  const create = (body: object) => project.ask('/items/reports', { method: 'POST', body });
  expect((await create({ id: 10, list: 3 })).status).toBe(200);
  for (const body of [{ id: 11, list: 1 }, { id: 12 }, { id: 13, list: 2 }]) {
    const refused = await create(body);
    expect([body, refused.status, refused.json?.errors[0].extensions.code]).toEqual([body, 400, 'FAILED_VALIDATION']);
  }
  const part = { a: 5, b: 5, list: 1 };
  const linked = await project.ask('/items/parts', { method: 'POST', body: part });
  expect(linked.json.errors[0].extensions).toMatchObject({ code: 'FAILED_VALIDATION', field: 'list', type: 'null' });
  expect((await project.ask('/items/parts', { method: 'POST', body: { ...part, list: null } })).status).toBe(200);
  expect(await project.rows('SELECT id FROM reports WHERE id >= 10')).toEqual([{ id: 10 }]);
});
