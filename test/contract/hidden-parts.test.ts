/** What is hidden gives no sign of itself in keys and orders either. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE albums (id integer PRIMARY KEY, name text);
      CREATE TABLE tracks (album_id integer REFERENCES albums, disc text, title text, PRIMARY KEY (album_id, disc));
      CREATE TABLE artists (id integer PRIMARY KEY, name text);
      CREATE TABLE credits (album_id integer REFERENCES albums, artist_id integer REFERENCES artists, rank integer, shown boolean,
        PRIMARY KEY (album_id, artist_id));
      CREATE TABLE plays (album_id integer REFERENCES albums, artist_id integer REFERENCES artists, rank integer,
        PRIMARY KEY (album_id, artist_id));
      INSERT INTO albums VALUES (1, 'one');
      INSERT INTO tracks VALUES (1, 'a', 'open'), (1, 'null', 'open'), (1, 'b', 'closed');
      INSERT INTO artists VALUES (1, 'x'), (2, 'y'), (3, 'z');
      INSERT INTO credits VALUES (1, 1, 3, true), (1, 2, 2, false), (1, 3, 1, true);
      INSERT INTO plays SELECT album_id, artist_id, rank FROM credits;`,
    config: `{ manyToMany: [
      { junction: 'credits', near: 'album_id', far: 'artist_id', name: 'credited', sort: 'rank' },
      { junction: 'plays', near: 'album_id', far: 'artist_id', name: 'played', sort: 'rank' },
    ] }`,
    permissions: `

permissions:
  public:
    albums: { read: { fields: [id, tracks, credited, played] } }
    artists: { read: { fields: [id] } }
    tracks:
      read:
        - { fields: [album_id, disc, title], filter: { title: open } }
        - { fields: [disc], filter: { title: closed } }
    credits:
      read:
        - { fields: [album_id, artist_id, rank], filter: { shown: true } }
        - { fields: [album_id, artist_id] }`,
  });
});
afterAll(() => project?.close());

it('a key of which one part is hidden is null, and never looks like a key', async () => {
  const { json } = await project.ask('/items/albums?fields=tracks');
  expect(json.data).toEqual([{ tracks: ['1,a', null, '1,null'] }]);
  expect((await project.admin('/items/albums?fields=tracks')).json.data).toEqual([
    { tracks: ['1,a', '1,b', '1,null'] },
  ]);
});

it('the order of a junction that can be read is made of the cells that can be read', async () => {
  const { json } = await project.ask('/items/albums?fields=credited,credited.id');
  expect(json.data[0].credited).toEqual([{ id: 3 }, { id: 1 }, { id: 2 }]);
  expect((await project.admin('/items/albums?fields=credited')).json.data).toEqual([{ credited: [3, 2, 1] }]);
});

it('the order of a junction that cannot be read is part of the relation', async () => {
  expect((await project.ask('/items/albums?fields=played')).json.data).toEqual([{ played: [3, 2, 1] }]);
});
