/** Objects that name related items by nothing but their keys: they cost what the key costs, and mean what they meant. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isOnMariadb } from '../support/contract-database.ts';
import { whileHeld } from '../support/holding.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';

/** Known while the file is read: what stands within `describe` runs later. */
const mariadb = isOnMariadb();

const sql = `
  CREATE TABLE authors (id integer PRIMARY KEY, name varchar(20) NOT NULL, hidden boolean NOT NULL DEFAULT false);
  CREATE TABLE moods (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE secrets (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE posts (
    id integer PRIMARY KEY, title varchar(20) NOT NULL UNIQUE, author_id integer REFERENCES authors,
    mood_id integer REFERENCES moods, secret_id integer REFERENCES secrets, parent_id integer REFERENCES posts,
    locked boolean NOT NULL DEFAULT false);
`;

const permissions = `
permissions:
  public:
    authors:
      read: { fields: [id, name], filter: { hidden: { _eq: false } } }
      update: { fields: [name], filter: { id: { _eq: 4711 } } }
    moods:
      read: true
      create: { fields: [id, name], validation: { id: { _lt: 100 } } }
    posts:
      read: true
      create: { fields: [id, title, author_id, mood_id, secret_id, parent_id], validation: { title: { _neq: bad } } }
      update: { fields: [title, author_id, mood_id], filter: { locked: { _eq: false } } }
`;

