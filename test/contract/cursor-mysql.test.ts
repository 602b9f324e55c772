/** Pages by cursor on MariaDB and MySQL: columns of every type that has an order, whose values their texts could lose. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { servers } from '../support/servers.ts';

const columns: readonly (readonly [type: string, values: readonly string[]])[] = [
  ["enum('z', 'a', 'B', '')", ["'z'", "'a'", "'B'", "''"]],
  ["enum('z', 'a') CHARACTER SET latin1", ["'z'", "'a'"]],
  ["set('z', 'a', 'b')", ["'z'", "'a'", "'z,b'", "''"]],
  ['float', ['0.1', '-1e30', '1234567', '1234568', '0']],
  ['double', ['0.1', '-1e300', '5e-324', '0']],
  ['decimal(30, 10)', ['12345678901234567890.0123456789', '-0.1', '0']],
  ['binary(3)', ["X'00FF41'", "X'5C5C5C'", "X'FFFFFF'"]],
  ['varbinary(5)', ["X'00FF'", "''", "X'41'"]],
  ['blob', ["X'00FF'", "''", "X'41'"]],
  ['bit(12)', ["b'101010101010'", "b'1'", "b'0'"]],
  ['bit(1)', ["b'1'", "b'0'"]],
  ['tinyint(1)', ['1', '0', '2']],
  ['bigint unsigned', ['18446744073709551615', '9223372036854775808', '0']],
  ['int(5) zerofill', ['42', '0']],
  ['year', ['0', '1999', '2155']],
  ['date', ["'0000-00-00'", "'2024-02-00'", "'9999-12-31'"]],
  ['datetime(6)', ["'0000-00-00'", "'2024-01-02 03:04:05.000001'", "'2024-01-02 03:04:05'"]],
  ['timestamp(3) NULL', ["'2024-01-02 03:04:05.001'", "'1970-01-02 00:00:00'"]],
  ['time(3)', ["'-838:59:59'", "'00:00:00.001'", "'100:00:00'"]],
  ['char(4)', ["'a'", "'A'", "'é'", "''"]],
  ['varchar(9)', ["'a'", "'A'", "'a '", "'é'", "'null'"]],
  ['varchar(9) CHARACTER SET latin1', ["'a'", "'A'", "'é'"]],
];
const names = columns.map((_, index) => `c${index}`);

const declared = columns.map(([type], index) => `c${index} ${type}`).join(', ');
const rows = Array.from({ length: 40 }, (_, row) => {
  const cells = columns.map(([, values], index) => values[(row * 7 + index) % (values.length + 1)] ?? 'NULL');
  return `(${row}, ${row % 7}, ${cells.join(', ')})`;
});
const sql = `SET SESSION sql_mode = '';
CREATE TABLE samples (id int PRIMARY KEY, ref int, ${declared}, FOREIGN KEY (ref) REFERENCES samples (id));
INSERT INTO samples VALUES ${rows.join(',\n')};
CREATE TABLE bytes (id binary(2) PRIMARY KEY);
INSERT INTO bytes VALUES (X'0000'), (X'00FF'), (X'5C78'), (X'FFFE');
CREATE TABLE labels (id enum('z', 'a', 'B') PRIMARY KEY);
INSERT INTO labels VALUES ('z'), ('a'), ('B');
CREATE TABLE flags (id set('z', 'a', 'B') PRIMARY KEY);
INSERT INTO flags VALUES ('z'), ('a'), ('z,B'), (''), ('z,a,B');`;

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql);

  /** The keys of a list, page by page, and of the pages back from its end. */
  async function walk(collection: string, sort: string) {
    const read = async (query: string) =>
      (await platform().admin(`/items/${collection}?fields=id&sort=${sort}${query}`)).json;
    const all: unknown[] = [];
    for (let next: unknown = ''; typeof next === 'string' && all.length < 100; ) {
      const page = await read(`&limit=3&cursor=${next}`);
      if (page.data === undefined) return { problem: page.errors[0].message };
      all.push(...page.data.map(({ id }: { id: unknown }) => id));
      next = page.meta.next_cursor;
    }
    return all;
  }

  it.each([...names, ...names.map((name) => `-${name}`), ...names.map((name) => `ref.${name}`)])(
    'meet every row once, in the order of the list: %s',
    async (sort) => {
      const { json } = await platform().admin(`/items/samples?fields=id&sort=${sort}`);
      expect(await walk('samples', sort), columns[names.indexOf(sort.replace(/^-|ref\./, ''))]?.[0]).toEqual(
        json.data.map(({ id }: { id: unknown }) => id),
      );
    },
  );

  it('meet every row once where the key is binary, an enum or a set', async () => {
    expect(await walk('bytes', '')).toEqual(['AAA=', 'AP8=', 'XHg=', '//4=']);
    expect(await walk('labels', '')).toEqual(['z', 'a', 'B']);
    expect(await walk('flags', '')).toEqual([[], ['z'], ['a'], ['z', 'B'], ['z', 'a', 'B']]);
  });
});
