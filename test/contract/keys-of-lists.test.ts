/** Keys that are arrays or composite values, or have other texts in the database: related items, paths, history, GraphQL. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

const token = 'token-of-bob-0000000000';

const hooks = `import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, after }) => {
  before('noted.update', ({ keys, payload }) => {
    if (payload.n === 7) payload.memo = JSON.stringify(keys);
  });
  after('noted.create', async ({ key, payload, items }) => {
    if (payload.n === 8) await items.asAdmin('noted').update(key, { memo: key });
  });
  after('moments.create', ({ key, items }) => items.asAdmin('moments').update(key, { memo: key }));
  after('bytes.create', ({ key, items }) => items.asAdmin('bytes').update(key, { memo: key }));
  after('prices.create', ({ key, items }) => items.asAdmin('prices').update(key, { memo: key }));
  before('moments.update', ({ keys, payload }) => void (payload.memo ??= JSON.stringify(keys)));
  before('bytes.update', ({ keys, payload }) => void (payload.memo ??= JSON.stringify(keys)));
  before('prices.update', ({ keys, payload }) => void (payload.memo ??= JSON.stringify(keys)));
  before('two.update', ({ keys, payload }) => {
    if (payload.n === 7) payload.memo = JSON.stringify(keys);
  });
  after('two.update', async ({ keys, payload, items }) => {
    if (payload.n === 9) await items.asAdmin('two').update(keys, { memo: JSON.stringify(keys) });
  });
});
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    system: true,
    sql: `CREATE TYPE pair AS (n integer, t text);
      CREATE TABLE parents (id integer[] PRIMARY KEY, name text);
      CREATE TABLE pairs (id pair PRIMARY KEY, name text);
      CREATE TABLE kids (id integer PRIMARY KEY, parent integer[] REFERENCES parents, pair pair REFERENCES pairs);
      CREATE TABLE link (parent integer[] REFERENCES parents, pair pair REFERENCES pairs, PRIMARY KEY (parent, pair));
      CREATE TABLE two (a text[], b pair, n integer, memo text, PRIMARY KEY (a, b));
      CREATE TABLE three (id integer PRIMARY KEY, a text[], b pair, FOREIGN KEY (a, b) REFERENCES two);
      CREATE TABLE noted (id text[] PRIMARY KEY, n integer, memo text);
      CREATE TABLE moments (id timestamptz PRIMARY KEY, memo text);
      CREATE TABLE bytes (id bytea PRIMARY KEY, memo text);
      CREATE TABLE prices (id numeric(4, 2) PRIMARY KEY, memo text);
      CREATE TYPE spot AS (place pair, price numeric, big bigint, tags text[], note text);
      CREATE TABLE spots (at spot PRIMARY KEY, n integer);
      CREATE TABLE documents (id jsonb PRIMARY KEY, n integer);
      CREATE TABLE lists (id jsonb[] PRIMARY KEY, n integer);
      CREATE TABLE rows (at spot, day date, about jsonb, n integer, PRIMARY KEY (at, day, about));`,
    extensions: { 'hooks.ts': hooks },
    permissions: `roles: { reader: {} }
permissions:
  reader:
    noted: { read: { fields: [id], filter: { n: { _lt: 9 } } } }
    spots: { read: { fields: [at], filter: { n: { _lt: 9 } } } }
    rows: { read: { fields: [n], filter: { n: { _lt: 9 } } } }
    platform_revisions: { read: { fields: ["*"] } }
`,
  });
  const role = '00000000-0000-4000-8000-0000000000ed';
  await project.rows(`INSERT INTO platform.platform_roles (id, name) VALUES ('${role}', 'reader')`);
  await project.rows(`INSERT INTO platform.platform_users (id, email, role, token)
    VALUES ('00000000-0000-4000-8000-00000000000b', 'bob@example.com', '${role}', '${token}')`);
});
afterAll(() => project?.close());

const pair = { n: 1, t: 'a,b' };
const segment = (...values: readonly unknown[]) => values.map((one) => encodeURIComponent(JSON.stringify(one))).join();

async function data(method: string, path: string, body?: unknown) {
  const { status, json, text } = await project.admin(`/items/${path}`, { method, ...(body !== undefined && { body }) });
  expect(status, `${method} ${path} ${text}`).toBeLessThan(300);
  return json?.data;
}

it('that are the null of JSON are read and changed by null, and cannot be made', async () => {
  await project.rows(`INSERT INTO documents VALUES ('null', 1), ('"null"', 2)`);
  expect(await data('GET', 'documents/null')).toEqual({ id: null, n: 1 });
  expect(await data('PATCH', 'documents', { keys: [null], data: { n: 3 } })).toEqual([{ id: null, n: 3 }]);
  expect(await data('GET', 'documents/"null"')).toEqual({ id: 'null', n: 2 });
  const made = await project.admin('/items/documents', { method: 'POST', body: { id: null } });
  expect(made.json.errors[0].extensions).toMatchObject({ field: 'id', type: 'required' });
});

it('name by null an element that is missing, and not the null of JSON', async () => {
  await project.rows(`INSERT INTO lists VALUES (ARRAY['null'::jsonb], 1), (ARRAY[null::jsonb], 2)`);
  expect(await data('GET', 'lists?sort=n')).toEqual([
    { id: [null], n: 1 },
    { id: [null], n: 2 },
  ]);
  expect(await data('GET', `lists/${segment([null])}`)).toEqual({ id: [null], n: 2 });
  await data('PATCH', 'lists', [{ id: [null], n: 3 }]);
  await data('DELETE', 'lists', [[null]]);
  expect(await data('GET', 'lists')).toEqual([{ id: [null], n: 1 }]);
  const { status } = await project.admin(`/items/lists/${segment([null])}`);
  expect(status).toBe(403);
});

it('name related items, which are made, changed, linked and removed', async () => {
  const kids = [{ id: 1 }, { id: 2, pair: { id: pair, name: 'x' } }];
  await data('POST', 'parents', { id: [1, 2], name: 'p', kids });
  await data('PATCH', 'kids/2', { parent: { id: [1, 2], name: 'q' }, pair: { id: pair, name: 'y' } });
  await data('PATCH', `parents/${segment([1, 2])}`, { kids: { create: [{ id: 3 }], delete: [1] } });
  await data('PATCH', 'kids', [
    { id: 1, parent: { id: [3], name: 'r' } },
    { id: 3, parent: [3] },
  ]);
  expect(await data('GET', 'kids?sort=id&fields=id,parent.name,pair')).toEqual([
    { id: 1, parent: { name: 'r' }, pair: null },
    { id: 2, parent: { name: 'q' }, pair },
    { id: 3, parent: { name: 'r' }, pair: null },
  ]);
  await data('PATCH', `parents/${segment([1, 2])}`, { pairs: [{ id: pair }, { id: { n: null, t: '"' } }] });
  await data('PATCH', `parents/${segment([1, 2])}`, { pairs: [{ id: pair, name: 'z' }] });
  expect(await data('GET', `pairs/${segment(pair)}?fields=name,kids,parents.id`)).toEqual({
    ...{ name: 'z', kids: [2], parents: [{ id: [1, 2] }] },
  });
});

it('are parts of a key, in paths and in bodies', async () => {
  const other = { a: [], b: { n: null, t: '' } };
  const first = { a: ['x', 'y,z'], b: pair };
  await data('POST', 'two', [
    { ...first, n: 1 },
    { ...other, n: 2 },
  ]);
  await data('POST', 'three', { id: 1, two: { ...other, n: 3 } });
  const path = segment(first.a, first.b);
  expect(await data('GET', `two/${path}`)).toEqual({ ...first, n: 1, memo: null, three: [] });
  await data('PATCH', `two/${path}`, { n: 4 });
  await data('POST', 'two?on_conflict=a,b', { ...other, n: 5 });
  expect(await data('SEARCH', 'two', { keys: [path], query: { fields: ['n'] } })).toEqual([{ n: 4 }]);
  expect(await data('PATCH', 'two?fields=n', { keys: [first, other], data: { n: 6 } })).toEqual([{ n: 6 }, { n: 6 }]);
  expect(await data('GET', 'three/1?fields=two.n,two.b')).toEqual({ two: { n: 6, b: other.b } });
  await data('DELETE', 'two', [first]);
  expect(await data('GET', 'two?fields=n')).toEqual([{ n: 6 }]);
});

it('are in the history as in paths, and back from it', async () => {
  await data('POST', 'parents', { id: [7], name: 'before' });
  await data('PATCH', `parents/${segment([7])}`, { name: 'after' });
  const filter = encodeURIComponent(JSON.stringify({ item: { _eq: segment([7]) } }));
  const { json } = await project.admin(`/revisions?fields=id,item&sort=id&filter=${filter}`);
  expect(json.data).toMatchObject([{ item: '%5B7%5D' }, { item: '%5B7%5D' }]);
  const { status } = await project.admin(`/utils/revert/${json.data[0].id}`, { method: 'POST' });
  expect([status, await data('GET', `parents/${segment([7])}?fields=name`)]).toEqual([204, { name: 'before' }]);
});

it('are the keys of hooks, alone in the form of a path, and as parts their values', async () => {
  const lists = [['x,"y', null, '{}'], [], ['\\', 'NULL', '']];
  await data('POST', 'noted', [{ id: lists[0], n: 8 }, ...lists.slice(1).map((id) => ({ id, n: 8 }))]);
  const made = await data('GET', 'noted?fields=id,memo&filter[n]=8&sort=id');
  for (const { id, memo } of made) expect(JSON.parse(memo)).toEqual(id);
  expect(made).toHaveLength(3);
  const memos = await data('PATCH', 'noted?fields=memo', { keys: lists, data: { n: 7 } });
  expect(JSON.parse(memos[0].memo).map((key: string) => JSON.parse(key))).toEqual(lists);
  await data('DELETE', 'noted', lists);
  const key = { a: ['q"', '(1)'], b: { n: 3, t: '"a\\,b) (' } };
  await data('POST', 'two', { ...key, n: 1 });
  const [{ memo }] = await data('PATCH', 'two?fields=memo', { keys: [key], data: { n: 7 } });
  expect(JSON.parse(memo)).toEqual([key]);
  await data('PATCH', 'two', { query: { filter: { n: 7 } }, data: { n: 9 } });
  expect(JSON.parse((await data('GET', 'two?fields=memo&filter[n]=9'))[0].memo)).toEqual([key]);
  await data('DELETE', 'two', [key]);
});

it.each([
  ['moments', '2020-01-01T00:00:00.500+02:00', '2019-12-31T22:00:00.5+00:00'],
  ['bytes', '/w==', '/w=='],
  ['prices', '1.5', '1.50'],
])('are the keys of hooks as items and paths have them: %s', async (name, sent, id) => {
  await data('POST', name, { id: sent });
  const path = `${name}/${encodeURIComponent(sent)}`;
  expect(await data('GET', path)).toEqual({ id, memo: id });
  expect(await data('PATCH', path, { memo: null })).toEqual({ id, memo: JSON.stringify([id]) });
});

it('lead from the history to what a role may read', async () => {
  await data('POST', 'noted', [
    { id: ['a', 'b,"c'], n: 1 },
    { id: ['hidden'], n: 10 },
  ]);
  const { json } = await project.ask('/revisions?fields=item,data', { token });
  expect(json.data).toEqual([{ item: segment(['a', 'b,"c']), data: { id: ['a', 'b,"c'] } }]);
});

const place = { place: pair, price: '1.50', big: '12', tags: ['a"b', null], note: 'é\n' };
const empty = { place: null, price: null, big: null, tags: null, note: null };

it('lead from the history to what a role may read where they are composite values', async () => {
  for (const [index, at] of [place, empty].entries()) {
    await data('POST', 'spots', { at, n: index });
    await data('POST', 'rows', { at, day: '2026-01-02', about: { b: 1, a: [1.0] }, n: index });
    await data('POST', 'spots', { at: { ...at, note: 'hidden' }, n: 9 });
    await data('POST', 'rows', { at, day: '2026-01-03', about: 1, n: 9 });
  }
  const told = async (path: string) => (await project.ask(path, { token })).json.data;
  const stored = await data('GET', 'spots?filter[n][_lt]=9&sort=n&fields=at');
  expect(await told('/revisions?filter[collection]=spots&fields=data&sort=id')).toEqual(
    stored.map((one: unknown) => ({ data: one })),
  );
  expect(await told('/revisions?filter[collection]=rows&fields=data&sort=id')).toEqual([
    { data: { n: 0 } },
    { data: { n: 1 } },
  ]);
});

it('are the ids of GraphQL in the form of a path', async () => {
  await data('POST', 'pairs', [
    { id: { n: 8, t: null }, name: 'one' },
    { id: { n: 9, t: '.' }, name: 'two' },
  ]);
  const ids = ['{"n":8,"t":null}', '{"t":".","n":9}'];
  const query = `mutation ($a: ID!, $b: ID!) {
    update_pairs_item(id: $a, data: { name: "ONE" }) { id { n } name }
    update_pairs_items(ids: [$b], data: { name: "TWO" }) { id { t } name }
    delete_pairs_items(ids: [$a, $b]) { ids } }`;
  const read = 'query ($a: ID!, $b: ID!) { a: pairs_by_id(id: $a) { name } b: pairs_by_id(id: $b) { name } }';
  const ask = async (text: string) => {
    const body = { query: text, variables: { a: ids[0], b: ids[1] } };
    return (await project.admin('/graphql', { method: 'POST', body })).json;
  };
  expect(await ask(read)).toEqual({ data: { a: { name: 'one' }, b: { name: 'two' } } });
  expect(await ask(query)).toEqual({
    data: {
      update_pairs_item: { id: { n: 8 }, name: 'ONE' },
      update_pairs_items: [{ id: { t: '.' }, name: 'TWO' }],
      delete_pairs_items: { ids },
    },
  });
});

it('that cannot be keys are answered like those of no item', async () => {
  const wrong = ['[1', '[1,"x"]', '{}', '1', 'null', '[]', '[[1],[2,3]]', '{"n":1}'];
  for (const text of wrong) {
    for (const name of ['parents', 'pairs']) {
      const one = await project.admin(`/items/${name}/${encodeURIComponent(text)}`);
      const many = await project.admin(`/items/${name}`, { method: 'PATCH', body: { keys: [text], data: {} } });
      expect([name, text, one.status, many.status]).toEqual([name, text, 403, 403]);
    }
  }
});
