/** Texts of MariaDB and MySQL: those beyond the length of their columns are refused, and equal ones are told apart. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const types = { tinytext: 255, text: 65_535, tinyblob: 255, 'text CHARACTER SET latin1': 65_535 } as const;
const columns = Object.keys(types).map((type, index) => `c${index} ${type}`);
const sql = `CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, part_of int, ${columns.join(', ')},
  FOREIGN KEY (part_of) REFERENCES notes (id));
CREATE TABLE teams (id int PRIMARY KEY, name varchar(9));
INSERT INTO teams VALUES (1, 'A'), (2, 'a'), (3, 'B'), (4, 'a '), (5, 'b');`;

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql);

  it.each(Object.entries(types))('%s', async (type, longest) => {
    const name = `c${Object.keys(types).indexOf(type)}`;
    const textOf = (length: number): string =>
      type === 'tinyblob' ? Buffer.alloc(length, 1).toString('base64') : 'x'.repeat(length);
    const fits = { [name]: textOf(longest) };
    const tooLong = { [name]: textOf(longest + 1) };
    const path = `/items/notes?fields=id,${name}`;
    const made = await platform().admin(path, { method: 'POST', body: fits });
    expect(made.json.data[name]).toBe(fits[name]);
    const { id } = made.json.data;
    for (const [method, body] of [
      ['POST', tooLong],
      ['POST', [fits, tooLong]],
      ['POST', { notes: [tooLong] }],
      ['PATCH', { keys: [id], data: tooLong }],
      ['PATCH', [{ id, ...tooLong }]],
      ['PATCH', [{ id, notes: [{ ...tooLong }] }]],
    ] as const) {
      expect(failure(await platform().admin(path, { method, body })), JSON.stringify(body).slice(0, 40)).toBe(
        '400 FAILED_VALIDATION',
      );
    }
    const on = `${path}&on_conflict=id`;
    expect(failure(await platform().admin(on, { method: 'POST', body: { id, ...tooLong } }))).toBe(
      '400 FAILED_VALIDATION',
    );
    const { json } = await platform().admin(`${path}&filter[${name}][_nnull]=true`);
    expect(json.data).toEqual([{ id, ...fits }]);
  });

  it('lists tell texts apart that are equal to their column, also beside other conditions', async () => {
    const found = async (names: readonly string[]): Promise<unknown> => {
      const filter = JSON.stringify({ _or: [{ name: { _in: names } }, { id: { _eq: 99 } }] });
      const { json } = await platform().admin(`/items/teams?fields=id&filter=${encodeURIComponent(filter)}`);
      return json.data.map(({ id }: { readonly id: number }) => id);
    };
    expect(await found(['a', 'b'])).toEqual([2, 5]);
    expect(await found(['A', 'b'])).toEqual([1, 5]);
    expect(await found(['a ', 'B'])).toEqual([3, 4]);
  });

  it('results of functions are compared by their characters, too', async () => {
    const found = async (having: object): Promise<unknown> => {
      const query = `groupBy=id&filter[id][_lte]=2&having=${encodeURIComponent(JSON.stringify(having))}`;
      const { json } = await platform().admin(`/items/teams?${query}`);
      return json.data.map(({ id }: { readonly id: number }) => id);
    };
    expect(await found({ min: { name: { _eq: 'a' } } })).toEqual([2]);
    expect(await found({ max: { name: { _neq: 'a' } } })).toEqual([1]);
    expect(await found({ max: { name: { _in: ['A', 'b'] } } })).toEqual([1]);
    expect(await found({ count: { name: { _eq: 1 } }, max: { name: { _nin: ['b'] } } })).toEqual([1, 2]);
  });
});
