/** Objects with nothing but a key, under many rules: writes that try the key first do what those do that look items up. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

const sql = `
  CREATE TABLE zones (id integer PRIMARY KEY, name varchar(20));
  CREATE TABLE clubs (
    id integer PRIMARY KEY, name varchar(20) NOT NULL DEFAULT 'new', open boolean DEFAULT true, zone integer REFERENCES zones);
  CREATE TABLE people (
    id integer PRIMARY KEY, name varchar(20) UNIQUE, club integer REFERENCES clubs, second integer REFERENCES clubs);
`;

const rows = [
  "INSERT INTO zones VALUES (1, 'north'), (2, 'south')",
  "INSERT INTO clubs VALUES (1, 'a', true, 1), (2, 'b', false, 1), (3, 'c', true, 2), (4, 'd', NULL, NULL)",
  "INSERT INTO people VALUES (1, 'Ann', 1, NULL), (2, 'Bob', 2, 1), (3, 'Cid', NULL, NULL)",
];

/** Rules by which the role reads clubs. */
const reads = [
  'true',
  "{ fields: '*', filter: { open: { _eq: true } } }",
  "{ fields: '*', filter: { zone: { name: { _eq: north } } } }",
  "{ fields: '*', filter: { people: { _some: { name: { _neq: Zed } } } } }",
  "{ fields: '*', filter: { people: { _none: { name: { _eq: new1 } } } } }",
  "{ fields: '*', filter: { _or: [{ id: { _eq: 2 } }, { zone: { clubs: { _some: { id: { _eq: 3 } } } } }] } }",
];
/** Rules by which it writes people. */
const writes = [
  'true',
  '{ fields: [id, name, club, second], validation: { club: { _lt: 3 } } }',
  '{ fields: [id, name, club, second], validation: { club: { name: { _neq: a } } } }',
  '{ fields: [id, name, club], validation: { name: { _nnull: true } } }',
];
const makes = ['', 'create: true', 'create: { fields: [id], validation: { id: { _gt: 90 } } }'];

const cases = reads
  .flatMap((read, index) =>
    [0, 1].map((turn) => ({
      read,
      write: writes[(index + 2 * turn) % writes.length] ?? '',
      make: makes[(index + turn) % makes.length] ?? '',
    })),
  )
  .map((rules, index) => ({ ...rules, index }));

/** The same of the tables of a case: each has its own, in one database. */
const tablesOf = (index: number, text: string): string => text.replaceAll(/\b(?:zones|clubs|people)\b/g, `$&_${index}`);

let project: ServedProject;
beforeAll(async () => {
  const names = cases.map(
    ({ index }) =>
      `'${tablesOf(index, 'clubs.people')}_by_club': { name: 'people' }, '${tablesOf(index, 'zones.clubs')}': { name: 'clubs' }`,
  );
  const rules = cases.map(
    ({ index, read, write, make }) => `
    zones_${index}: { read: true }
    clubs_${index}:
      read: ${read}
      update: { fields: [name] }
      ${make}
    people_${index}: { read: true, create: ${write}, update: ${write} }
`,
  );
  project = await serveProject({
    sql: cases.map(({ index }) => tablesOf(index, sql)).join(''),
    portable: true,
    disturbed: true,
    config: `{ relations: { ${names.join()} } }`,
    permissions: `permissions:\n  public:${rules.join('')}`,
  });
});
afterAll(() => project?.close());

describe.each(cases)('$read / $write / $make', ({ index }) => {
  const begin = tablesOf(index, ['DELETE FROM people', 'DELETE FROM clubs', 'DELETE FROM zones', ...rows].join('; '));

  /** Answer of a write, and the rows after it. */
  async function outcome(method: string, path: string, body: unknown) {
    await project.rows(begin);
    const { status, json } = await project.ask(`/items/people_${index}${path}`, { method, body });
    const told = json.errors?.map(({ extensions }: { extensions: unknown }) => extensions) ?? null;
    const [people, clubs] = ['people', 'clubs'].map((table) => tablesOf(index, `SELECT * FROM ${table} ORDER BY id`));
    return [status, told, await project.cells(people ?? ''), await project.cells(clubs ?? '')];
  }

  // Each pair is met under each rule of reading, of writing and of new clubs, though not under each two; ATTACK_ALL=1: under all.
  const pairs = [1, 2, 3, 4, 95, 5].flatMap((key, row) =>
    [null, 1, 3, 95].flatMap((second, column) =>
      process.env.ATTACK_ALL === '1' || (row + column + index) % 2 === 0 ? [{ key, second }] : [],
    ),
  );
  it.each(pairs)('club $key, second $second', async ({ key, second }) => {
    const links = { club: { id: key }, ...(second !== null && { second: { id: second } }) };
    const item = { id: 10, name: 'new1', ...links };
    const others = [item, { id: 11, name: 'new2', club: 1 }, { id: 12, name: 'new3', club: { id: second ?? 2 } }];
    // An upsert always looks its items up.
    expect(await outcome('POST', '?fields=id', item)).toEqual(await outcome('POST', '?fields=id&on_conflict=id', item));
    expect(await outcome('POST', '?fields=id', others)).toEqual(
      await outcome('POST', '?fields=id&on_conflict=id', others),
    );
    // So do changes of what a query selects.
    const query = { filter: { id: { _in: [2, 3] } }, sort: ['id'] };
    expect(await outcome('PATCH', '?fields=id', { keys: [2, 3], data: links })).toEqual(
      await outcome('PATCH', '?fields=id', { query, data: links }),
    );
  });
});
