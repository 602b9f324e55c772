/** Lists behind junctions under a filter that names a value, which few targets or many may have. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

/** The first tag is alone with its name, 150 have another, and all others a third. */
const sql = `
  CREATE TABLE posts (id int PRIMARY KEY);
  CREATE TABLE tags (id int PRIMARY KEY, name text, size int NOT NULL);
  CREATE INDEX ON tags (name);
  CREATE INDEX ON tags (size);
  INSERT INTO posts SELECT n FROM generate_series(1, 4) n;
  INSERT INTO tags SELECT n, CASE WHEN n = 1 THEN 'few' WHEN n <= 151 THEN 'many' WHEN n <= 250 THEN 'hundred' END, n % 3
    FROM generate_series(1, 300) n;
  CREATE TABLE posts_tags (tag_id bigint NOT NULL, post_id int REFERENCES posts, PRIMARY KEY (tag_id, post_id));
  INSERT INTO posts_tags SELECT n, post FROM generate_series(1, 300) n, generate_series(1, 3) post WHERE n % post = 0 OR n = 1;
  ALTER TABLE posts_tags ADD FOREIGN KEY (tag_id) REFERENCES tags NOT VALID;`;
const permissions = `permissions:
  public:
    posts: { read: true }
    posts_tags: { read: { fields: '*', filter: { tag_id: { _neq: 7 } } } }
    tags: { read: { fields: '*', filter: { id: { _neq: 4 } } } }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, permissions });
});
afterAll(() => project?.close());

const byKey = 'ORDER BY t.id';

/** Parameters of `deep` for the tags of posts, and the same in SQL. */
const cases: readonly (readonly [deep: string, where: string, bounds: string])[] = [
  ['[_filter][name][_eq]=few', "name = 'few'", byKey],
  ['[_filter][name][_eq]=hundred', "name = 'hundred'", byKey],
  ['[_filter][name][_eq]=many', "name = 'many'", byKey],
  ['[_filter][name][_eq]=none', "name = 'none'", byKey],
  ['[_filter][size][_eq]=2&deep[tags][_filter][id][_gt]=100', 'size = 2 AND t.id > 100', byKey],
  [
    '[_filter][name][_eq]=many&deep[tags][_sort]=-id&deep[tags][_limit]=3',
    "name = 'many'",
    'ORDER BY t.id DESC LIMIT 3',
  ],
  [
    '[_filter][name][_eq]=hundred&deep[tags][_offset]=2&deep[tags][_limit]=2',
    "name = 'hundred'",
    'ORDER BY t.id LIMIT 2 OFFSET 2',
  ],
];

test.each(cases)('%s', async (deep, condition, bounds) => {
  const all = deep.includes('_limit') ? '' : '&deep[tags][_limit]=-1';
  const { json } = await project.ask(`/items/posts?fields=id,tags.id&sort=id&deep[tags]${deep}${all}`);
  const from = 'FROM posts_tags l JOIN tags t ON t.id = l.tag_id WHERE l.post_id = p.id AND t.id NOT IN (4, 7)';
  const list = `SELECT t.id ${from} AND ${condition} ${bounds}`;
  const expected = await project.rows(`SELECT p.id, ARRAY(${list}) AS tags FROM posts p ORDER BY p.id`);
  expect(expected.some(({ tags }) => Array.isArray(tags) && tags.length > 0)).toBe(
    deep !== '[_filter][name][_eq]=none',
  );
  expect(
    json.data.map((post: { id: number; tags: { id: number }[] }) => ({ ...post, tags: post.tags.map(({ id }) => id) })),
  ).toEqual(expected);
});

test('aggregates', async () => {
  const deep = 'deep[tags][_filter][name][_eq]=hundred&deep[tags][_aggregate][count]=*';
  const { json } = await project.ask(`/items/posts?fields=id,tags&sort=id&${deep}`);
  expect(json.data.map((post: { tags: unknown }) => post.tags)).toEqual([99, 50, 33, 0].map((count) => [{ count }]));
});
