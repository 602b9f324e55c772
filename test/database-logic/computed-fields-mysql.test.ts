/** Virtual columns of MariaDB and MySQL, which are the computed fields there. */
import { describe, expect, it } from 'vitest';
import { serveSuite } from '../support/family.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const sql = `CREATE TABLE shops (id int PRIMARY KEY, name varchar(40) NOT NULL, stars int NOT NULL, secret varchar(40),
    label varchar(80) AS (CONCAT(name, ' ', stars)) VIRTUAL, hint varchar(80) AS (CONCAT(name, secret)) VIRTUAL);
  INSERT INTO shops (id, name, stars, secret) VALUES (1, 'Harbour', 3, 'x'), (2, 'Market', 5, 'y');`;

const permissions = 'permissions:\n  public: { shops: { read: { fields: [id, name, label] } } }\n';

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  const platform = serveSuite(start, sql, { 'permissions.yaml': permissions });

  const shops = async (query: string): Promise<unknown> => {
    const answer = await platform().ask(`/items/shops?${query}`);
    return answer.status === 200 ? answer.json.data : failure(answer);
  };

  it('are read, filtered, sorted and aggregated as columns', async () => {
    expect(await shops('fields=label&sort=-label')).toEqual([{ label: 'Market 5' }, { label: 'Harbour 3' }]);
    expect(await shops('fields=id&filter[label][_ends_with]=5')).toEqual([{ id: 2 }]);
    expect(await shops('aggregate[max]=label')).toEqual([{ max: { label: 'Market 5' } }]);
    const body = { query: '{ shops(sort: ["label"]) { label } }' };
    const { json } = await platform().ask('/graphql', { method: 'POST', body });
    expect(json.data.shops).toEqual([{ label: 'Harbour 3' }, { label: 'Market 5' }]);
  });

  it('are closed to roles that may not read them', async () => {
    for (const query of ['fields=hint', 'filter[hint][_contains]=x', 'sort=hint', 'aggregate[max]=hint'])
      expect(await shops(query)).toBe('403 FORBIDDEN');
    expect(await shops('search=Harbourx')).toEqual([]);
  });

  it('cannot be written', async () => {
    const body = { id: 3, name: 'x', stars: 1, label: 'y' };
    expect(failure(await platform().admin('/items/shops', { method: 'POST', body }))).toBe('400 INVALID_PAYLOAD');
  });
});
