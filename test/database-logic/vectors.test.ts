/** Vectors of pgvector in the embedded database: values, neighbours, distances, limits and attacks. Source: docs/vectors.md. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changedRelations, readStamps } from '@tablewright/introspect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMysql } from '../../packages/cli/src/sources/mysql/source.ts';
import { file, form } from '../support/files.ts';
import { startOneLane } from '../support/lanes.ts';
import { createMysqlDatabase, withMysql } from '../support/mariadb.ts';
import { noNewMariadb, startNewMariadb, withoutNewMariadb } from '../support/new-mariadb.ts';
import { createProject, type Platform, startPlatform } from '../support/platform.ts';
import { failure } from '../support/project.ts';
import { runWarm } from '../support/warm-command.ts';

const migration = `
CREATE EXTENSION vector;
CREATE TABLE shelves (id integer PRIMARY KEY, name text NOT NULL);
INSERT INTO shelves VALUES (1, 'one'), (2, 'two');
CREATE TABLE papers (
  id integer PRIMARY KEY, title text NOT NULL, open boolean NOT NULL DEFAULT true, shelf integer REFERENCES shelves,
  embedding vector(3), small halfvec(3), plain vector
);
CREATE INDEX ON papers USING hnsw (embedding vector_l2_ops);
INSERT INTO papers VALUES
  (1, 'east', true, 1, '[1,0,0]', '[1,0,0]', '[1,0]'),
  (2, 'north', true, 1, '[0,1,0]', '[0,1,0]', '[0,1]'),
  (3, 'far east', true, 1, '[10,1,0]', '[10,1,0]', '[10,1]'),
  (4, 'secret east', false, 2, '[1,0.1,0]', '[1,0.1,0]', '[1,0.1]'),
  (5, 'nowhere', true, 2, NULL, NULL, NULL);
CREATE TABLE vaults (id integer PRIMARY KEY, embedding vector(3));
INSERT INTO vaults VALUES (1, '[1,2,3]');
CREATE TABLE many (id integer PRIMARY KEY, tenant integer NOT NULL, embedding vector(8));
`;

/** Closed papers show no embedding and no rows to readers; vaults show no embedding at all. */
const permissions = `permissions:
  public:
    shelves: { read: true }
    papers: { read: [{ fields: [id, title, shelf] }, { fields: [embedding], filter: { open: true } }] }
    vaults: { read: { fields: [id] } }
    many: { read: { fields: [id, tenant, embedding], filter: { tenant: { _eq: 3 } } } }
  local:
    papers: { read: { fields: [id], filter: { embedding: { _near: { to: [1, 0, 0], within: 0.5 } } } } }
roles: { local: {} }
`;

let project: Awaited<ReturnType<typeof createProject>>;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project?.remove());

