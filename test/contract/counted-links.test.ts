/** Numbers of the items behind a junction: as many as the list has, with every kind of key on its links and with none. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

/** Junctions by their names: the columns that lead to targets, and what becomes of the table. */
const junctions: Readonly<Record<string, readonly [columns: string, later: string]>> = {
  links_kept: ['tag_id int NOT NULL REFERENCES tags, PRIMARY KEY (post_id, tag_id)', ''],
  links_unchecked: [
    'tag_id int NOT NULL, PRIMARY KEY (post_id, tag_id)',
    `INSERT INTO links_unchecked VALUES (1, 98), (2, 99);
     ALTER TABLE links_unchecked ADD FOREIGN KEY (tag_id) REFERENCES tags NOT VALID;`,
  ],
  links_loose: [
    'tag_id int REFERENCES tags, id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
    'INSERT INTO links_loose (post_id) VALUES (1), (2), (2);',
  ],
  links_inherited: [
    'tag_id int NOT NULL REFERENCES tags, PRIMARY KEY (post_id, tag_id)',
    'CREATE TABLE later_links () INHERITS (links_inherited); INSERT INTO later_links VALUES (1, 3), (1, 97);',
  ],
  links_ruled: ['tag_id int NOT NULL REFERENCES ruled_tags, PRIMARY KEY (post_id, tag_id)', ''],
};

const sql = `
  CREATE TABLE posts (id int PRIMARY KEY);
  CREATE TABLE tags (id int PRIMARY KEY);
  CREATE TABLE ruled_tags (id int PRIMARY KEY);
  INSERT INTO posts VALUES (1), (2), (3);
  INSERT INTO tags VALUES (1), (2), (3);
  INSERT INTO ruled_tags VALUES (1), (2), (3);
  ${Object.entries(junctions)
    .map(
      ([name, [columns, later]]) => `CREATE TABLE ${name} (post_id int NOT NULL REFERENCES posts, ${columns});
        INSERT INTO ${name} (post_id, tag_id) VALUES (1, 1), (1, 2), (2, 2);
        ${later}`,
    )
    .join('\n')}`;

const manyToMany = Object.keys(junctions).map((junction) => {
  return { junction, near: 'post_id', far: 'tag_id', name: junction.replace('links_', '') };
});
const permissions = `permissions:
  public:
    posts: { read: true }
    tags: { read: true }
    ruled_tags: { read: { fields: '*', filter: { id: { _gt: 1 } } } }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, config: JSON.stringify({ manyToMany }), permissions });
});
afterAll(() => project?.close());

test.each([
  ['kept', [2, 1, 0]],
  ['unchecked', [2, 1, 0]],
  ['loose', [2, 1, 0]],
  ['inherited', [3, 1, 0]],
  ['ruled', [1, 1, 0]],
] as const)('%s links', async (name, counts) => {
  const { json } = await project.ask(`/items/posts?fields=${name}.id,count(${name})&sort=id`);
  const posts: readonly Record<string, unknown>[] = json.data;
  expect(posts.map((post) => post[`${name}_count`])).toEqual(counts);
  for (const [index, post] of posts.entries()) expect(post[name]).toHaveLength(counts[index] ?? 0);
  const several = await project.ask(`/items/posts?fields=id&filter[count(${name})][_gt]=1`);
  expect(several.json.data).toEqual(counts.flatMap((count, index) => (count > 1 ? [{ id: index + 1 }] : [])));
});