describe.each([
  { name: 'without history', parts: { portable: true as const } },
  { name: 'with history', parts: { system: true as const } },
])('$name', ({ parts }) => {
  let project: ServedProject;
  let next = 0;
  beforeAll(async () => {
    project = await serveProject({ ...parts, sql, permissions, disturbed: true });
  });
  beforeEach(async () => {
    await project.rows(`
      UPDATE posts SET parent_id = NULL;
      DELETE FROM posts; DELETE FROM authors; DELETE FROM moods; DELETE FROM secrets;
      INSERT INTO authors VALUES (1, 'Ann', false), (2, 'Hid', true), (3, 'Cid', false);
      INSERT INTO moods VALUES (1, 'gay'), (2, 'sad');
      INSERT INTO secrets VALUES (1, 'one');
      INSERT INTO posts (id, title, locked) VALUES (1, 'one', false), (2, 'two', false), (3, 'three', true)`);
  });
  afterAll(() => project?.close());

  type Sender = 'admin' | 'ask';
  const send = (method: string, path: string, body: unknown, as: Sender = 'admin') =>
    project[as](`/items/${path}`, { method, body });
  const post = (body: unknown, as: Sender = 'admin') => send('POST', 'posts', body, as);
  const graphql = (query: string, as: Sender = 'admin') => project[as]('/graphql', { method: 'POST', body: { query } });
  const stored = () =>
    project.cells('SELECT id, title, author_id, mood_id, parent_id FROM posts WHERE id > 3 ORDER BY id');
  const item = (fields: object) => ({ id: ++next + 100, title: `t${next}`, ...fields });

  async function statementsOf(run: () => Promise<{ readonly status: number; readonly text: string }>): Promise<number> {
    await run();
    project.statements.reset();
    const { status, text } = await run();
    expect([status, text]).toEqual([200, expect.not.stringContaining('errors')]);
    return project.statements.executed();
  }

  describe.each<[string, (author: unknown) => Promise<{ readonly status: number; readonly text: string }>]>([
    ['a create', (author) => post(item({ author_id: author, mood_id: author }))],
    ['a create under rules', (author) => post(item({ author_id: author }), 'ask')],
    ['a create of twenty', (author) => post(Array.from({ length: 20 }, () => item({ author_id: author })))],
    ['an update', (author) => send('PATCH', 'posts/1', { author_id: author })],
    ['an update of several', (author) => send('PATCH', 'posts', { keys: [1, 2], data: { author_id: author } })],
    [
      'an update of each',
      (author) =>
        send('PATCH', 'posts', [
          { id: 1, author_id: author },
          { id: 2, title: 'zwei' },
        ]),
    ],
    [
      'an answer with the linked item',
      (author) => send('POST', 'posts?fields=id,author_id.name', item({ author_id: author })),
    ],
  ])('%s', (_, run) => {
    it.skipIf(mariadb)('takes as many statements as with the key', async () => {
      expect(await statementsOf(() => run({ id: 1 }))).toBe(await statementsOf(() => run(1)));
    });

    it('answers the same', async () => {
      const plain = await run(1);
      await project.rows('DELETE FROM posts WHERE id > 3');
      const object = await run({ id: 1 });
      const numbers = (text: string) => text.replaceAll(/\b\d{3}\b|"t\d+"/g, '#');
      expect([object.status, numbers(object.text)]).toEqual([plain.status, numbers(plain.text)]);
    });
  });

  it.skipIf(mariadb)('a mutation takes as many statements as a request', async () => {
    const mutation = () => {
      const { id, title } = item({});
      return graphql(
        `mutation { create_posts_item(data: { id: ${id}, title: "${title}", author_id: { id: 1 } }) { id title } }`,
      );
    };
    const request = () => send('POST', 'posts?fields=id,title', item({ author_id: 1 }));
    expect(await statementsOf(mutation)).toBe(await statementsOf(request));
    const change = () => graphql('mutation { update_posts_item(id: 1, data: { author_id: { id: 3 } }) { id title } }');
    const patch = () => send('PATCH', 'posts/1?fields=id,title', { author_id: 3 });
    expect(await statementsOf(change)).toBe(await statementsOf(patch));
  });

  it('links to items that are not there make them, or fail as making them does', async () => {
    expect((await post({ id: 9, title: 'made', mood_id: { id: 50 } })).status).toBe(200);
    expect(await project.cells('SELECT id, name FROM moods WHERE id > 2')).toEqual([[50, null]]);
    const nameless = await post({ id: 10, title: 'x', author_id: { id: 99 } });
    expect([failure(nameless), nameless.json.errors[0].extensions]).toEqual([
      '400 FAILED_VALIDATION',
      expect.objectContaining({ collection: 'authors', field: 'author_id.name', type: 'required' }),
    ]);
    expect(failure(await post({ id: 10, title: 'x', author_id: { id: 99 } }, 'ask'))).toBe('403 FORBIDDEN');
    expect(failure(await post({ id: 10, title: 'x', mood_id: { id: 200 } }, 'ask'))).toBe('400 FAILED_VALIDATION');
    expect((await post({ id: 11, title: 'ask', mood_id: { id: 60 } }, 'ask')).status).toBe(200);
    expect(await stored()).toEqual([
      [9, 'made', null, 50, null],
      [11, 'ask', null, 60, null],
    ]);
  });

  it('one item of many may make what it links, and the others link what is there', async () => {
    const items = [{ id: 1 }, { id: 51 }, 2, null, { id: 51 }, { id: 2 }];
    const posts = items.map((mood, index) => ({ id: 10 + index, title: `m${index}`, mood_id: mood }));
    expect((await post(posts)).status).toBe(200);
    expect((await stored()).map((cells) => cells[3])).toEqual([1, 51, 2, null, 51, 2]);
    expect((await post(posts.slice(0, 1).map((one) => ({ ...one, id: 20, title: 'last' })))).status).toBe(200);
  });

  it('links to items that the caller may not see are refused, and leave nothing', async () => {
    const refused = [
      post({ id: 9, title: 'x', author_id: { id: 2 } }, 'ask'),
      post(
        [
          { id: 9, title: 'x', author_id: { id: 1 } },
          { id: 10, title: 'y', author_id: { id: 2 } },
        ],
        'ask',
      ),
      post({ id: 9, title: 'x', secret_id: { id: 1 } }, 'ask'),
      post({ id: 9, title: 'x', secret_id: { id: 2 } }, 'ask'),
      post({ id: 9, title: 'x', author_id: { id: 'none' } }, 'ask'),
      send('PATCH', 'posts/1', { author_id: { id: 2 } }, 'ask'),
      send('PATCH', 'posts', { keys: [1, 2], data: { author_id: { id: 2 } } }, 'ask'),
      send('PATCH', 'posts/3', { author_id: { id: 1 } }, 'ask'),
      send('PATCH', 'posts/1', { author_id: { id: 1 }, secret_id: { id: 1 } }, 'ask'),
    ];
    for (const answer of refused) expect(failure(await answer)).toBe('403 FORBIDDEN');
    const hidden = await graphql(
      'mutation { create_posts_item(data: { id: 9, title: "x", author_id: { id: 2 } }) { id } }',
      'ask',
    );
    expect(hidden.json.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(await project.cells('SELECT id, author_id FROM posts ORDER BY id')).toEqual([
      [1, null],
      [2, null],
      [3, null],
    ]);
    expect((await post({ id: 9, title: 'x', author_id: { id: 2 } })).status).toBe(200);
  });

  it('errors of the items themselves are those of the key', async () => {
    const wrong = [
      { title: 'one' },
      { title: 'bad' },
      { title: null },
      { title: 'x'.repeat(30) },
      {},
      { title: 5 },
      { titel: 'x' },
    ];
    for (const fields of wrong) {
      const [plain, object] = [
        await post({ id: 9, ...fields, author_id: 1 }, 'ask'),
        await post({ id: 9, ...fields, author_id: { id: 1 } }, 'ask'),
      ];
      expect(object.json.errors[0].extensions).toEqual(plain.json.errors[0].extensions);
      expect([object.status, object.status >= 400]).toEqual([plain.status, true]);
    }
    // A hidden link is told before what is wrong with values.
    expect(failure(await post({ id: 9, title: null, author_id: { id: 2 } }, 'ask'))).toBe('403 FORBIDDEN');
    expect(await stored()).toEqual([]);
  });

  it('an item does not become its own parent by a key that is to come', async () => {
    expect((await post({ id: 8, title: 'below', parent_id: { id: 1 } })).status).toBe(200);
    expect(await stored()).toEqual([[8, 'below', null, null, 1]]);
    expect((await post({ id: 9, title: 'x', parent_id: { id: 10 } })).status).toBe(400);
    expect((await post({ id: 9, title: 'x', parent_id: { id: 10, title: 'y' } })).status).toBe(200);
  });

  it('an item that goes meanwhile is not linked', async () => {
    const gone = { before: 'DELETE FROM moods WHERE id = 2' };
    const answer = await whileHeld(project.database.url, gone, () => post({ id: 9, title: 'x', mood_id: { id: 2 } }));
    expect(answer.status).toBe(200);
    expect(await project.cells('SELECT id, name FROM moods WHERE id = 2')).toEqual([[2, null]]);
    const lost = { before: 'DELETE FROM authors WHERE id = 3' };
    const other = await whileHeld(project.database.url, lost, () => post({ id: 10, title: 'y', author_id: { id: 3 } }));
    expect(failure(other)).toBe('400 FAILED_VALIDATION');
    expect((await stored()).length).toBe(1);
  });

  it('requests that share a transaction get each their own answer', async () => {
    const links = Array.from({ length: 30 }, (_, n) =>
      n === 7 ? { id: 2 } : n === 19 ? { id: 99 } : { id: n % 2 === 0 ? 1 : 3 },
    );
    const answers = await Promise.all(
      links.map((author, n) => post({ id: 10 + n, title: `c${n}`, author_id: author }, 'ask')),
    );
    expect(answers.map(({ status }) => status)).toEqual(links.map((_, n) => (n === 7 || n === 19 ? 403 : 200)));
    expect((await stored()).length).toBe(28);
  });

  it('several mutations of an operation are one transaction', async () => {
    const first = 'a: create_posts_item(data: { id: 9, title: "x", mood_id: { id: 1 } }) { id }';
    const failing = 'b: create_posts_item(data: { id: 10, title: "y", author_id: { id: 99 } }) { id }';
    const making = 'c: create_posts_item(data: { id: 11, title: "z", mood_id: { id: 70 } }) { id mood_id { id } }';
    expect((await graphql(`mutation { ${first} ${failing} }`)).json.errors[0].extensions.field).toBe('author_id.name');
    expect(await stored()).toEqual([]);
    expect((await graphql(`mutation { ${making} ${first} }`)).json.data).toEqual({
      c: { id: 11, mood_id: { id: 70 } },
      a: { id: 9 },
    });
  });

  if ('system' in parts) {
    it('leaves the same activity and revisions as the key', async () => {
      const kept = async (mood: unknown) => {
        await project.rows('DELETE FROM posts WHERE id > 3');
        await project.rows('DELETE FROM platform.platform_revisions');
        await project.rows('DELETE FROM platform.platform_activity');
        await post([
          { id: 9, title: 'a', mood_id: mood },
          { id: 10, title: 'b', mood_id: mood },
        ]);
        await send('PATCH', 'posts/9', { mood_id: null });
        await send('PATCH', 'posts', { keys: [9, 10], data: { mood_id: mood } });
        return [
          await project.cells('SELECT action, collection, item FROM platform.platform_activity ORDER BY id'),
          await project.cells('SELECT collection, item, data, delta FROM platform.platform_revisions ORDER BY id'),
        ];
      };
      const plain = await kept(1);
      expect(plain[0]).toHaveLength(5);
      expect(await kept({ id: 1 })).toEqual(plain);
    });
  }
});

describe.skipIf(mariadb)('foreign keys of other kinds', () => {
  let project: ServedProject;
  beforeAll(async () => {
    project = await serveProject({
      system: true,
      sql: `
        CREATE TABLE moods (id integer PRIMARY KEY, name text);
        CREATE TABLE places (town text, street text, size integer, PRIMARY KEY (town, street));
        CREATE TABLE days (id integer PRIMARY KEY, mood integer REFERENCES moods DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE weeks (id integer PRIMARY KEY, mood integer);
        ALTER TABLE weeks ADD FOREIGN KEY (mood) REFERENCES moods NOT VALID;
        CREATE TABLE years (id integer PRIMARY KEY, mood integer REFERENCES moods);
        CREATE FUNCTION make_mood() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN INSERT INTO moods VALUES (NEW.mood) ON CONFLICT DO NOTHING; RETURN NEW; END $$;
        CREATE TRIGGER make_mood BEFORE INSERT ON years FOR EACH ROW EXECUTE FUNCTION make_mood();
        CREATE TABLE visits (
          id integer PRIMARY KEY, town text, street text, FOREIGN KEY (town, street) REFERENCES places);
        CREATE TABLE stars (
          id integer PRIMARY KEY, mood integer REFERENCES moods ON DELETE CASCADE, note text, UNIQUE (mood));
        CREATE TABLE clubs (id integer PRIMARY KEY, name text);
        CREATE TABLE people (id integer PRIMARY KEY, name text, club integer REFERENCES clubs);
        INSERT INTO clubs VALUES (1, 'open'), (2, 'closed');
        INSERT INTO people VALUES (1, 'Ann', 1), (2, 'Bob', NULL);
        INSERT INTO moods VALUES (1, 'gay'), (2, 'sad');
        INSERT INTO places VALUES ('Ulm', 'Main', 1)`,
      permissions: `
permissions:
  public:
    moods: { read: { fields: [id], filter: { name: { _eq: gay } } } }
    places: { read: { fields: '*', filter: { size: { _lt: 5 } } } }
    visits: { read: true, create: true }
    years: { read: true, create: true }
    clubs:
      read: { fields: [id, name], filter: { people: { _some: { name: { _nnull: true } } } } }
      update: { fields: [name] }
    people: { read: true, create: true, update: true }
`,
      disturbed: true,
    });
  });
  afterAll(() => project?.close());

  const post = (path: string, body: unknown, as: 'admin' | 'ask' = 'admin') =>
    project[as](`/items/${path}`, { method: 'POST', body });

  it('a later mutation does not make what an earlier one links, where the check waits for COMMIT', async () => {
    const query = `mutation {
      a: create_days_item(data: { id: 1, mood: { id: 88 } }) { id }
      b: create_moods_item(data: { id: 88, name: "late" }) { id } }`;
    const answer = await project.admin('/graphql', { method: 'POST', body: { query } });
    expect(answer.json.errors[0].extensions).toMatchObject({ code: 'FAILED_VALIDATION', type: 'unique' });
    expect(await project.cells('SELECT id FROM days')).toEqual([]);
  });

  it.each(['days', 'weeks', 'years'])('%s make and link what they made before', async (name) => {
    expect((await post(name, { id: 2, mood: { id: 1 } })).status).toBe(200);
    expect((await post(name, { id: 3, mood: { id: 40 + name.length + name.charCodeAt(0) } })).status).toBe(200);
    expect((await project.cells(`SELECT count(*)::integer FROM ${name} WHERE mood IS NOT NULL`))[0]).toEqual([2]);
  });

  it('a trigger does not make what a caller may not make', async () => {
    expect(failure(await post('years', { id: 5, mood: { id: 333 } }, 'ask'))).toBe('403 FORBIDDEN');
    expect(failure(await post('years', { id: 5, mood: { id: 2 } }, 'ask'))).toBe('403 FORBIDDEN');
    expect(await project.cells('SELECT id FROM moods WHERE id = 333')).toEqual([]);
  });

  it('an item is hidden although the link itself would show it', async () => {
    expect((await post('people', { id: 3, name: 'Cid', club: { id: 1 } }, 'ask')).status).toBe(200);
    expect(failure(await post('people', { id: 4, name: 'Dan', club: { id: 2 } }, 'ask'))).toBe('403 FORBIDDEN');
    const change = { method: 'PATCH', body: { club: { id: 2 } } };
    expect(failure(await project.ask('/items/people/2', change))).toBe('403 FORBIDDEN');
    expect(await project.cells('SELECT id FROM people WHERE club = 2')).toEqual([]);
  });

  it('keys of several fields are checked as a whole', async () => {
    const place = (town: string, street: string) => ({ [composite]: { town, street } });
    const composite = 'places';
    project.statements.reset();
    const linked = await post('visits?fields=id', { id: 1, ...place('Ulm', 'Main') }, 'ask');
    expect(linked.text).toBe('{"data":{"id":1}}');
    expect(project.statements.executed()).toBeLessThanOrEqual(5);
    expect(failure(await post('visits', { id: 2, ...place('Ulm', 'Side') }, 'ask'))).toBe('403 FORBIDDEN');
    expect((await post('visits', { id: 2, ...place('Ulm', 'Side') })).status).toBe(200);
    await project.rows("UPDATE places SET size = 9 WHERE street = 'Side'");
    expect(failure(await post('visits', { id: 3, ...place('Ulm', 'Side') }, 'ask'))).toBe('403 FORBIDDEN');
    expect(await project.cells('SELECT id, town, street FROM visits ORDER BY id')).toEqual([
      [1, 'Ulm', 'Main'],
      [2, 'Ulm', 'Side'],
    ]);
  });

  it('imports make what they link', async () => {
    const items = Array.from({ length: 3 }, (_, n) => ({ id: 10 + n, mood: { id: 1000 + n } }));
    const body = new FormData();
    body.append('file', new Blob([JSON.stringify(items)], { type: 'application/json' }), 'a.json');
    expect((await project.admin('/utils/import/stars', { method: 'POST', body })).status).toBeLessThan(300);
    expect(await project.cells('SELECT mood FROM stars ORDER BY id')).toEqual([[1000], [1001], [1002]]);
  });

  it('two items that link one where only one may are told of it', async () => {
    const taken = await post('stars', [
      { id: 20, mood: { id: 1 } },
      { id: 21, mood: { id: 1 } },
    ]);
    expect(taken.json.errors[0].extensions).toMatchObject({ type: 'unique', field: 'mood' });
    expect(await project.cells('SELECT id FROM stars WHERE id >= 20')).toEqual([]);
  });
});