describe('PGlite with pgvector', () => {
  let platform: Platform;
  beforeAll(async () => {
    await mkdir(join(project.folder, 'migrations'));
    await writeFile(join(project.folder, 'migrations', '0001-papers.sql'), migration + manyVectors());
    await writeFile(join(project.folder, 'permissions.yaml'), permissions);
    platform = await startPlatform(project.folder, '');
  });
  afterAll(() => platform?.stop());

  const search = (collection: string, query: object) => ({ path: `/items/${collection}`, body: { query } });
  const asAdmin = ({ path, body }: ReturnType<typeof search>) => platform.admin(path, { method: 'SEARCH', body });
  const asPublic = ({ path, body }: ReturnType<typeof search>) => platform.ask(path, { method: 'SEARCH', body });
  const found = async (near: object, more: object = {}, ask = asAdmin): Promise<unknown> => {
    const answer = await ask(search('papers', { fields: ['id'], filter: { embedding: { _near: near } }, ...more }));
    return answer.json.data?.map(({ id }: { id: number }) => id) ?? failure(answer);
  };
  const graphql = async (query: string, ask = platform.admin): Promise<{ data?: unknown; errors?: unknown }> =>
    (await ask('/graphql', { method: 'POST', body: { query } })).json;

  it('are lists of numbers, and no part of a wildcard', async () => {
    const { json } = await platform.admin('/items/papers/1');
    expect(json.data).toEqual({ id: 1, title: 'east', open: true, shelf: 1 });
    const named = await platform.admin('/items/papers/3?fields=embedding,small,plain');
    expect(named.json.data).toEqual({ embedding: [10, 1, 0], small: [10, 1, 0], plain: [10, 1] });
    const nested = await platform.admin('/items/shelves/1?fields=name,papers.embedding');
    expect(nested.json.data.papers[0]).toEqual({ embedding: [1, 0, 0] });
    expect((await platform.admin('/items/shelves/1?fields=papers.*')).json.data.papers[0]).not.toHaveProperty('plain');
  });

  it('are written, and read as they were written', async () => {
    const vectors = { embedding: [0.5, -0.25, 1e-7], small: [0.5, 2, 0], plain: [1, 2, 3, 4] };
    const body = { id: 10, title: 'new', ...vectors };
    const created = await platform.admin('/items/papers?fields=embedding,small,plain', { method: 'POST', body });
    expect(created.json.data).toEqual(vectors);
    const many = await platform.admin('/items/papers?fields=embedding', {
      method: 'POST',
      body: [11, 12].map((id) => ({ id, title: 'new', embedding: [id, 0, 0] })),
    });
    expect(many.json.data).toEqual([{ embedding: [11, 0, 0] }, { embedding: [12, 0, 0] }]);
    const updated = await platform.admin('/items/papers/10?fields=embedding', {
      method: 'PATCH',
      body: { embedding: null },
    });
    expect(updated.json.data).toEqual({ embedding: null });
    const each = await platform.admin('/items/papers?fields=title,embedding,small', {
      method: 'PATCH',
      body: [
        { id: 11, title: 'kept' },
        { id: 12, embedding: [0, 0, 1], small: [1, 2, 3] },
      ],
    });
    expect(each.json.data).toEqual([
      { title: 'kept', embedding: [11, 0, 0], small: null },
      { title: 'new', embedding: [0, 0, 1], small: [1, 2, 3] },
    ]);
    expect((await platform.admin('/items/papers', { method: 'DELETE', body: [10, 11, 12] })).status).toBe(204);
  });

  it('come back from a file of CSV as they were exported', async () => {
    const query = 'fields=id,title,embedding,small,plain&filter[id][_in]=1,5&export=csv';
    const { text } = await platform.admin(`/items/papers?${query}`);
    expect(text).toContain('1,east,"[1,0,0]","[1,0,0]","[1,0]"');
    await platform.admin('/items/papers/1', { method: 'PATCH', body: { embedding: [0, 0, 9], plain: null } });
    const body = form(file(text, 'papers.csv', 'text/csv'));
    const imported = await platform.admin('/utils/import/papers', { method: 'POST', body });
    expect([imported.status, imported.text]).toEqual([200, '']);
    expect((await platform.admin(`/items/papers?${query}`)).text).toBe(text);
  });

  it.each([
    [{ embedding: [1, 2] }, 'must have 3 numbers'],
    [{ embedding: 'no' }, 'must be a list of numbers'],
    [{ embedding: [1, '2', 3] }, 'must be a list of numbers'],
    [{ embedding: [1, 2, 1e39] }, 'out of range'],
    [{ small: [1, 2, 70_000] }, 'out of range'],
    [{ plain: [] }, 'must be a list of numbers'],
  ])('refuse to be %j', async (values, message) => {
    const answer = await platform.admin('/items/papers', { method: 'POST', body: { id: 20, title: 'x', ...values } });
    expect(failure(answer)).toMatch(/^400 (?:INVALID_PAYLOAD|FAILED_VALIDATION)$/);
    expect(answer.text).toContain(message);
  });

  it('are found near another one, by the metric of the index or the named one', async () => {
    expect(await found({ to: [1, 0, 0], within: 0.5 })).toEqual([1, 4]);
    expect(await found({ to: [1, 0, 0], within: 0.01, metric: 'cosine' }, { sort: ['id'] })).toEqual([1, 3, 4]);
    expect(await found({ to: [1, 0, 0], within: -5, metric: 'inner' })).toEqual([3]);
    expect(await found({ to: [1, 0, 0], within: 2, metric: 'l1' }, { sort: ['id'] })).toEqual([1, 2, 4]);
    const small = search('papers', {
      fields: ['id'],
      filter: { small: { _near: { to: [10, 1, 0], within: 0.000001 } } },
    });
    expect((await asAdmin(small)).json.data).toEqual([{ id: 3 }, { id: 4 }]);
    const related = {
      fields: ['id'],
      filter: { papers: { _some: { embedding: { _near: { to: [1, 0, 0], within: 0.05 } } } } },
    };
    expect((await asAdmin(search('shelves', related))).json.data).toEqual([{ id: 1 }]);
  });

  it('only order without a distance: the nearest first, rows without a vector left out', async () => {
    expect(await found({ to: [1, 0, 0] })).toEqual([1, 4, 2, 3]);
    expect(await found({ to: [1, 0, 0], metric: 'cosine' }, { limit: 2 })).toEqual([1, 4]);
    expect(await found({ to: [1, 0, 0] }, { limit: 2, offset: 2 })).toEqual([2, 3]);
    expect(await found({ to: [1, 0, 0] }, { sort: ['-id'] })).toEqual([4, 3, 2, 1]);
    const query = 'filter[embedding][_near][to]=1,0,0&filter[embedding][_near][metric]=l2&limit=1';
    expect((await platform.admin(`/items/papers?fields=id&${query}`)).json.data).toEqual([{ id: 1 }]);
    const bounded = `${query}&filter[embedding][_near][within]=0.05&sort=distance(embedding)`;
    expect((await platform.admin(`/items/papers?fields=id,distance(embedding)&${bounded}`)).json.data).toEqual([
      { id: 1, embedding_distance: 0 },
    ]);
    expect(failure(await platform.admin(`/items/papers?cursor=&${query}`))).toBe('400 INVALID_QUERY');
    expect((await platform.admin(`/items/papers?fields=id&cursor=&sort=-id&${query}`)).json.data).toEqual([{ id: 4 }]);
    for (const limit of [-1, 1_001]) expect(await found({ to: [1, 0, 0] }, { limit })).toBe('400 INVALID_QUERY');
    expect(await found({ to: [1, 0, 0], within: 1e6 }, { limit: -1 })).toHaveLength(4);
  });

  it('have a distance in fields and sort, also in lists within items', async () => {
    const filter = { embedding: { _near: { to: [0, 1, 0], within: 20 } } };
    const query = { fields: ['id', 'distance(embedding)'], sort: ['-distance(embedding)'], filter };
    const { json } = await asAdmin(search('papers', query));
    expect(json.data.map(({ id }: { id: number }) => id)).toEqual([3, 1, 4, 2]);
    expect(json.data.at(-1)).toEqual({ id: 2, embedding_distance: 0 });
    const deep = { papers: { _filter: { embedding: { _near: { to: [0, 1, 0] } } }, _limit: 2 } };
    const nested = { fields: ['papers.id', 'papers.distance(embedding)'], filter: { id: 1 }, deep };
    expect((await asAdmin(search('shelves', nested))).json.data).toEqual([
      {
        papers: [
          { id: 2, embedding_distance: 0 },
          { id: 1, embedding_distance: expect.closeTo(Math.SQRT2, 5) },
        ],
      },
    ]);
    const unlimited = { ...nested, deep: { papers: { ...deep.papers, _limit: -1 } } };
    expect(failure(await asAdmin(search('shelves', unlimited)))).toBe('400 INVALID_QUERY');
    for (const path of [
      'fields=distance(embedding)',
      'sort=distance(embedding)',
      'sort=embedding',
      'fields=count(embedding)',
    ])
      expect(failure(await platform.admin(`/items/papers?${path}`)), path).toBe('400 INVALID_QUERY');
  });

  it.each([
    { to: [1, 0] },
    { to: [1, 0, 0, 0] },
    { to: [1, 'x', 0] },
    { to: [0, 0, 0], metric: 'cosine' },
    { to: [1, 0, 0], metric: 'hamming' },
    { to: [1, 0, 0], within: -1 },
    { to: [1, 0, 0], within: 'x' },
    { to: [1, 0, 0], also: 1 },
    { to: null },
    { within: 1 },
    {},
    [1, 0, 0],
    '$CURRENT_USER',
  ])('refuse the neighbour %j', async (near) => {
    expect(await found(near as object)).toBe('400 INVALID_QUERY');
  });

  it('answer the same over GraphQL', async () => {
    const near = '{ embedding: { _near: { to: [1, 0, 0], within: 0.5 } } }';
    const { data } = await graphql(
      `{ papers(filter: ${near}, sort: ["distance(embedding)"]) { id embedding embedding_func { distance } } }`,
    );
    expect(data).toEqual({
      papers: [
        { id: 1, embedding: [1, 0, 0], embedding_func: { distance: 0 } },
        { id: 4, embedding: [1, 0.1, 0], embedding_func: { distance: expect.closeTo(0.1, 5) } },
      ],
    });
    const ordered = await graphql('{ papers(filter: { embedding: { _near: { to: [1, 0, 0] } } }, limit: 2) { id } }');
    expect(ordered.data).toEqual({ papers: [{ id: 1 }, { id: 4 }] });
    const unlimited = await graphql(
      '{ papers(filter: { embedding: { _near: { to: [1, 0, 0] } } }, limit: -1) { id } }',
    );
    expect(JSON.stringify(unlimited.errors)).toContain('INVALID_QUERY');
    const created = await graphql(
      'mutation { create_papers_item(data: { id: 30, title: "g", embedding: [1, 2, 3] }) { embedding } }',
    );
    expect(created).toEqual({ data: { create_papers_item: { embedding: [1, 2, 3] } } });
    await platform.admin('/items/papers/30', { method: 'DELETE' });
  });

  it('are described in the OpenAPI document and in clients', async () => {
    const { json } = await platform.admin('/server/specs/oas');
    const text = JSON.stringify(json);
    expect(text).toContain('"VectorCondition"');
    expect(text).toContain('{"type":["array","null"],"items":{"type":"number"},"minItems":3,"maxItems":3}');
  });

  describe('attacks', () => {
    it('find and measure no vector that a rule hides', async () => {
      const near = { to: [1, 0.1, 0], within: 0.01 };
      expect(await found(near, {}, asAdmin)).toEqual([4]);
      expect(await found(near, {}, asPublic)).toEqual([]);
      expect(await found({ to: [1, 0.1, 0] }, {}, asPublic)).toEqual([1, 2, 3]);
      const either = { _or: [{ id: 4 }, { embedding: { _near: { to: [1, 0.1, 0], within: 0.5 } } }] };
      const query = { fields: ['id', 'distance(embedding)', 'embedding'], filter: either, sort: ['id'] };
      const hidden = { id: 4, embedding_distance: null, embedding: null };
      expect((await asPublic(search('papers', query))).json.data.at(-1)).toEqual(hidden);
      const sorted = await asPublic(search('papers', { ...query, sort: ['distance(embedding)'] }));
      expect(sorted.json.data.at(-1)).toEqual(hidden);
    });

    it('tell of a hidden vector what they tell of an unknown one', async () => {
      const near = { _near: { to: [1, 2, 3] } };
      for (const query of [
        (name: string) => ({ filter: { [name]: near } }),
        (name: string) => ({ fields: [`distance(${name})`], filter: { id: 1 } }),
        (name: string) => ({ sort: [`distance(${name})`] }),
        (name: string) => ({ fields: [name] }),
        (name: string) => ({
          fields: ['id'],
          filter: { _or: [{ id: 1 }, { [name]: near }] },
          sort: [`distance(${name})`],
        }),
      ]) {
        const [hidden, unknown] = await Promise.all(
          ['embedding', 'embeddings'].map((name) => asPublic(search('vaults', query(name)))),
        );
        expect(failure(hidden ?? { status: 0, json: {} })).toBe('403 FORBIDDEN');
        expect(hidden?.text).toBe(unknown?.text);
      }
    });

    it('bring no text of a request into SQL', async () => {
      for (const near of [
        { to: "[1,2,3]'); DROP TABLE papers; --" },
        { to: [1, 2, 3], metric: "cosine') --" },
        { to: [1, 2, 3], metric: '__proto__' },
        { to: [1, 2, 3], within: "1') OR true --" },
      ])
        expect(await found(near)).toBe('400 INVALID_QUERY');
      expect(await found({ to: [1, 0, 0] }, {}, asAdmin)).toHaveLength(4);
    });
  });

  it('are found under a rule that hides nine of ten rows: recall, at least 95 of 100', async () => {
    let hits = 0;
    const questions = 10;
    for (let question = 0; question < questions; question++) {
      const to = vectorOf(100_000 + question);
      const nearest = Array.from({ length: rows }, (_, id) => id)
        .filter((id) => id % 10 === 3)
        .sort((left, right) => cosine(vectorOf(left), to) - cosine(vectorOf(right), to))
        .slice(0, 50);
      const query = { fields: ['id'], filter: { embedding: { _near: { to } } }, limit: 50 };
      const answer = await asPublic(search('many', query));
      expect(answer.status, answer.text).toBe(200);
      const ids = answer.json.data.map(({ id }: { id: number }) => id);
      expect(ids).toHaveLength(50);
      hits += nearest.filter((id) => ids.includes(id)).length;
    }
    expect(hits / (50 * questions)).toBeGreaterThanOrEqual(0.95);
  });
});

