/** Children whose key holds the key of the item above, of types that have several forms: named by an address, and repeated. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

/** Types of keys: the SQL of one, its form in an address, in answers, and another spelling of those that have one in payloads. */
const kinds = {
  bytes: { type: 'bytea', sql: String.raw`'\xff00'`, path: '%2FwA%3D', value: '/wA=', other: '/wA=' },
  digits: { type: 'numeric(6, 2)', sql: '1.5', path: '1.50', value: '1.50', other: 1.5 },
  prices: { type: 'money', sql: `'1.50'`, path: '1.50', value: '1.50', other: '1.5' },
  lists: { type: 'int[]', sql: `'{1,2}'`, path: '%5B1%2C2%5D', value: [1, 2], other: [1, 2] },
  places: {
    type: 'place',
    sql: `('a', 1)`,
    path: '%7B%22street%22%3A%22a%22%2C%22no%22%3A1%7D',
    value: { street: 'a', no: 1 },
  },
} as const;

const sql = `CREATE TYPE place AS (street text, no int);
  ${Object.entries(kinds)
    .map(
      ([name, { type, sql: key }]) => `CREATE TABLE ${name} (id ${type} PRIMARY KEY);
      CREATE TABLE parts_of_${name} (owner ${type} REFERENCES ${name}, seq int, note text, PRIMARY KEY (owner, seq));
      INSERT INTO ${name} VALUES (${key}); INSERT INTO parts_of_${name} VALUES (${key}, 1, 'old');`,
    )
    .join('\n')}`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql });
});
afterAll(() => project?.close());

describe.each(Object.entries(kinds))('%s', (name, { path, ...kind }) => {
  const parts = `parts_of_${name}`;
  const patch = async (body: object) => {
    const query = `fields=${parts}.seq,${parts}.note&deep[${parts}][_sort]=seq`;
    const { json, text } = await project.admin(`/items/${name}/${path}?${query}`, {
      method: 'PATCH',
      body: { [parts]: body },
    });
    return json.data?.[parts] ?? text;
  };
  const old = { seq: 1, note: 'old' };

  it('takes new children and changed ones', async () => {
    expect(await patch({ create: [{ seq: 2 }], update: [{ seq: 1, note: 'changed' }] })).toEqual([
      { seq: 1, note: 'changed' },
      { seq: 2, note: null },
    ]);
    expect(await patch([old])).toContain('required');
  });

  it('takes its key again, in any spelling, and no other one', async () => {
    for (const owner of 'other' in kind ? [kind.value, kind.other] : []) {
      expect(await patch({ update: [{ owner, ...old }] })).toContainEqual(old);
    }
    expect(await patch({ create: [{ owner: null, seq: 3 }] })).toContain('is set by the relation');
  });
});
