/** Nested aggregates see the rows and cells that the caller may read, and nothing else. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE TABLE teams (id integer PRIMARY KEY, name text, open boolean NOT NULL);
      CREATE TABLE players (id integer PRIMARY KEY, team_id integer REFERENCES teams, name text, wage numeric(10,2),
        score bigint, fit boolean NOT NULL, hidden boolean NOT NULL, diary text);
      CREATE TABLE cups (id integer PRIMARY KEY, name text, year integer, secret boolean NOT NULL);
      CREATE TABLE teams_cups (team_id integer REFERENCES teams, cup_id integer REFERENCES cups, shown boolean NOT NULL,
        PRIMARY KEY (team_id, cup_id));
      INSERT INTO teams VALUES (1, 'red', true), (2, 'blue', false), (3, 'none', true);
      INSERT INTO players VALUES
        (1, 1, 'ann', 10.50, 9007199254740993, true, false, 'alpha'),
        (2, 1, 'bob', 99.99, 5, false, false, 'beta'),
        (3, 1, 'eve', 1000, 7, true, true, 'gamma'),
        (4, 2, 'dan', 1.00, 1, true, false, 'delta');
      INSERT INTO cups VALUES (1, 'gold', 2001, false), (2, 'dark', 2002, true), (3, 'tin', 2001, false);
      INSERT INTO teams_cups VALUES (1, 1, true), (1, 2, true), (1, 3, false), (3, 1, true);`,
    config: `{ collections: { players: { fields: { diary: { type: 'secret' } } } } }`,
    permissions: `
permissions:
  public:
    teams:
      read:
        - { fields: [id, cups] }
        - { fields: [players], filter: { open: { _eq: true } } }
    players:
      read:
        - { fields: [id, name, diary], filter: { hidden: { _eq: false } } }
        - { fields: [id, name, wage, score, team_id], filter: { hidden: { _eq: false }, fit: { _eq: true } } }
    cups: { read: { fields: [id, year], filter: { secret: { _eq: false } } } }
    teams_cups: { read: { fields: [team_id, cup_id], filter: { shown: { _eq: true } } } }`,
  });
});
afterAll(() => project?.close());

function teams(fields: string, deep: object, who: 'ask' | 'admin' = 'ask') {
  return project[who](`/items/teams?fields=${fields}&deep=${encodeURIComponent(JSON.stringify(deep))}`);
}

it('counts neither hidden rows nor hidden cells, and is null where the relation is hidden', async () => {
  const players = {
    _aggregate: { count: ['*'], countDistinct: ['wage', 'id'], sum: ['wage', 'score'], avg: ['wage'], max: ['name'] },
  };
  const { json } = await teams('id,players', { players });
  const none = { count: 0, countDistinct: { wage: 0, id: 0 }, sum: { wage: null, score: null } };
  expect(json.data).toEqual([
    {
      id: 1,
      players: [
        {
          count: 2,
          countDistinct: { wage: 1, id: 2 },
          sum: { wage: '10.50', score: '9007199254740993' },
          avg: { wage: '10.5000000000000000' },
          max: { name: 'bob' },
        },
      ],
    },
    { id: 2, players: null },
    { id: 3, players: [{ ...none, avg: { wage: null }, max: { name: null } }] },
  ]);
});

it('groups, filters, searches and compares by what can be read', async () => {
  const ask = async (players: object) => (await teams('players', { players })).json.data[0].players;
  expect(await ask({ _group: 'wage', _aggregate: { count: '*' } })).toEqual([
    { wage: '10.50', count: 1 },
    { wage: null, count: 1 },
  ]);
  expect(await ask({ _aggregate: { count: '*' }, _filter: { wage: { _gt: 50 } } })).toEqual([{ count: 0 }]);
  expect(await ask({ _aggregate: { count: '*' }, _search: 'eve' })).toEqual([{ count: 0 }]);
  expect(await ask({ _aggregate: { count: '*' }, _having: { max: { wage: { _gt: 50 } } } })).toEqual([]);
  expect(await ask({ _group: 'id', _sort: '-max.wage' })).toEqual([{ id: 2 }, { id: 1 }]);
});

it('follows the rules of the junction and of what is behind it', async () => {
  const { json } = await teams('id,cups', { cups: { _group: 'year', _aggregate: { count: '*' } } });
  expect(json.data.map(({ cups }: { cups: unknown }) => cups)).toEqual([
    [{ year: 2001, count: 1 }],
    [],
    [{ year: 2001, count: 1 }],
  ]);
  const admin = await teams('cups', { cups: { _group: 'year', _aggregate: { count: '*' } } }, 'admin');
  expect(admin.json.data[0].cups).toEqual([
    { year: 2001, count: 2 },
    { year: 2002, count: 1 },
  ]);
});

it('a secret field is no name in it', async () => {
  const unknown = (await teams('players', { players: { _group: 'nothing' } })).text;
  for (const players of [
    { _group: 'diary' },
    { _group: 'count(diary)' },
    { _aggregate: { count: ['diary'] } },
    { _aggregate: { min: ['diary'] } },
    { _group: 'id', _sort: '-max.diary' },
    { _group: 'id', _having: { max: { diary: { _gt: 'a' } } } },
  ]) {
    for (const who of ['ask', 'admin'] as const) {
      const answer = await teams('players', { players }, who);
      // Administrators are told which name it is.
      const text = who === 'ask' ? unknown : expect.stringMatching(/Not found, or secret: .*diary/);
      expect([who, players, answer.status, answer.text]).toEqual([who, players, 403, text]);
    }
  }
});
