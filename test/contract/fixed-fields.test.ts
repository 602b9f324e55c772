/** Fields whose value the filter of a list says: they are answered as everywhere, and not read. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { isWithout } from '../support/optimizations.ts';
import { type ServedProject, serveProject } from '../support/project.ts';

const sql = `
  CREATE TYPE mood AS ENUM ('good', 'b"a\\d', 'Good');
  CREATE TABLE days (id integer PRIMARY KEY, mood mood, other mood NOT NULL DEFAULT 'good', note text);
  INSERT INTO days (id, mood, note) VALUES (1, 'good', 'a'), (2, 'b"a\\d', 'b'), (3, 'Good', 'c'), (4, NULL, 'd'), (5, 'good', 'e');`;

const permissions = `
permissions:
  public:
    days:
      read:
        - { fields: [id, mood, note] }
        - { fields: [id, other], filter: { note: { _eq: a } } }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, permissions });
});
afterAll(() => project?.close());

/** Counts are told beside items that are read whole. */
const counted = 'meta=filter_count';

it.each([
  ['id,mood,note', { mood: { _eq: 'good' } }],
  ['mood,id', { mood: { _eq: 'b"a\\d' } }],
  ['id,mood', { mood: { _eq: 'Good' } }],
  ['id,mood,other', { mood: { _eq: 'good' }, other: { _eq: 'good' } }],
  ['mood', { mood: { _eq: 'good' } }],
  ['*', { _and: [{ mood: 'good' }, { id: { _gt: 1 } }] }],
  ['id,mood', { _or: [{ mood: { _eq: 'good' } }, { id: { _eq: 2 } }] }],
  ['id,mood', { mood: { _in: ['good', 'Good'] } }],
  ['id,mood', { mood: { _neq: 'good' } }],
  ['id,mood', { _and: [{ mood: { _eq: 'good' } }, { mood: { _eq: 'Good' } }] }],
  ['id,mood', { mood: { _null: true } }],
])('%s of %j', async (fields, filter) => {
  const path = `/items/days?fields=${fields}&sort=id&filter=${encodeURIComponent(JSON.stringify(filter))}`;
  for (const ask of [project.admin, project.ask]) {
    const [lean, whole] = [await ask(path), await ask(`${path}&${counted}`)];
    expect([lean.status, lean.json.data]).toEqual([whole.status, whole.json.data]);
    const body = { query: { fields: fields.split(','), sort: ['id'], filter } };
    expect((await ask('/items/days', { method: 'SEARCH', body })).text).toBe(lean.text);
  }
});

it.skipIf(isWithout('fixed-fields'))('is nothing that the database sends', async () => {
  project.statements.reset();
  const { text } = await project.admin('/items/days?fields=note,id,mood&filter[mood][_eq]=good&sort=id');
  expect(text).toBe('{"data":[{"note":"a","id":1,"mood":"good"},{"note":"e","id":5,"mood":"good"}]}');
  expect(project.statements.texts().filter((one) => /SELECT t0\."note", t0\."id" FROM/.test(one))).toHaveLength(1);
});

it('is the value of each request', async () => {
  for (const mood of ['good', 'Good', 'good', 'b"a\\d', 'Good']) {
    const { json } = await project.admin(
      `/items/days?fields=mood,id&limit=1&filter[mood][_eq]=${encodeURIComponent(mood)}`,
    );
    expect(json.data).toEqual([{ mood, id: expect.any(Number) }]);
  }
  const { status } = await project.admin('/items/days?fields=mood,id&limit=1&filter[mood][_eq]=bad');
  expect(status).toBe(400);
});
