/** Files of items whose columns are named with dots: what an export of relations wrote can be imported again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onServer } from '../support/contract-database.ts';
import { file, form } from '../support/files.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { allServers } from '../support/servers.ts';

const own = 'id,minute,season,number,facts';
const token = 'token-of-bob-0000000000';

describe.each(allServers)('$name', ({ dialect, missing }) => {
  if (missing) return void it.skip('is not there');

  let project: ServedProject;
  beforeAll(() =>
    onServer(dialect, async () => {
      project = await serveProject({
        system: true,
        sql: `CREATE TABLE leagues (id integer PRIMARY KEY, name varchar(20), facts jsonb);
          CREATE TABLE matches (season integer, number integer, place varchar(20), league integer REFERENCES leagues (id),
            PRIMARY KEY (season, number));
          CREATE TABLE goals (id integer PRIMARY KEY, minute integer, season integer, number integer, facts jsonb,
            league integer NOT NULL REFERENCES leagues (id),
            FOREIGN KEY (season, number) REFERENCES matches (season, number));
          INSERT INTO leagues VALUES (1, 'first', '{"a": [1, null]}'), (2, 'second', NULL);
          INSERT INTO matches VALUES (2026, 1, 'Bern', 1), (2026, 2, '', 2), (2027, 1, NULL, NULL);
          INSERT INTO goals VALUES (1, 10, 2026, 1, '{"x.y": 1}', 1), (2, 20, 2026, 2, NULL, 2), (3, NULL, NULL, NULL, NULL, 1),
            (5, 50, 2027, NULL, NULL, 1), (4, 40, 2027, 1, NULL, 2);`,
        permissions: `roles:
  scorer: {}
permissions:
  scorer:
    leagues: { read: { fields: [id] } }
    goals:
      read: { fields: [id, minute] }
      create: { fields: [id, minute, league] }
      update: { fields: [minute, league] }
`,
      });
      await project.rows(
        `INSERT INTO platform.platform_roles (id, name) VALUES ('00000000-0000-4000-8000-0000000000ed', 'scorer')`,
      );
      await project.rows(`INSERT INTO platform.platform_users (id, email, role, token) VALUES
        ('00000000-0000-4000-8000-00000000000b', 'bob@example.com', '00000000-0000-4000-8000-0000000000ed', '${token}')`);
    }),
  );
  afterAll(() => project?.close());

  const send = (text: string, who?: string, kind = 'csv') => {
    const part = file(text, `goals.${kind}`, kind === 'csv' ? 'text/csv' : 'application/json');
    const request = { method: 'POST', body: form(part) };
    return who === undefined
      ? project.admin('/utils/import/goals', request)
      : project.ask('/utils/import/goals', { ...request, token: who });
  };
  const stored = async () => [
    await project.rows('SELECT * FROM leagues ORDER BY id'),
    await project.rows('SELECT * FROM matches ORDER BY season, number'),
    await project.rows('SELECT * FROM goals ORDER BY id'),
  ];

  it.each([
    ['all fields', '*'],
    ['fields of relations', `${own},league.*,matches.*`],
    ['keys of relations', `${own},league.id,matches.season,matches.number`],
    ['relations of relations', `${own},league,matches.season,matches.number,matches.league.*`],
  ])('%s come back as they were', async (_, fields) => {
    const before = await stored();
    const answer = await project.admin(`/items/goals?export=csv&sort=id&fields=${fields}`);
    expect(answer.text.split('\r\n')[0]).toMatch(/\w\.\w/);
    const back = await send(answer.text);
    expect([back.status, back.text]).toEqual([200, '']);
    expect(await stored()).toEqual(before);
  });

  it('cells of relations are restored', async () => {
    const before = await stored();
    const { text } = await project.admin(`/items/goals?export=csv&fields=${own},league.*,matches.*`);
    await project.rows('UPDATE goals SET minute = 99, season = NULL, number = NULL, facts = NULL');
    await project.rows("UPDATE matches SET place = 'other'");
    await project.rows('UPDATE leagues SET facts = NULL, name = NULL');
    expect((await send(text)).status).toBe(200);
    expect(await stored()).toEqual(before);
  });

  it('a key of which a part is null keeps the others when the item is written as it was read', async () => {
    const before = await stored();
    for (const fields of ['*', `${own},matches.*`]) {
      const { json } = await project.admin(`/items/goals/5?fields=${fields}`);
      expect(json.data).toMatchObject({ season: 2027, number: null, matches: null });
      const back = await project.admin(`/items/goals/5?fields=${fields}`, { method: 'PATCH', body: json.data });
      expect(back.json).toEqual(json);
    }
    expect(await stored()).toEqual(before);
    const emptied = await project.admin('/items/goals/5', { method: 'PATCH', body: { matches: null } });
    expect(emptied.json.data).toMatchObject({ season: null, number: null, matches: null });
    await project.rows('UPDATE goals SET season = 2027 WHERE id = 5');
  });

  it('new items of relations are made', async () => {
    const lines = ['id,minute,league.id,league.name,league.facts,matches.season,matches.number,matches.place'];
    expect((await send([...lines, '7,70,3,third,"{""b"":2}",2030,5,Rome', '8,80,1,,,,,'].join('\n'))).status).toBe(200);
    const { json } = await project.admin(
      '/items/goals?filter[id][_gt]=5&fields=id,minute,league.*,matches.season,matches.place&sort=id',
    );
    expect(json.data).toMatchObject([
      {
        id: 7,
        minute: 70,
        league: { id: 3, name: 'third', facts: { b: 2 } },
        matches: { season: 2030, place: 'Rome' },
      },
      { id: 8, minute: 80, league: { id: 1, name: null, facts: null }, matches: null },
    ]);
  });

  it.each([
    ['of a column that is none', 'id,league,minute.x\n9,1,5', '400 INVALID_PAYLOAD', '"minute.x"'],
    ['of a column of JSON', 'id,league,facts.x\n9,1,5', '400 INVALID_PAYLOAD', '"facts.x"'],
    ['below a column', 'id,league,league.name\n9,1,x', '400 INVALID_PAYLOAD', '"league.name"'],
    [
      'below a column of a relation',
      'id,league,matches.place,matches.place.x\n9,1,a,x',
      '400 INVALID_PAYLOAD',
      '"matches.place.x"',
    ],
    ['of no object', 'id,league,matches.__proto__\n9,1,{}', '400 INVALID_PAYLOAD', 'a name'],
    ['of nothing', 'id,league,nothing.x\n9,1,5', '403 FORBIDDEN', ''],
    ['of nothing in a relation', 'id,league,matches.nothing\n9,1,5', '403 FORBIDDEN', ''],
    ['with an empty name', 'id,league,matches.\n9,1,5', '403 FORBIDDEN', ''],
  ])('a dotted name %s is refused', async (_, text, code, named) => {
    const before = await stored();
    const answer = await send(text);
    expect(failure(answer)).toBe(code);
    expect(answer.json.errors[0].message).toContain(named);
    expect(await stored()).toEqual(before);
  });

  it('names of relations that the caller does not have are like those that are not there', async () => {
    expect((await send('id,minute,league\n9,9,1', token)).status).toBe(200);
    const texts = await Promise.all(
      ['matches.season', 'nothing.season', 'facts', 'nothing', 'facts.x', 'season'].map(async (name) => {
        const { status, text } = await send(`id,minute,league,${name}\n10,9,1,x`, token);
        return `${status} ${text}`;
      }),
    );
    expect(new Set(texts).size, texts.join('\n')).toBe(1);
    expect(texts[0]).toMatch(/^403 /);
  });
});
