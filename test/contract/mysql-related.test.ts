/** Lists of related items on MariaDB and MySQL, which one aggregate of texts makes. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { servers } from '../support/servers.ts';

const types = ['int', 'decimal(9,2)', 'time', 'bit(1)', "enum('a','b')", 'varchar(9)', 'datetime(6)'] as const;
/** Values in their order; the first is less than null would be as a number, or the same as an empty text. */
const values = [
  "-1, -1.5, '00:00:00', b'0', 'a', '', '1000-01-01'",
  "0, 0, '00:00:01', b'1', 'b', 'b', '2024-01-01 00:00:00.5'",
] as const;
const columns = types.map((type, index) => `c${index} ${type}`).join(', ');
const sql = `CREATE TABLE stages (id int PRIMARY KEY, name varchar(20), flags bit(12));
CREATE TABLE gigs (id int PRIMARY KEY, stage_id int, ${columns}, title varchar(20), flags bit(12), FOREIGN KEY (stage_id) REFERENCES stages (id));
CREATE TABLE rates (id int PRIMARY KEY, code int, KEY (code));
SET @any = 0 /*!80400 , SESSION restrict_fk_on_non_standard_key = OFF */;
CREATE TABLE bills (id int PRIMARY KEY, code int, rate int, FOREIGN KEY (code) REFERENCES rates (code), FOREIGN KEY (RATE) REFERENCES rates (ID));
CREATE TABLE away (id int PRIMARY KEY, stage_id int, name varchar(20), FOREIGN KEY (stage_id) REFERENCES stages (id));
CREATE TABLE i (id int PRIMARY KEY, name varchar(20));
INSERT INTO rates VALUES (1, 5), (2, 5);
INSERT INTO bills VALUES (1, 5, 2);
INSERT INTO stages VALUES (1, 'main', b'100110001000');
INSERT INTO gigs VALUES (1, 1, ${values[0]}, 'é', b'000110001000'), (2, 1, ${types.map(() => 'NULL').join()}, 'b', NULL),
  (3, 1, ${values[1]}, 'c', b'111111111111'), (4, 1, ${types.map(() => 'NULL').join()}, 'd', NULL);`;

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql);

  const readGigs = async (parameters: string): Promise<unknown> => {
    const { json } = await platform().admin(`/items/stages/1?fields=gigs.id,gigs.title&${parameters}`);
    return json.data.gigs.map(({ id }: { readonly id: number }) => id);
  };

  it.each(types)(
    'nulls of %s come first in ascending orders and last in descending ones, as in lists',
    async (type) => {
      const name = `c${types.indexOf(type)}`;
      expect(await readGigs(`deep[gigs][_sort]=${name}`)).toEqual([2, 4, 1, 3]);
      expect(await readGigs(`deep[gigs][_sort]=-${name},-id`)).toEqual([3, 1, 4, 2]);
      expect(await readGigs(`deep[gigs][_sort]=${name}&deep[gigs][_limit]=2`)).toEqual([2, 4]);
      const { json } = await platform().admin(`/items/gigs?fields=id&sort=${name}`);
      expect(json.data).toEqual([{ id: 2 }, { id: 4 }, { id: 1 }, { id: 3 }]);
      const groups = `fields=gigs&deep[gigs][_group]=${name}&deep[gigs][_aggregate][count]=*`;
      const grouped = await platform().admin(`/items/stages/1?${groups}`);
      expect(grouped.json.data.gigs.map(({ count }: { readonly count: number }) => count)).toEqual([2, 1, 1]);
    },
  );

  it('tables may have short names, also where they stand without their database', async () => {
    const send = async (method: string, path: string, body: unknown) => {
      const { status, json } = await platform().admin(`/items/${path}`, { method, body });
      return [status, json?.data];
    };
    const away = 'stages/1?fields=away.id';
    expect(await send('PATCH', away, { away: [{ id: 7, name: 'x' }, { id: 8 }] })).toEqual([
      200,
      { away: [{ id: 7 }, { id: 8 }] },
    ]);
    expect(await send('PATCH', away, { away: [8] })).toEqual([200, { away: [{ id: 8 }] }]);
    for (const name of ['a', 'b'])
      expect(await send('POST', 'i?on_conflict=id', { id: 1, name })).toEqual([200, { id: 1, name }]);
  });

  it('bits keep their bytes beside texts', async () => {
    const { json } = await platform().admin('/items/stages/1?fields=flags,gigs.title,gigs.flags');
    const flags = ['AYg=', null, 'D/8=', null];
    expect(json.data).toEqual({
      flags: 'CYg=',
      gigs: ['é', 'b', 'c', 'd'].map((title, index) => ({ title, flags: flags[index] })),
    });
    const parent = await platform().admin('/items/gigs/1?fields=title,stage_id.name,stage_id.flags');
    expect(parent.json.data).toEqual({ title: 'é', stage_id: { name: 'main', flags: 'CYg=' } });
  });

  it('keys that lead to several rows are no relations, those in other letters are', async () => {
    const { json } = await platform().admin('/items/bills?fields=*,rate.code');
    expect(json).toEqual({ data: [{ id: 1, code: 5, rate: { code: 5 } }] });
    expect((await platform().admin('/items/rates/2?fields=bills.id')).json).toEqual({ data: { bills: [{ id: 1 }] } });
    const several = await platform().admin('/items/bills?fields=code.id');
    expect([several.status, several.json.errors[0].extensions.code]).toEqual([403, 'FORBIDDEN']);
    const refused = await platform().admin('/items/bills', { method: 'POST', body: { id: 2, code: 6 } });
    expect([refused.status, refused.json.errors[0].extensions.code]).toEqual([400, 'FAILED_VALIDATION']);
  });
});
