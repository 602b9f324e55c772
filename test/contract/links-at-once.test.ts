/** Links of an item that two replace at once: what is left is the list of one of them, whenever the other one comes. */
import type pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

const sql = `
  CREATE TABLE songs (id integer PRIMARY KEY, title text NOT NULL, words text NOT NULL);
  CREATE TABLE tags (id integer PRIMARY KEY);
  CREATE TABLE songs_tags (song_id integer REFERENCES songs, tag_id integer REFERENCES tags, PRIMARY KEY (song_id, tag_id));
  INSERT INTO songs VALUES (1, 'one', ''), (2, 'two', repeat('Nobody ', 4000000) || 'ends.');
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

/** As they are before a change. */
const links = 'DELETE FROM songs_tags; INSERT INTO songs_tags VALUES (2, 1), (2, 2), (2, 3)';

/**
 * Begins a change, again until it is seen while its rule is busy: on a busy machine it may be over before anybody looks. The
 * answer is in a list, for nobody to wait for it yet.
 */
async function changeSeenBusy(client: pg.Client, body: object): Promise<readonly [Promise<Response>]> {
  for (let tries = 0; tries < 20; tries += 1) {
    await client.query(links);
    const init = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const change = fetch(`${project.url}/items/songs/2?fields=id`, init);
    const over = change.then(() => true);
    const isOver = () => Promise.race([over, Promise.resolve(false)]);
    while (!(await isOver())) if ((await client.query(busy)).rows.length === 1) return [change];
  }
  throw new Error('No change was seen while it was busy.');
}

it.each([
  ['links alone', {}],
  ['a field with them', { title: 'new' }],
])('%s: what somebody else commits before the item is held', async (_, fields) => {
  await withClient(project.database.url, async (client) => {
    const [change] = await changeSeenBusy(client, { ...fields, tags: [1, 2] });
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
