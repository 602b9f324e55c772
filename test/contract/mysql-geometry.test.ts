/** Geometry of MySQL and MariaDB: read, sorted and grouped as well-known text. Source: docs/databases.md. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const sql = `CREATE TABLE places (id int PRIMARY KEY, spot point, area geometry);
  INSERT INTO places VALUES (1, POINT(1, 2), POINT(0, 0)), (2, POINT(1, 2), NULL), (3, NULL, POINT(5, 5));`;

describe.each(servers)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('is not there');

  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    const url = await createMysqlDatabase(await start(), sql);
    project = await createProject();
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  it.each([
    ['fields=id,spot,area&limit=1', [{ id: 1, spot: 'POINT(1 2)', area: 'POINT(0 0)' }]],
    ['fields=id&filter[spot][_nnull]=true&sort=spot,-id', [{ id: 2 }, { id: 1 }]],
    [
      'groupBy=spot&aggregate[count]=*&sort=-spot',
      [
        { spot: 'POINT(1 2)', count: 2 },
        { spot: null, count: 1 },
      ],
    ],
    ['aggregate[countDistinct]=spot,area', [{ countDistinct: { spot: 1, area: 2 } }]],
  ])('%s', async (query, data) => {
    const { status, json } = await platform.admin(`/items/places?${query}`);
    expect([status, json.data]).toEqual([200, data]);
  });
});
