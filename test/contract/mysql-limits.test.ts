/** Values that only the columns of MariaDB and MySQL know not to take: errors name the field, so that forms can show them beside it. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { servers } from '../support/servers.ts';

const sql = `CREATE TABLE stages (id int PRIMARY KEY, name varchar(20), seats mediumint, part_of int, FOREIGN KEY (part_of) REFERENCES stages (id));
CREATE TABLE gigs (id int AUTO_INCREMENT PRIMARY KEY, stage_id int, minutes tinyint unsigned, sold mediumint, opened year, flags bit(12), code binary(4),
  due timestamp NULL, begins datetime(6), day date,
  equipment set('lights', 'sound'), legacy varchar(20) CHARACTER SET latin1, rider json, FOREIGN KEY (stage_id) REFERENCES stages (id));
INSERT INTO stages VALUES (1, 'main', 10, NULL);
INSERT INTO gigs (id, stage_id) VALUES (1, 1), (2, 1);`;

describe.each(servers)('$name', ({ name, missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql);

  const errorsOf = async (path: string, method: string, body: unknown): Promise<unknown> =>
    (await platform().admin(path, { method, body })).json.errors;

  it.each([
    ['minutes', 256, 'range', 'is out of range'],
    ['minutes', -1, 'range', 'is out of range'],
    ['sold', 8_388_608, 'range', 'is out of range'],
    ['opened', 1800, 'range', 'is out of range'],
    ['due', '2038-01-19T03:14:08Z', 'range', 'is out of range'],
    ['due', '1970-01-01T00:00:00Z', 'range', 'is out of range'],
    ['flags', '//8=', 'max_length', 'is too long'],
    ['code', 'QUJDREU=', 'max_length', 'is too long'],
    ['equipment', ['lights', 'lasers'], 'enum', 'has a value that is not one of the allowed ones'],
    ['equipment', 'lasers', 'enum', 'has a value that is not one of the allowed ones'],
  ])('%s does not take %j', async (field, value, type, problem) => {
    const broken = { [field]: value };
    const error = (name: string, place = {}, subject = `"${name}"`) => [
      {
        message: `${subject} ${problem}.`,
        extensions: { code: 'FAILED_VALIDATION', collection: 'gigs', field: name, type, ...place },
      },
    ];
    expect(await errorsOf('/items/gigs/1', 'PATCH', broken)).toEqual(error(field));
    expect(await errorsOf('/items/gigs', 'POST', broken)).toEqual(error(field));
    const listed = await errorsOf('/items/gigs', 'POST', [{ stage_id: 1 }, broken]);
    const placed = error(field, { index: 1 }, `"${field}" of item 1`);
    expect(typeof value === 'number' ? [placed] : [error(field), placed]).toContainEqual(listed);
    const nested = await errorsOf('/items/stages/1', 'PATCH', { name: 'x', gigs: { update: [{ id: 1, ...broken }] } });
    const names = [`gigs.${field}`, `gigs[0].${field}`, `gigs.update[0].${field}`];
    expect(names.map((name) => error(name))).toContainEqual(nested);
  });

  it('times have seven digits of a second from some clients', async () => {
    const made = async (due: string) => {
      const { json, text } = await platform().admin('/items/gigs?fields=due', { method: 'POST', body: { due } });
      return json.data?.due ?? text;
    };
    expect(await made('2026-03-29T02:30:00.1234567+01:00')).toBe('2026-03-29T01:30:00+00:00');
    expect(await made('2026-03-29T02:30:00.9999999-05:30')).toBe('2026-03-29T08:00:01+00:00');
    expect(await made('2026-03-29T02:30:00.1234567Z')).toBe('2026-03-29T02:30:00+00:00');
    const begins = '9999-12-31T23:59:59.9999999';
    const last = await platform().admin('/items/gigs?fields=begins', { method: 'POST', body: { begins } });
    expect(last.json).toEqual({ data: { begins: '9999-12-31T23:59:59.999999' } });
  });

  it('years that the servers do not have are refused, also by filters, where they would match nothing', async () => {
    const filtered = async (filter: object) => {
      const { json } = await platform().admin('/items/gigs', { method: 'SEARCH', body: { query: { filter } } });
      return json.errors?.[0]?.extensions.code ?? 'answered';
    };
    for (const text of ['infinity', '-infinity', '10000-01-01', '0000-01-01', '-0044-03-15']) {
      for (const field of ['due', 'begins', 'day']) {
        expect([text, field, await filtered({ [field]: { _lt: text } })]).toEqual([text, field, 'INVALID_QUERY']);
        expect(await errorsOf('/items/gigs', 'POST', { [field]: text })).toMatchObject([
          { extensions: { code: 'INVALID_PAYLOAD' } },
        ]);
      }
    }
    expect(await filtered({ due: { _lt: '9999-12-31T23:59:59.9999999Z' } })).toBe('answered');
    const query = { filter: { id: { _eq: 1 }, stage_id: { id: { _eq: 1 } } }, fields: ['id'] };
    await platform().admin('/items/gigs/1', { method: 'PATCH', body: { due: '2030-01-01T00:00:00Z' } });
    const before = { ...query, filter: { ...query.filter, due: { _lt: '9999-12-31T23:59:59.9999999Z' } } };
    const found = await platform().admin('/items/gigs', { method: 'SEARCH', body: { query: before } });
    expect(found.json).toEqual({ data: [{ id: 1 }] });
  });

  it('paths into JSON are refused where a statement has no room for their parameters', async () => {
    const answered = async (paths: number) => {
      const filter = { _or: Array.from({ length: paths }, (_, index) => ({ rider: { [`/${index}`]: true } })) };
      return platform().admin('/items/gigs', { method: 'SEARCH', body: { query: { fields: ['id'], filter } } });
    };
    expect((await answered(400)).json).toEqual({ data: [] });
    expect((await answered(6_000)).json.errors).toEqual([
      { message: 'The query has too many values.', extensions: { code: 'INVALID_QUERY' } },
    ]);
  });

  it('characters that a column lacks are refused', async () => {
    const error = (message: string) => [{ message, extensions: { code: 'INVALID_PAYLOAD' } }];
    const refusals = [error('"legacy" has a character that its column does not take.')];
    // MySQL tells the column of some statements only.
    if (name === 'MySQL') refusals.push(error('A text has a character that its column does not take.'));
    expect(refusals).toContainEqual(await errorsOf('/items/gigs/1', 'PATCH', { legacy: '李' }));
    expect(refusals).toContainEqual(await errorsOf('/items/gigs', 'POST', { legacy: '李' }));
  });

  it('labels of a set are taken in any order', async () => {
    const { json } = await platform().admin('/items/gigs/2?fields=equipment', {
      method: 'PATCH',
      body: { equipment: ['sound', 'lights'] },
    });
    expect(json.data).toEqual({ equipment: ['lights', 'sound'] });
    const empty = await platform().admin('/items/gigs/2?fields=equipment', {
      method: 'PATCH',
      body: { equipment: [] },
    });
    expect(empty.json.data).toEqual({ equipment: [] });
  });
});
