/** Connections on every server: pages forwards and back, by the cursors of REST, in one statement. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { adminToken, createProject, type Platform } from '../support/platform.ts';
import { serveProject } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const sql = (varchar: string) => `
  CREATE TABLE authors (id int PRIMARY KEY, name ${varchar});
  CREATE TABLE articles (id int PRIMARY KEY, title ${varchar}, rank_ int, author int, FOREIGN KEY (author) REFERENCES authors (id));
  CREATE TABLE pairs (a int, b int, note ${varchar}, PRIMARY KEY (a, b));
  CREATE TABLE loose (n int);
  INSERT INTO authors VALUES (1, 'Ann'), (2, 'Ben');
  INSERT INTO articles VALUES ${Array.from({ length: 25 }, (_, index) => `(${index + 1}, 't${index % 4}', ${index % 5 === 0 ? 'NULL' : index % 3}, ${(index % 2) + 1})`).join()};
  INSERT INTO pairs VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 1, 'c');`;

const permissions = `permissions:
  public:
    authors: { read: { fields: [name] } }
    articles: { read: { fields: [id, title, author], filter: { id: { _lte: 10 } } } }
`;
const config = '{ graphql: { connections: true } }';

const worlds = [
  { name: 'PostgreSQL', missing: false, open: async () => (await createDatabase(sql('text'))).url },
  ...servers.map(({ name, missing, start }) => ({
    name,
    missing,
    open: async () => createMysqlDatabase(await start(), sql('varchar(20)')),
  })),
];

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[];
  readonly nodes: readonly { readonly id: number }[];
  readonly totalCount: number;
  readonly pageInfo: Record<'hasNextPage' | 'hasPreviousPage', boolean> &
    Record<'startCursor' | 'endCursor', string | null>;
}

const document = `query ($first: Int, $after: String, $last: Int, $before: String, $sort: [String], $filter: articles_filter) {
  articles_connection(first: $first, after: $after, last: $last, before: $before, sort: $sort, filter: $filter) {
    edges { cursor node { id author { name } } }
    nodes { id }
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

describe.each(worlds)('$name', ({ missing, open }) => {
  if (missing) return void it.skip('skipped: the server is not there');

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    project = await createProject();
    const text = `import { defineConfig } from 'tablewright/config';\nexport default defineConfig(${config});\n`;
    await writeFile(join(project.folder, 'platform.config.ts'), text);
    await writeFile(join(project.folder, 'permissions.yaml'), permissions);
    platform = await startHosted(project.folder, await open());
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  async function ask(query: string, variables: object = {}, as: Platform['ask'] = platform.admin) {
    const { json } = await as('/graphql', { method: 'POST', body: { query, variables } });
    return json.errors === undefined ? json.data : `${json.errors[0].extensions.code}: ${json.errors[0].message}`;
  }
  const pageOf = async (variables: object): Promise<Page> => (await ask(document, variables)).articles_connection;
  const idsOf = (page: Page) => page.nodes.map(({ id }) => id);

  it.each([[['id']], [['-rank_', 'title']], [['author.name', '-id']], [['title']]])(
    'walk in the order %j',
    async (sort) => {
      const list = await platform.admin(`/items/articles?fields=id&limit=-1&sort=${sort}`);
      const all = list.json.data.map(({ id }: { id: number }) => id);
      const forwards: number[] = [];
      let page = await pageOf({ first: 7, sort });
      expect(page.pageInfo.hasPreviousPage).toBe(false);
      for (;;) {
        forwards.push(...idsOf(page));
        expect(page.edges.map(({ node }) => node.id)).toEqual(idsOf(page));
        expect([page.pageInfo.startCursor, page.pageInfo.endCursor]).toEqual([
          page.edges[0]?.cursor,
          page.edges.at(-1)?.cursor,
        ]);
        expect(page.totalCount).toBe(25);
        if (!page.pageInfo.hasNextPage) break;
        page = await pageOf({ first: 7, after: page.pageInfo.endCursor, sort });
        expect(page.pageInfo.hasPreviousPage).toBe(true);
      }
      expect(forwards).toEqual(all);
      const back: number[] = [];
      page = await pageOf({ last: 7, sort });
      expect(page.pageInfo.hasNextPage).toBe(false);
      for (;;) {
        back.unshift(...idsOf(page));
        if (!page.pageInfo.hasPreviousPage) break;
        page = await pageOf({ last: 7, before: page.pageInfo.startCursor, sort });
        expect(page.pageInfo.hasNextPage).toBe(true);
      }
      expect(back).toEqual(all);
    },
  );

  it('have the cursors of REST', async () => {
    const { json } = await platform.admin('/items/articles?fields=id&sort=-title&limit=4&cursor=');
    const page = await pageOf({ first: 4, sort: ['-title'] });
    expect(page.pageInfo.endCursor).toBe(json.meta.next_cursor);
    const next = await pageOf({ first: 4, after: json.meta.next_cursor, sort: ['-title'] });
    const rest = await platform.admin(
      `/items/articles?fields=id&sort=-title&limit=4&cursor=${page.pageInfo.endCursor}`,
    );
    expect(idsOf(next)).toEqual(rest.json.data.map(({ id }: { id: number }) => id));
  });

  it('count what a filter matches, also where nothing does', async () => {
    expect((await pageOf({ first: 2, filter: { author: { name: { _eq: 'Ann' } } } })).totalCount).toBe(13);
    expect(await pageOf({ first: 2, filter: { id: { _gt: 99 } } })).toEqual({
      edges: [],
      nodes: [],
      totalCount: 0,
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
  });

  it('answer aliases, fragments and one part alone', async () => {
    const query = `{ a: articles_connection(first: 2, sort: "id") { __typename n: nodes { ...T } e: edges { __typename c: cursor node { t: title } x: node { id } } total: totalCount }
      pairs_connection(last: 1) { nodes { note } }
      none: articles_connection(first: 1) { pageInfo { __typename hasNextPage } } } fragment T on articles { id title }`;
    const { a, pairs_connection: pairs, none } = await ask(query);
    expect(a).toEqual({
      __typename: 'articles_connection',
      n: [
        { id: 1, title: 't0' },
        { id: 2, title: 't1' },
      ],
      e: [1, 2].map((id) => ({
        ...{ __typename: 'articles_edge', c: expect.any(String) },
        ...{ node: { t: `t${id - 1}` }, x: { id } },
      })),
      total: 25,
    });
    expect([pairs, none]).toEqual([
      { nodes: [{ note: 'c' }] },
      { pageInfo: { __typename: 'PageInfo', hasNextPage: true } },
    ]);
  });

  it('refuse pages that are none', async () => {
    const cases: readonly (readonly [object, string])[] = [
      [{}, 'A connection needs one of "first" and "last".'],
      [{ first: 1, last: 1 }, 'A connection needs one of "first" and "last".'],
      [{ first: 1, before: 'x' }, '"before" stands beside "last".'],
      [{ last: 1, after: 'x' }, '"after" stands beside "first".'],
      [{ first: 0 }, '"first" must be a number from 1 to 1000.'],
      [{ last: 1001 }, '"last" must be a number from 1 to 1000.'],
      [{ first: 1, after: 'made up' }, 'The cursor does not belong to this list in this order.'],
    ];
    for (const [variables, told] of cases) expect(await ask(document, variables)).toBe(`INVALID_QUERY: ${told}`);
    const { pageInfo } = await pageOf({ first: 1, sort: ['title'] });
    expect(await ask(document, { first: 1, after: pageInfo.endCursor, sort: ['-title'] })).toMatch(/^INVALID_QUERY/);
  });

  it('show a role what its rules show, and nothing where a key is hidden', async () => {
    const read =
      '{ articles_connection(last: 3) { totalCount nodes { id author { name } } pageInfo { hasNextPage } } }';
    expect(await ask(read, {}, platform.ask)).toEqual({
      articles_connection: {
        totalCount: 10,
        nodes: [8, 9, 10].map((id) => ({ id, author: { name: id % 2 === 1 ? 'Ann' : 'Ben' } })),
        pageInfo: { hasNextPage: false },
      },
    });
    const { text } = await platform.ask('/graphql', {
      method: 'POST',
      body: { query: '{ __schema { types { name } } }' },
    });
    expect([text.includes('articles_edge'), text.includes('authors_connection'), text.includes('loose_')]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('statements', () => {
  it('are one, and count only for the total', async () => {
    const project = await serveProject({ sql: sql('text'), config });
    const run = async (selected: string) => {
      project.statements.reset();
      const body = { query: `{ articles_connection(first: 3) { ${selected} } }` };
      await project.ask('/graphql', { method: 'POST', body, token: adminToken });
      expect(project.statements.executed(), project.statements.texts().join('\n')).toBe(1);
      return project.statements.texts().at(-1) ?? '';
    };
    try {
      expect(await run('edges { cursor node { id author { name } } } pageInfo { hasNextPage }')).not.toMatch(
        /count\(/i,
      );
      expect(await run('nodes { id } totalCount')).toMatch(/count\(/i);
    } finally {
      await project.close();
    }
  });
});
