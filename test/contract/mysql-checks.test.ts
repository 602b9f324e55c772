/** Checks of MySQL that it does not enforce: what rows hold all the same is read and written as what it is. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const list = (name: string): string => `${name} varchar(9) COLLATE utf8mb4_0900_bin CHECK (${name} IN ('new', 'used'))`;
const sql = `CREATE TABLE notes (id int PRIMARY KEY, doc text, proved text, ${list('state')} NOT ENFORCED, ${list('kept')},
  CHECK (json_valid(doc)) NOT ENFORCED, CHECK (json_valid(proved)));
INSERT INTO notes VALUES (1, '{broken', '{"a":1}', 'lost', 'new');`;

describe.each(servers.filter(({ dialect }) => dialect === 'mysql'))('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql);
  const schemas = async () => (await platform().admin('/server/specs/oas')).json.components.schemas;

  it('reads texts that break a check as texts', async () => {
    const { text } = await platform().admin('/items/notes/1');
    expect(JSON.parse(text).data).toEqual({ id: 1, doc: '{broken', proved: { a: 1 }, state: 'lost', kept: 'new' });
  });

  it('describes only values that the server promises', async () => {
    const { ItemsNotes: item, ValuesNotes: values } = await schemas();
    const properties = { ...values?.properties, ...item.properties };
    expect(properties.state).not.toHaveProperty('enum');
    expect(properties.kept.enum).toEqual(['new', 'used', null]);
    expect(properties.doc.type).toEqual(['string', 'null']);
  });

  it('writes what the server takes', async () => {
    const change = (body: object) => platform().admin('/items/notes/1?fields=state', { method: 'PATCH', body });
    expect((await change({ state: 'worn', doc: 'also broken' })).json).toEqual({ data: { state: 'worn' } });
    expect(failure(await change({ kept: 'worn' }))).toBe('400 FAILED_VALIDATION');
  });
});
