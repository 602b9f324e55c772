/** Lists over GraphQL that are as long as a table: P15 of the security specification. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `CREATE TABLE pages (id integer PRIMARY KEY, text text);
      INSERT INTO pages SELECT n, repeat('x', 700) FROM generate_series(1, 100000) n`,
    permissions: 'permissions:\n  public:\n    pages: { read: true }',
  });
});
afterAll(() => project?.close());

const ask = (query: string) => project.ask('/graphql', { method: 'POST', body: { query } });

it('a long list is answered as over REST', async () => {
  const { json } = await ask('{ pages(limit: 20000, sort: ["-id"]) { id text } }');
  const rest = await project.ask('/items/pages?limit=20000&sort=-id&fields=id,text');
  expect(json.data.pages).toHaveLength(20_000);
  expect(json.data.pages).toEqual(rest.json.data);
  const groups = await ask('{ pages_aggregated(groupBy: ["id"], limit: -1) { group countAll } }');
  expect(groups.json.data.pages_aggregated).toHaveLength(100_000);
});

it('what one request collects is bounded, and others are answered meanwhile', async () => {
  const lists = Array.from({ length: 20 }, (_, i) => `a${i}: pages(limit: -1) { id text }`);
  const large = ask(`{ ${lists.join(' ')} }`);
  const others = await Promise.all(Array.from({ length: 40 }, () => project.ask('/items/pages?limit=1&fields=id')));
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([200]));
  const { status, json } = await large;
  expect([status, json.data]).toEqual([200, null]);
  const codes = json.errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
  expect(codes).toEqual(lists.map(() => 'INVALID_QUERY'));
});