/** Commands open the embedded database themselves, once no server has it open any more. */
it('are told by commands as other fields are', async () => {
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await runWarm([...args, '--project', project.folder]);
    expect([0, 1], stderr).toContain(code);
    return stdout + stderr;
  };
  await run('generate');
  expect(await run('can', 'public', 'read', 'papers')).toContain('embedding');
  expect(await run('explain', 'GET /items/papers?filter[embedding][_near][to]=1,0,0', '--as', 'public')).toContain(
    '<->',
  );
  const neighbours = `GET /items/many?limit=20&filter[embedding][_near][to]=${vectorOf(1)}`;
  expect(await run('explain', neighbours, '--as', 'public')).toContain('many_embedding_idx');
}, 240_000);

describe.skipIf(noNewMariadb)(`MariaDB of the newest release${withoutNewMariadb}`, () => {
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    const vector = (text: string): string => `VEC_FromText('${text}')`;
    const sql = `CREATE TABLE shelves (id int PRIMARY KEY, name text NOT NULL); INSERT INTO shelves VALUES (1, 'one'), (2, 'two');
      CREATE TABLE papers (id int PRIMARY KEY, title text NOT NULL, open boolean NOT NULL DEFAULT true, shelf int REFERENCES shelves (id),
        embedding vector(3) NOT NULL, plain vector(3), VECTOR INDEX (embedding) DISTANCE=euclidean);
      INSERT INTO papers VALUES (1, 'east', true, 1, ${vector('[1,0,0]')}, ${vector('[1,0,0]')}),
        (2, 'north', true, 1, ${vector('[0,1,0]')}, ${vector('[0,1,0]')}),
        (3, 'far east', true, 1, ${vector('[10,1,0]')}, NULL),
        (4, 'secret east', false, 2, ${vector('[1,0.1,0]')}, ${vector('[1,0.1,0]')});
      CREATE TABLE vaults (id int PRIMARY KEY, embedding vector(3)); INSERT INTO vaults VALUES (1, ${vector('[1,2,3]')});`;
    project = await createProject();
    await writeFile(
      join(project.folder, 'permissions.yaml'),
      `permissions:
  public:
    shelves: { read: true }
    papers: { read: [{ fields: [id, title, shelf] }, { fields: [embedding], filter: { open: true } }] }
    vaults: { read: { fields: [id] } }\n`,
    );
    const databaseUrl = await createMysqlDatabase(await startNewMariadb(), sql);
    platform = await startOneLane({ folder: project.folder, databaseUrl });
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  const ask = (query: object, caller: 'admin' | 'ask' = 'admin', collection = 'papers') =>
    platform[caller](`/items/${collection}`, { method: 'SEARCH', body: { query } });
  const found = async (near: object, more: object = {}, caller: 'admin' | 'ask' = 'admin'): Promise<unknown> => {
    const answer = await ask({ fields: ['id'], filter: { embedding: { _near: near } }, ...more }, caller);
    return answer.json.data?.map(({ id }: { id: number }) => id) ?? failure(answer);
  };

  it('has vectors that are read and written', async () => {
    expect((await platform.admin('/items/papers/3?fields=embedding,plain')).json.data).toEqual({
      ...{ embedding: [10, 1, 0], plain: null },
    });
    const vectors = { embedding: [0.5, -0.25, 1e-7], plain: [1, 2, 3] };
    const body = { id: 10, title: 'new', ...vectors };
    const created = await platform.admin('/items/papers?fields=embedding,plain', { method: 'POST', body });
    expect(created.json.data).toEqual(vectors);
    const changed = { method: 'PATCH', body: { plain: null } };
    expect((await platform.admin('/items/papers/10?fields=plain', changed)).json.data).toEqual({ plain: null });
    const refused = { method: 'POST', body: { id: 11, title: 'x', embedding: [1, 2] } };
    expect(failure(await platform.admin('/items/papers', refused))).toBe('400 INVALID_PAYLOAD');
    expect((await platform.admin('/items/papers/10', { method: 'DELETE' })).status).toBe(204);
  });

  it('finds neighbours by the metric of the index, or the named one', async () => {
    expect(await found({ to: [1, 0, 0], within: 0.5 })).toEqual([1, 4]);
    expect(await found({ to: [1, 0, 0], within: 0.01, metric: 'cosine' }, { sort: ['id'] })).toEqual([1, 3, 4]);
    expect(await found({ to: [1, 0, 0] })).toEqual([1, 4, 2, 3]);
    expect(await found({ to: [1, 0, 0] }, { limit: 2, offset: 2 })).toEqual([2, 3]);
    expect((await ask({ fields: ['id'], filter: { plain: { _near: { to: [1, 0, 0] } } } })).json.data).toEqual([
      ...[{ id: 1 }, { id: 4 }, { id: 2 }],
    ]);
    for (const refused of [{ metric: 'inner' }, { metric: 'l1' }, { to: [1, 0] }, { within: -1 }])
      expect(await found({ to: [1, 0, 0], ...refused })).toBe('400 INVALID_QUERY');
    for (const limit of [-1, 1_001]) expect(await found({ to: [1, 0, 0] }, { limit })).toBe('400 INVALID_QUERY');
  });

  it('measures distances, in lists within items and in GraphQL as well', async () => {
    const filter = { embedding: { _near: { to: [0, 1, 0], within: 20 } } };
    const query = { fields: ['id', 'distance(embedding)'], sort: ['-distance(embedding)'], filter };
    const { json } = await ask(query);
    expect(json.data.map(({ id }: { id: number }) => id)).toEqual([3, 1, 4, 2]);
    expect(json.data.at(-1)).toEqual({ id: 2, embedding_distance: 0 });
    const deep = { papers: { _filter: { embedding: { _near: { to: [0, 1, 0] } } }, _limit: 2 } };
    const nested = { fields: ['papers.id'], filter: { id: 1 }, deep };
    expect((await ask(nested, 'admin', 'shelves')).json.data).toEqual([{ papers: [{ id: 2 }, { id: 1 }] }]);
    const text =
      '{ papers(filter: { embedding: { _near: { to: [1, 0, 0] } } }, limit: 1) { embedding embedding_func { distance } } }';
    const answer = await platform.admin('/graphql', { method: 'POST', body: { query: text } });
    expect(answer.json.data).toEqual({ papers: [{ embedding: [1, 0, 0], embedding_func: { distance: 0 } }] });
  });

  it('has marks that change with the distance of an index', async () => {
    const url = await createMysqlDatabase(
      await startNewMariadb(),
      'CREATE TABLE papers (id int PRIMARY KEY, embedding vector(3) NOT NULL, VECTOR INDEX near (embedding))',
    );
    const source = await openMysql(url, false);
    const before = await readStamps('mariadb', source.run);
    expect(changedRelations(before, await readStamps('mariadb', source.run))).toBeNull();
    const changed = 'ALTER TABLE papers DROP INDEX near, ADD VECTOR INDEX near (embedding) DISTANCE=cosine';
    await withMysql(url, (connection) => connection.query(changed));
    const name = JSON.stringify([new URL(url).pathname.slice(1), 'papers']);
    expect(changedRelations(before, await readStamps('mariadb', source.run))).toEqual(new Set([name]));
    await source.close();
  });

  it('finds and measures no vector that a rule hides', async () => {
    expect(await found({ to: [1, 0.1, 0], within: 0.01 }, {}, 'ask')).toEqual([]);
    expect(await found({ to: [1, 0.1, 0] }, {}, 'ask')).toEqual([1, 2, 3]);
    const either = { _or: [{ id: 4 }, { embedding: { _near: { to: [1, 0.1, 0], within: 0.5 } } }] };
    const query = { fields: ['id', 'distance(embedding)', 'embedding'], filter: either, sort: ['id'] };
    expect((await ask(query, 'ask')).json.data.at(-1)).toEqual({ id: 4, embedding_distance: null, embedding: null });
    const near = { _near: { to: [1, 2, 3] } };
    const [hidden, unknown] = await Promise.all(
      ['embedding', 'embeddings'].map((name) => ask({ filter: { [name]: near } }, 'ask', 'vaults')),
    );
    expect([failure(hidden ?? { status: 0, json: {} }), hidden?.text]).toEqual(['403 FORBIDDEN', unknown?.text]);
  });
});

const rows = 6_000;

/** Numbers of a row that look random, the same each time. */
function vectorOf(id: number): readonly number[] {
  let state = id * 2_654_435_761 + 12_345;
  return Array.from({ length: 8 }, () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) | 0;
    return Math.round(((state >>> 8) / 2 ** 23 - 1) * 1_000) / 1_000;
  });
}

function cosine(left: readonly number[], right: readonly number[]): number {
  const product = (one: readonly number[], other: readonly number[]): number =>
    one.reduce((sum, number, index) => sum + number * (other[index] ?? 0), 0);
  return 1 - product(left, right) / Math.sqrt(product(left, left) * product(right, right));
}

function manyVectors(): string {
  const values = Array.from({ length: rows }, (_, id) => `(${id}, ${id % 10}, '[${vectorOf(id)}]')`);
  return `INSERT INTO many VALUES ${values.join(', ')};
    CREATE INDEX ON many USING hnsw (embedding vector_cosine_ops); ANALYZE many;`;
}
