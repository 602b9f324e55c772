/** Soft delete: DELETE archives, reads pass over archived items at every level, and those who may see them ask for them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';
import { runWarm } from '../support/warm-command.ts';

const roles = { editor: 'a1', reader: 'a2', remover: 'a3' } as const;
type Role = keyof typeof roles;

describe.each(allServers)('soft delete on $name', ({ dialect, missing }) => {
  if (missing) return void it.skip('skipped: the server is not there');

  let project: ServedProject;
  beforeAll(() =>
    onServer(dialect, async () => {
      project = await serveProject({
        system: true,
        sql: `CREATE TABLE authors (id integer PRIMARY KEY, name varchar(40), deleted_at timestamptz NULL);
      CREATE TABLE articles (id integer PRIMARY KEY, title varchar(40), author integer REFERENCES authors, views integer,
        deleted_at timestamptz NULL);
      CREATE TABLE comments (id integer PRIMARY KEY, article integer NOT NULL REFERENCES articles, body varchar(40), deleted_at timestamptz NULL);
      CREATE TABLE tags (id integer PRIMARY KEY, name varchar(40), state varchar(20) NOT NULL DEFAULT 'live');
      CREATE TABLE article_tags (article integer REFERENCES articles, tag integer REFERENCES tags, PRIMARY KEY (article, tag));`,
        config: `{
      collections: {
        authors: { softDelete: { field: 'deleted_at' } },
        articles: { softDelete: { field: 'deleted_at' } },
        comments: { softDelete: { field: 'deleted_at' } },
        tags: { softDelete: { field: 'state', value: 'archived', restore: 'live' } },
      },
      relations: { 'articles.comments': { onDeselect: 'delete' } },
    }`,
        permissions: `roles: { editor: {}, reader: {}, remover: {} }
permissions:
  editor:
    authors: { read: true, create: true, update: true, delete: { purge: true } }
    articles: { read: true, create: true, update: true, delete: { purge: true } }
    comments: { read: true, create: true, update: true, delete: true }
    tags: { read: true, create: true, update: true, delete: true }
    article_tags: { read: true, create: true, delete: true }
  reader:
    authors: { read: { fields: [id, name, articles] } }
    articles: { read: { fields: [id, title, author, comments, tags, views] } }
    comments: { read: { fields: [id, body] } }
    tags: { read: { fields: [id, name] } }
  remover:
    articles:
      read: [{ fields: [id, title], filter: { views: { _lt: 100 } } }, { fields: [id, deleted_at], filter: { views: { _lt: 3 } } }]
      delete: true`,
      });
      for (const [name, id] of Object.entries(roles)) {
        const key = `00000000-0000-4000-8000-0000000000${id}`;
        await project.rows(`INSERT INTO platform.platform_roles (id, name) VALUES ('${key}', '${name}')`);
        await project.rows(
          `INSERT INTO platform.platform_users (id, email, role, token) VALUES ('${key}', '${name}@example.com', '${key}', '${tokenOf(name)}')`,
        );
      }
    }),
  );
  afterAll(() => project?.close());

  beforeEach(async () => {
    for (const table of ['article_tags', 'tags', 'comments', 'articles', 'authors'])
      await project.rows(`DELETE FROM ${table}`);
    await project.rows("INSERT INTO authors (id, name) VALUES (1, 'Ann'), (2, 'Ben')");
    await project.rows(
      "INSERT INTO articles (id, title, author, views) VALUES (1, 'one', 1, 1), (2, 'two', 1, 2), (3, 'three', 2, 3)",
    );
    await project.rows("INSERT INTO comments (id, article, body) VALUES (11, 1, 'a'), (12, 1, 'b'), (13, 2, 'c')");
    await project.rows("INSERT INTO tags (id, name) VALUES (21, 'red'), (22, 'blue')");
    await project.rows('INSERT INTO article_tags VALUES (1, 21), (1, 22), (2, 22)');
  });

  function tokenOf(role: string): string {
    return `token-of-${role}-000000000000`;
  }

  const ask = (role: Role, path: string, method = 'GET', body?: unknown) =>
    project.ask(path, { token: tokenOf(role), method, ...(body !== undefined && { body }) });
  const get = async (role: Role, path: string) => {
    const answer = await ask(role, path);
    return answer.status === 200 ? answer.json.data : failure(answer);
  };
  const ids = async (role: Role, path: string) => {
    const data = await get(role, path);
    return Array.isArray(data) ? data.map(({ id }: { readonly id: number }) => id) : data;
  };
  const archived = async (table: string) =>
    (await project.rows(`SELECT id FROM ${table} WHERE deleted_at IS NOT NULL ORDER BY id`)).map(({ id }) => id);

  describe('DELETE', () => {
    it('archives one item, several, and those of a query', async () => {
      expect((await ask('editor', '/items/articles/1', 'DELETE')).status).toBe(204);
      expect(await archived('articles')).toEqual([1]);
      expect(failure(await ask('editor', '/items/articles/1', 'DELETE'))).toBe('403 FORBIDDEN');
      expect((await ask('editor', '/items/articles', 'DELETE', [2])).status).toBe(204);
      expect((await ask('editor', '/items/articles', 'DELETE', { query: { filter: { id: { _gt: 0 } } } })).status).toBe(
        204,
      );
      expect(await archived('articles')).toEqual([1, 2, 3]);
      await ask('editor', '/items/tags/21', 'DELETE');
      expect(await project.rows('SELECT state FROM tags ORDER BY id')).toEqual([
        { state: 'archived' },
        { state: 'live' },
      ]);
      await project.ask('/graphql', {
        method: 'POST',
        token: tokenOf('editor'),
        body: { query: 'mutation { delete_comments_item(id: 13) { id } }' },
      });
      expect(await archived('comments')).toEqual([13]);
    });

    it('archives related items that would be deleted', async () => {
      const comments = await ask('editor', '/items/articles/1', 'PATCH', { comments: [11] });
      expect(comments.status, comments.text).toBe(200);
      const tags = await ask('editor', '/items/articles/1', 'PATCH', { tags: [22] });
      expect(tags.status, tags.text).toBe(200);
      expect(await archived('comments')).toEqual([12]);
      expect(await project.rows('SELECT tag FROM article_tags WHERE article = 1')).toEqual([{ tag: 22 }]);
    });

    it('removes items for good where a rule lets it', async () => {
      await ask('editor', '/items/articles/3', 'DELETE');
      expect(failure(await ask('remover', '/items/articles/3?purge=true', 'DELETE'))).toBe('403 FORBIDDEN');
      expect(failure(await ask('editor', '/items/comments/11?purge=true', 'DELETE'))).toBe('403 FORBIDDEN');
      expect(failure(await ask('editor', '/items/articles/3?purge=maybe', 'DELETE'))).toBe('400 INVALID_QUERY');
      expect((await ask('editor', '/items/articles/3?purge=true', 'DELETE')).status).toBe(204);
      expect((await project.admin('/items/comments/13?purge=true', { method: 'DELETE' })).status).toBe(204);
      expect(await project.rows('SELECT id FROM articles WHERE id = 3')).toEqual([]);
      expect(await project.rows('SELECT id FROM comments WHERE id = 13')).toEqual([]);
    });

    it('is told by activity', async () => {
      const actionsOf = async (collection: string, item: string) =>
        (
          await project.admin(
            `/activity?filter[collection]=${collection}&filter[item]=${item}&fields=action&sort=-id&limit=2`,
          )
        ).json.data;
      await ask('editor', '/items/articles/3', 'DELETE');
      expect((await actionsOf('articles', '3'))[0]).toEqual({ action: 'archive' });
      await project.rows('DELETE FROM comments WHERE article = 3');
      await ask('editor', '/items/articles/3?purge=true', 'DELETE');
      expect(await actionsOf('articles', '3')).toEqual([{ action: 'delete' }, { action: 'archive' }]);
      await ask('editor', '/items/articles/1', 'PATCH', { comments: [11], tags: [22] });
      expect((await actionsOf('comments', '12'))[0]).toEqual({ action: 'archive' });
      expect((await actionsOf('article_tags', '1,21'))[0]).toEqual({ action: 'delete' });
    });
  });

  describe('reads', () => {
    beforeEach(async () => {
      await ask('editor', '/items/articles', 'DELETE', [1, 3]);
      await ask('editor', '/items/comments/13', 'DELETE');
      await ask('editor', '/items/tags/22', 'DELETE');
    });

    it('passes over archived items at every level, for administrators too', async () => {
      expect(await ids('editor', '/items/articles')).toEqual([2]);
      expect(await get('editor', '/items/articles/1')).toBe('403 FORBIDDEN');
      expect(
        await get('reader', '/items/authors?fields=id,articles.id,articles.comments.id,articles.tags.id&sort=id'),
      ).toEqual([
        { id: 1, articles: [{ id: 2, comments: [], tags: [] }] },
        { id: 2, articles: [] },
      ]);
      expect((await project.admin('/items/articles?fields=id,tags&meta=*')).json).toEqual({
        data: [{ id: 2, tags: [] }],
        meta: { total_count: 1, filter_count: 1 },
      });
      expect(await get('reader', '/items/articles?aggregate[sum]=views&aggregate[count]=*')).toEqual([
        { sum: { views: 2 }, count: 1 },
      ]);
      expect(await get('reader', '/items/authors?fields=id,count(articles)&sort=id')).toEqual([
        { id: 1, articles_count: 1 },
        { id: 2, articles_count: 0 },
      ]);
      const none = encodeURIComponent(JSON.stringify({ articles: { _none: { id: { _gt: 0 } } } }));
      expect(await ids('reader', `/items/authors?filter=${none}`)).toEqual([2]);
      expect(await ids('reader', '/items/authors?sort=-articles.views,id')).toBeTruthy();
    });

    it('shows them to those who may see which are archived', async () => {
      expect(await ids('editor', '/items/articles?archived=include&sort=id')).toEqual([1, 2, 3]);
      expect(await ids('editor', '/items/articles?archived=only&sort=id')).toEqual([1, 3]);
      expect(await get('editor', '/items/articles/1?archived=only&fields=id')).toEqual({ id: 1 });
      expect(await get('editor', '/items/articles?archived=only&aggregate[count]=*')).toEqual([{ count: 2 }]);
      expect(await ids('editor', '/items/tags?archived=only')).toEqual([22]);
      const deep = (value: string) => `&deep[articles][_archived]=${value}&deep[articles][_sort]=id`;
      expect(await get('editor', `/items/authors?fields=id,articles.id&sort=id${deep('include')}`)).toEqual([
        { id: 1, articles: [{ id: 1 }, { id: 2 }] },
        { id: 2, articles: [{ id: 3 }] },
      ]);
      expect(await get('editor', '/items/articles?fields=id,tags.id&deep[tags][_archived]=only')).toEqual([
        { id: 2, tags: [{ id: 22 }] },
      ]);
      expect(await ids('editor', '/items/articles?archived=maybe')).toBe('400 INVALID_QUERY');
    });

    it('refuses the question of all others', async () => {
      for (const path of [
        '/items/articles?archived=include',
        '/items/articles?archived=only&aggregate[count]=*',
        '/items/articles/1?archived=include',
        '/items/authors?fields=articles.id&deep[articles][_archived]=include',
        '/items/article_tags?archived=include',
      ])
        expect(await get('reader', path), path).toBe('403 FORBIDDEN');
      // Archived rows are those of the rules that show that they are archived.
      expect(await ids('remover', '/items/articles?archived=include&sort=id')).toEqual([1, 2]);
      expect(await ids('remover', '/items/articles?archived=only')).toEqual([1]);
    });

    it('answers the same over GraphQL', async () => {
      const query = (role: Role, text: string) =>
        project.ask('/graphql', { method: 'POST', token: tokenOf(role), body: { query: text } });
      const { json } = await query(
        'editor',
        '{ articles { id } all: articles(archived: "include", sort: ["id"]) { id } authors(sort: ["id"]) { articles(archived: "only") { id } } articles_aggregated(archived: "only") { countAll } }',
      );
      expect(json.data).toEqual({
        articles: [{ id: 2 }],
        all: [{ id: 1 }, { id: 2 }, { id: 3 }],
        authors: [{ articles: [{ id: 1 }] }, { articles: [{ id: 3 }] }],
        articles_aggregated: [{ countAll: 2 }],
      });
      expect((await query('reader', '{ articles(archived: "include") { id } }')).status).toBe(400);
    });
  });

  describe('writes', () => {
    it('finds archived items only where the address asks for them', async () => {
      await ask('editor', '/items/articles/1', 'DELETE');
      expect(failure(await ask('editor', '/items/articles/1', 'PATCH', { title: 'x' }))).toBe('403 FORBIDDEN');
      expect(failure(await ask('editor', '/items/comments/11', 'PATCH', { article: 1 }))).toBe('403 FORBIDDEN');
      expect(failure(await ask('editor', '/items/authors/1', 'PATCH', { articles: [{ id: 1, title: 'x' }] }))).toBe(
        '403 FORBIDDEN',
      );
      expect(failure(await ask('remover', '/items/articles/1?archived=include', 'PATCH', { title: 'x' }))).toBe(
        '403 FORBIDDEN',
      );
      const byQuery = { query: { archived: 'only' }, data: { title: 'One' } };
      expect(failure(await ask('editor', '/items/articles', 'PATCH', byQuery))).toBe('400 INVALID_QUERY');
      expect(failure(await ask('remover', '/items/articles', 'PATCH', byQuery))).toBe('403 FORBIDDEN');
      expect((await ask('editor', '/items/articles?archived=include', 'PATCH', byQuery)).json.data).toHaveLength(1);
      const restored = await ask('editor', '/items/articles/1?archived=include', 'PATCH', { deleted_at: null });
      expect(restored.json.data).toMatchObject({ id: 1, deleted_at: null });
      expect(await archived('articles')).toEqual([]);
    });

    it('keeps the history of what archives and restores by hand', async () => {
      const { status } = await ask('editor', '/items/tags/21', 'PATCH', { state: 'archived' });
      expect(status).toBeLessThan(300);
      await ask('editor', '/items/tags/21?archived=include', 'PATCH', { state: 'live' });
      const told = await project.rows(
        "SELECT action FROM platform.platform_activity WHERE collection = 'tags' AND item = '21' ORDER BY id DESC LIMIT 2",
      );
      expect(told).toEqual([{ action: 'update' }, { action: 'update' }]);
    });
  });

  it('explain wants no index for the condition that leaves archived items out', async () => {
    const missing = async (path: string): Promise<readonly unknown[]> => {
      const args = ['explain', path, '--as', 'editor', '--json', '--project', project.folder];
      const { stdout, stderr } = await runWarm(args, { DATABASE_URL: project.database.url });
      const [, plan] = /^(\{"event":"plan".*\})$/m.exec(stdout) ?? [];
      if (plan === undefined) throw new Error(stderr);
      return JSON.parse(plan).missingIndexes.map(({ columns }: { readonly columns: unknown }) => columns);
    };
    expect(await missing('/items/articles?fields=title')).toEqual([]);
    expect(await missing('/items/tags?fields=name')).toEqual([]);
    expect(await missing('/items/articles?fields=id&filter[title]=one')).toEqual([['title']]);
  }, 60_000);

  it('explain tells which rules remove for good, and the right that is lacking', async () => {
    const told = async (role: string, path: string) => {
      const args = ['explain', `DELETE ${path}`, '--as', role, '--project', project.folder];
      return (await runWarm(args, { DATABASE_URL: project.database.url })).stderr;
    };
    expect(await told('editor', '/items/articles/1')).toContain('also for good, with purge=true');
    expect(await told('remover', '/items/articles/1')).not.toContain('also for good');
    expect(await told('remover', '/items/articles/1?purge=true')).toContain(
      'No rule grants deleting articles for good.',
    );
    expect(await told('reader', '/items/articles/1?purge=true')).toContain(
      'No rule grants deleting articles for good.',
    );
    expect(await told('reader', '/items/articles/1')).toContain('No rule grants deleting articles.');
  }, 60_000);
});
