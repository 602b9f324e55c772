/** Links of an item that two replace at once: what is left is the list of one of them, whenever the other one comes. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { withClient } from '../support/database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

const sql = `
  CREATE TABLE songs (id integer PRIMARY KEY, title text NOT NULL, words text NOT NULL);
  CREATE TABLE tags (id integer PRIMARY KEY);
  CREATE TABLE songs_tags (song_id integer REFERENCES songs, tag_id integer REFERENCES tags, PRIMARY KEY (song_id, tag_id));
  INSERT INTO songs VALUES (1, 'one', ''), (2, 'two', repeat('Nobody ', 2000000) || 'ends.');
  INSERT INTO tags SELECT generate_series(1, 9);
  INSERT INTO songs_tags VALUES (2, 1), (2, 2), (2, 3);
`;

/** It takes a rule a while to look through so many words. */
const permissions = `
permissions:
  public:
    songs: { read: { fields: [id] }, update: { fields: [title, tags], filter: { words: { _icontains: ends } } } }
    tags: { read: { fields: '*' } }
    songs_tags: { read: { fields: '*' }, create: { fields: '*' }, delete: {} }
`;

/** The statement that the rule keeps busy. */
const busy = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid() AND query LIKE 'WITH%songs_tags%'`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, permissions });
});
afterAll(() => project?.close());

it.each([
  ['links alone', {}],
  ['a field with them', { title: 'new' }],
])('%s: what somebody else commits before the item is held', async (_, fields) => {
  await withClient(project.database.url, async (client) => {
    const change = fetch(`${project.url}/items/songs/2?fields=id`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...fields, tags: [1, 2] }),
    });
    const isBusy = async () => expect((await client.query(busy)).rows).toHaveLength(1);
    await vi.waitFor(isBusy, { timeout: 20_000, interval: 1 });
    await client.query(`BEGIN; SELECT FROM songs WHERE id = 2 FOR NO KEY UPDATE; DELETE FROM songs_tags WHERE song_id = 2;
      INSERT INTO songs_tags VALUES (2, 8), (2, 9); COMMIT`);
    expect((await change).status).toBe(200);
    const { rows } = await client.query('SELECT tag_id FROM songs_tags WHERE song_id = 2 ORDER BY 1');
    const left = rows.map((row) => row.tag_id);
    expect([
      [1, 2],
      [8, 9],
    ]).toContainEqual(left);
  });
});
