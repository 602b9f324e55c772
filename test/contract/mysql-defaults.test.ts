/** Defaults of MariaDB and MySQL: items of a batch that leave a field out get what they get alone. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { servers } from '../support/servers.ts';

/** Columns by their declaration, with what a default reads as. */
const columns: readonly (readonly [declaration: string, value: unknown])[] = [
  ["bit(1) DEFAULT b'1'", true],
  ["bit(8) DEFAULT b'10100101'", 'pQ=='],
  ["binary(4) DEFAULT x'01020304'", 'AQIDBA=='],
  ["varbinary(4) DEFAULT x'0102'", 'AQI='],
  ["varbinary(4) DEFAULT x'ff273f'", '/yc/'],
  [String.raw`varchar(50) DEFAULT 'a\\z ''it''s'' "b"'`, String.raw`a\z 'it's' "b"`],
  [String.raw`text DEFAULT ('c\\d')`, String.raw`c\d`],
  [String.raw`varchar(50) DEFAULT (concat('e\\', 'it''s'))`, String.raw`e\it's`],
  ["json DEFAULT (json_object('a', 1))", { a: 1 }],
  ["date DEFAULT (date '2020-01-01' + interval 1 day)", '2020-01-02'],
  ['decimal(8, 2) DEFAULT -2.25', '-2.25'],
  ['bigint unsigned DEFAULT 18446744073709551615', '18446744073709551615'],
  ['year DEFAULT 1999', 1999],
  ["enum('a', 'it''s') DEFAULT 'it''s'", "it's"],
  [String.raw`enum('a\\b', 'two\nlines', 'a) b') DEFAULT 'a\\b'`, String.raw`a\b`],
  [String.raw`enum('a', 'two\nlines') DEFAULT 'two\nlines'`, 'two\nlines'],
  [String.raw`set('a', 'b\\', 'c') DEFAULT 'a,b\\'`, ['a', 'b\\']],
  // Characters of two, three and four bytes, in constants and in expressions.
  ["varchar(50) CHARACTER SET utf8mb4 DEFAULT 'é€😀''\\\\?'", "é€😀'\\?"],
  ["text CHARACTER SET utf8mb4 DEFAULT ('é€')", 'é€'],
  ["varchar(50) CHARACTER SET utf8mb4 DEFAULT (concat('é€', '?'))", 'é€?'],
];
const names = columns.map((_, index) => `c${index}`);
const sql = `CREATE TABLE notes (id int AUTO_INCREMENT PRIMARY KEY, part_of int, FOREIGN KEY (part_of) REFERENCES notes (id),
  ${columns.map(([declaration], index) => `c${index} ${declaration}`).join(', ')});`;
const defaults = Object.fromEntries(columns.map(([, value], index) => [`c${index}`, value]));
const nulls = Object.fromEntries(names.map((name) => [name, null]));

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql);

  const make = async (body: unknown, fields = names) => {
    const answer = await platform().admin(`/items/notes?fields=${fields}`, { method: 'POST', body });
    return answer.json.data ?? answer.text;
  };

  it('are those of an item alone', async () => {
    expect(await make({})).toEqual(defaults);
  });

  it('are those of items of a batch in which others have values, or null', async () => {
    expect(await make([{}, nulls, {}, defaults])).toEqual([defaults, nulls, defaults, defaults]);
  });

  it('are those of related items', async () => {
    const notes = [{}, nulls];
    const made = await make({ notes }, [...names, ...names.map((name) => `notes.${name}`)]);
    expect(made).toEqual({ ...defaults, notes: [defaults, nulls] });
  });
});
