/** Texts of MariaDB and MySQL: those beyond the length of their columns are refused, and equal ones are told apart. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { withMysql } from '../support/mariadb.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const types = { tinytext: 255, text: 65_535, tinyblob: 255, 'text CHARACTER SET latin1': 65_535 } as const;
const columns = Object.keys(types).map((type, index) => `c${index} ${type}`);
const sql = `CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, part_of int, ${columns.join(', ')},
  FOREIGN KEY (part_of) REFERENCES notes (id));
CREATE TABLE teams (id int PRIMARY KEY, name varchar(9));
CREATE TABLE words (code varchar(9) CHARACTER SET latin1 COLLATE latin1_bin, place int,
  name varchar(9) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL, mood enum('sad', 'glad') CHARACTER SET latin1,
  part_of varchar(9) CHARACTER SET latin1 COLLATE latin1_bin, PRIMARY KEY (code),
  FOREIGN KEY (part_of) REFERENCES words (code), UNIQUE (name), UNIQUE (place, name));
CREATE TABLE pairs (word varchar(9) CHARACTER SET latin1, n int, PRIMARY KEY (word, n));
INSERT INTO words (code, place, name, mood) VALUES ('é', 1, 'a', 'glad'), ('E', 2, 'B', 'sad'), ('?', 3, 'Ö', NULL);
UPDATE words SET part_of = IF(code = 'é', 'E', 'é');
CREATE TABLE moods (id int PRIMARY KEY, mood enum('😀', 'b', '😁?') CHARACTER SET utf8mb4, looks set('👀', 'c') CHARACTER SET utf8mb4);
CREATE TABLE many (code varchar(9) CHARACTER SET latin1 PRIMARY KEY);
INSERT INTO many WITH RECURSIVE g (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM g WHERE n < 1000)
  SELECT CONCAT('c', n + 1000 * k) FROM g, (SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2) AS thousands;
INSERT INTO pairs VALUES ('Ärger', 1), ('arger', 2);
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

  it('labels may have characters of four bytes', async () => {
    const body = { id: 1, mood: '😁?', looks: ['👀', 'c'] };
    expect((await platform().admin('/items/moods', { method: 'POST', body })).json.data).toEqual(body);
    const found = await platform().admin(`/items/moods?fields=id&filter[mood]=${encodeURIComponent('😁?')}`);
    expect(found.json.data).toEqual([{ id: 1 }]);
    const other = { method: 'PATCH', body: { mood: '?' } };
    expect(failure(await platform().admin('/items/moods/1', other))).toBe('400 FAILED_VALIDATION');
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

  describe('of another character set', () => {
    const codes = async (query: string): Promise<unknown> => {
      const { json, text } = await platform().admin(`/items/words?fields=code&${query}`);
      return json.data?.map(({ code }: { readonly code: string }) => code) ?? text;
    };

    it('are ordered as their columns are, also through relations, and by pages', async () => {
      expect(await codes('sort=name')).toEqual(['E', 'é', '?']);
      expect(await codes('sort=-name')).toEqual(['?', 'é', 'E']);
      expect(await codes('sort=part_of.name,-name')).toEqual(['é', '?', 'E']);
      expect(await codes('sort=mood&filter[mood][_nnull]=true')).toEqual(['E', 'é']);
      expect(await codes('')).toEqual(['?', 'E', 'é']);
      for (const sort of ['name', '-name', 'part_of.name,-name', 'mood', '-mood,name', '']) {
        const whole = await codes(`sort=${sort}`);
        const paged: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const { json } = await platform().admin(`/items/words?fields=code&sort=${sort}&limit=1&cursor=${cursor}`);
          paged.push(...json.data.map(({ code }: { code: string }) => code));
          cursor = json.meta.next_cursor;
        }
        expect([sort, paged]).toEqual([sort, whole]);
      }
    });

    it('are found by their characters', async () => {
      expect(await codes('filter[code]=é')).toEqual(['é']);
      expect(await codes('filter[code][_in]=é,e,李')).toEqual(['é']);
      expect(await codes('filter[code]=李')).toEqual([]);
      expect(await codes('filter[name][_neq]=A&sort=name')).toEqual(['E', 'é', '?']);
      expect(await codes('filter[mood]=glad')).toEqual(['é']);
      const statusOf = async (path: string): Promise<number> => (await platform().admin(path)).status;
      const keys = ['é', 'e', '李', '%3F'];
      const statuses = await Promise.all(keys.map((key) => statusOf(`/items/words/${key}`)));
      expect(statuses).toEqual([200, 403, 403, 200]);
      expect(await statusOf('/items/pairs/Ärger,1')).toBe(200);
      expect(await statusOf('/items/pairs/arger,1')).toBe(403);
      const search = (collection: string, keys: readonly string[]) =>
        platform().admin(`/items/${collection}`, { method: 'SEARCH', body: { keys, query: { fields: ['*'] } } });
      expect((await search('words', ['é', '?'])).json.data).toHaveLength(2);
      expect(failure(await search('words', ['é', '李']))).toBe('403 FORBIDDEN');
      expect((await search('pairs', ['Ärger,1', 'arger,2'])).json.data).toHaveLength(2);
    });

    it('are found by index', async () => {
      const { url } = await start();
      /** Rows that the server has read one after the other, for all of its clients. */
      const readRows = () =>
        withMysql(url, async (connection) => {
          const [rows] = await connection.query("SHOW GLOBAL STATUS LIKE 'Handler_read%next'");
          return Object(rows).reduce((sum: number, { Value: value }: { Value: string }) => sum + Number(value), 0);
        });
      const search = { method: 'SEARCH', body: { keys: ['c7', 'c8'] } } as const;
      for (const ask of [
        () => platform().admin('/items/many/c7'),
        () => platform().admin('/items/many', search),
        () => platform().admin('/items/many?filter[code]=c7'),
        () => platform().admin('/items/many?filter[code][_in]=c7,c8'),
      ]) {
        let fewest = Number.POSITIVE_INFINITY;
        // Other clients of the server may read meanwhile.
        for (let tries = 0; tries < 10 && fewest > 500; tries++) {
          const before = await readRows();
          expect((await ask()).status).toBe(200);
          fewest = Math.min(fewest, (await readRows()) - before);
        }
        expect(fewest).toBeLessThan(2_500);
      }
    });
  });
});
