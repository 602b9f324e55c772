/** Views that are written: by triggers in place of the write, and under a check of the view on every server. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { servers } from '../support/servers.ts';

describe('triggers in place of a write', () => {
  let project: ServedProject;
  beforeAll(async () => {
    project = await serveProject({
      sql: `CREATE TABLE names (id integer PRIMARY KEY, name text NOT NULL);
        CREATE TABLE cities (id integer PRIMARY KEY REFERENCES names ON DELETE CASCADE, city text);
        INSERT INTO names VALUES (1, 'Ann'), (2, 'Ben');
        INSERT INTO cities VALUES (1, 'Ghent'), (2, 'Paris');
        CREATE VIEW people AS SELECT n.id, n.name, c.city, upper(n.name) AS loud FROM names n JOIN cities c USING (id);
        CREATE VIEW readers AS SELECT n.id, n.name FROM names n JOIN cities c USING (id);
        CREATE VIEW changed AS SELECT n.id, n.name FROM names n JOIN cities c USING (id);
        CREATE FUNCTION write_people() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF TG_OP = 'DELETE' THEN DELETE FROM names WHERE id = OLD.id; RETURN OLD; END IF;
          IF NEW.city = 'Nowhere' THEN RAISE EXCEPTION 'no such city'; END IF;
          IF TG_OP = 'INSERT' THEN
            INSERT INTO names VALUES (NEW.id, NEW.name);
            INSERT INTO cities VALUES (NEW.id, NEW.city);
          ELSE
            UPDATE names SET name = NEW.name WHERE id = OLD.id;
            UPDATE cities SET city = NEW.city WHERE id = OLD.id;
          END IF;
          RETURN NEW; END $$;
        CREATE FUNCTION write_name() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          UPDATE names SET name = NEW.name WHERE id = OLD.id; RETURN NEW; END $$;
        CREATE TRIGGER write INSTEAD OF INSERT OR UPDATE OR DELETE ON people FOR EACH ROW EXECUTE FUNCTION write_people();
        CREATE TRIGGER write INSTEAD OF UPDATE ON changed FOR EACH ROW EXECUTE FUNCTION write_name();
        CREATE VIEW keyless AS SELECT n.id, n.name FROM names n JOIN cities c USING (id);
        CREATE TRIGGER write INSTEAD OF UPDATE ON keyless FOR EACH ROW EXECUTE FUNCTION write_name();`,
      config: "{ collections: { people: { key: ['id'] }, readers: { key: ['id'] }, changed: { key: ['id'] } } }",
      permissions: `roles: { editor: {} }
permissions:
  public:
    people: { read: { fields: [id, name], filter: { city: { _eq: Ghent } } }, update: { fields: [name], filter: { city: { _eq: Ghent } } } }
`,
    });
  });
  afterAll(() => project?.close());

  const write = (path: string, method: string, body?: object) =>
    project.admin(`/items/${path}`, { method, ...(body && { body }) });

  it('make, change and delete items over REST and GraphQL', async () => {
    const made = await write('people', 'POST', { id: 3, name: 'Cid', city: 'Bonn' });
    expect([made.status, made.json.data]).toEqual([200, { id: 3, name: 'Cid', city: 'Bonn', loud: 'CID' }]);
    const changed = await write('people/3', 'PATCH', { city: 'Rome' });
    expect([changed.status, changed.json.data?.city]).toEqual([200, 'Rome']);
    const body = { query: 'mutation { update_people_item(id: 3, data: { name: "Dan" }) { name city loud } }' };
    const { json } = await project.admin('/graphql', { method: 'POST', body });
    expect(json.data).toEqual({ update_people_item: { name: 'Dan', city: 'Rome', loud: 'DAN' } });
    expect((await write('people/3', 'DELETE')).status).toBe(204);
    expect(await project.rows('SELECT id FROM names ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('allow what they do, and nothing else', async () => {
    const changed = await write('changed/2', 'PATCH', { name: 'Bea' });
    expect([changed.status, changed.json.data]).toEqual([200, { id: 2, name: 'Bea' }]);
    expect((await write('changed', 'POST', { id: 9, name: 'x' })).status).toBeGreaterThanOrEqual(400);
    expect((await write('readers/1', 'PATCH', { name: 'x' })).status).toBeGreaterThanOrEqual(400);
    expect(failure(await write('keyless/1', 'PATCH', { name: 'x' }))).toBe('403 FORBIDDEN');
    const { json } = await project.admin('/server/specs/oas');
    const methods = (path: string) =>
      Object.keys(json.paths[path] ?? {}).filter((method) => ['post', 'patch', 'delete'].includes(method));
    expect([methods('/items/people'), methods('/items/readers')]).toEqual([
      expect.arrayContaining(['post', 'patch', 'delete']),
      [],
    ]);
    expect(methods('/items/keyless')).toEqual([]);
  });

  it('refuse on purpose, and under the rules of the caller', async () => {
    expect(failure(await write('people', 'POST', { id: 4, name: 'x', city: 'Nowhere' }))).toMatch(
      /^4\d\d (?:FAILED_VALIDATION|UNPROCESSABLE_ENTITY)$/,
    );
    const own = await project.ask('/items/people/1', { method: 'PATCH', body: { name: 'Eve' } });
    expect([own.status, own.json.data]).toEqual([200, { id: 1, name: 'Eve' }]);
    expect(failure(await project.ask('/items/people/2', { method: 'PATCH', body: { name: 'x' } }))).toBe(
      '403 FORBIDDEN',
    );
    expect(failure(await project.ask('/items/people/1', { method: 'PATCH', body: { city: 'x' } }))).toBe(
      '403 FORBIDDEN',
    );
  });
});

const checked = `CREATE TABLE articles (id int PRIMARY KEY, title varchar(40), rank_ int);
  INSERT INTO articles VALUES (1, 'one', 1), (2, 'two', 50);
  CREATE VIEW small AS SELECT id, title, rank_ FROM articles WHERE rank_ < 10 WITH CHECK OPTION;
  CREATE VIEW tiny AS SELECT id, title, rank_ FROM small WHERE rank_ < 5 WITH CASCADED CHECK OPTION;`;

const worlds = [
  { name: 'PostgreSQL', missing: false, open: async () => (await createDatabase(checked)).url },
  ...servers.map(({ name, missing, start }) => ({
    name,
    missing,
    open: async () => createMysqlDatabase(await start(), checked),
  })),
];

describe.each(worlds)('a check of a view on $name', ({ name, missing, open }) => {
  if (missing) return void it.skip('skipped: the server is not there');

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    project = await createProject();
    const text =
      "import { defineConfig } from 'tablewright/config';\nexport default defineConfig({ collections: { small: { key: ['id'] }, tiny: { key: ['id'] } } });\n";
    await writeFile(join(project.folder, 'platform.config.ts'), text);
    platform = await startHosted(project.folder, await open());
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  const write = (path: string, method: string, body: object) => platform.admin(`/items/${path}`, { method, body });

  it('is FAILED_VALIDATION, and leaves everything as it was', async () => {
    expect((await write('small/1', 'PATCH', { rank_: 7 })).status).toBe(200);
    for (const view of ['small', 'tiny']) {
      await write('small/1', 'PATCH', { rank_: 3 });
      const refused = await write(`${view}/1`, 'PATCH', { rank_: 99 });
      expect([view, failure(refused)]).toEqual([view, '400 FAILED_VALIDATION']);
      expect(refused.json.errors[0].extensions).toMatchObject({ type: 'check', collection: view });
      expect((await platform.admin('/items/articles/1')).json.data).toEqual({ id: 1, title: 'one', rank_: 3 });
    }
    const body = { query: 'mutation { update_small_item(id: 1, data: { rank_: 99 }) { id } }' };
    const { json } = await platform.admin('/graphql', { method: 'POST', body });
    expect(json.errors[0].extensions.code).toBe('FAILED_VALIDATION');
  });

  it('is told of the view among other mutations, although the server names no table', async () => {
    const query =
      'mutation { update_articles_item(id: 2, data: { title: "2" }) { id } update_small_item(id: 1, data: { rank_: 99 }) { id } }';
    const { json } = await platform.admin('/graphql', { method: 'POST', body: { query } });
    const extensions = expect.objectContaining({ code: 'FAILED_VALIDATION', collection: 'small' });
    expect(json.errors).toEqual([expect.objectContaining({ path: ['update_small_item'], extensions })]);
    expect((await platform.admin('/items/articles/2?fields=title')).json.data).toEqual({ title: 'two' });
  });

  it('judges new items, where the server tells that there can be any', async () => {
    const refused = await write('small', 'POST', { id: 3, title: 'three', rank_: 99 });
    if (name !== 'PostgreSQL') return expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(failure(refused)).toBe('400 FAILED_VALIDATION');
    expect((await write('small', 'POST', { id: 3, title: 'three', rank_: 9 })).status).toBe(200);
  });
});
