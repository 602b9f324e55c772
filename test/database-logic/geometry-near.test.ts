/** `_near` on MySQL and MariaDB: the SPATIAL index serves it by a box, which leaves nothing out. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform, runPlatform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';

const rows = 10_000;

/** Points over all of the earth, the same each time. */
function placeOf(id: number): readonly [number, number] {
  const fraction = (step: number): number => (id * step) % 1;
  return [fraction(0.618_033_988_7) * 359 - 179.5, fraction(0.414_213_562_3) * 178 - 89];
}

describe.each(servers)('$name', ({ dialect, missing, start }) => {
  if (missing) return void it.skip('skipped: the server is not there');
  const onEarth = dialect === 'mysql';
  let url: string;
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    const reference = onEarth ? ", 4326, 'axis-order=long-lat'" : '';
    const points = Array.from(
      { length: rows },
      (_, id) => `(${id}, ST_GeomFromText('POINT(${placeOf(id).join(' ')})'${reference}))`,
    );
    url = await createMysqlDatabase(
      await start(),
      `CREATE TABLE spots (id int PRIMARY KEY, place point NOT NULL ${onEarth ? 'SRID 4326' : ''}, SPATIAL INDEX places (place));
       INSERT INTO spots VALUES ${points.join(', ')}; ANALYZE TABLE spots;`,
    );
    project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: {}\n');
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  const distance = onEarth ? 500_000 : 4;
  const near = (to: readonly number[]): string =>
    `filter[place][_near][to]=${to.join(',')}&filter[place][_near][within]=${distance}`;

  it('uses the index', async () => {
    const request = `GET /items/spots?fields=id&${near([4.35, 50.85])}`;
    const { stdout, stderr } = await runPlatform(['explain', '--project', project.folder, '--as', 'admin', request], {
      DATABASE_URL: url,
    });
    expect(stdout + stderr).toMatch(/places {2}34|range scan on t0 using places/);
  });

  it.each([[[4.35, 50.85]], [[0, 0]], [[-70, -60]], [[179.9, 10]], [[-179, -45]], [[20, 88.5]], [[20, -89.9]]])(
    'finds near %j what a measure of all rows finds',
    async (to) => {
      const ids = async (query: string): Promise<readonly number[]> =>
        (await platform.admin(`/items/spots?limit=-1&sort=id&${query}`)).json.data;
      const found = await ids(`fields=id&${near(to)}`);
      // A distance that no box holds measures every row.
      const everything = await ids(
        `fields=id,distance(place)&filter={"place":{"_near":{"to":[${to}],"within":100000000}}}`,
      );
      const expected = everything
        .filter((row) => Number(Object(row).place_distance) <= distance)
        .map((row) => ({ id: Object(row).id }));
      expect(found).toEqual(expected);
      if (to[0] === 4.35) expect(found.length).toBeGreaterThan(0);
    },
  );
});
