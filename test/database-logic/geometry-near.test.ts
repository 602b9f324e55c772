/** `_near` on MySQL and MariaDB: the SPATIAL index serves it by a box, which leaves nothing out. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { servers } from '../support/servers.ts';
import { runWarm } from '../support/warm-command.ts';

const rows = 10_000;

/** Points over all of the earth, the same each time. */
function placeOf(id: number): readonly [number, number] {
  const fraction = (step: number): number => (id * step) % 1;
  return [fraction(0.618_033_988_7) * 359 - 179.5, fraction(0.414_213_562_3) * 178 - 89];
}

/** Points in references of planes: one that is transformed, one that is kept, and one that is none. */
const planes = `CREATE TABLE planes (id int PRIMARY KEY, moved point NOT NULL SRID 3857, kept point NOT NULL SRID 3857, plain point NOT NULL SRID 0,
    SPATIAL INDEX moveds (moved), SPATIAL INDEX kepts (kept), SPATIAL INDEX plains (plain));
  INSERT INTO planes SELECT id, p, p, ST_SRID(p, 0) FROM
    (SELECT id, ST_Transform(place, 3857) AS p FROM spots WHERE ABS(ST_Latitude(place)) < 80) s; ANALYZE TABLE planes;`;

/** References that bend boxes: a Mercator's on its side, a cone and an equal area. */
const bending = [32_631, 2_154, 3_035];
const bends = bending
  .map(
    (
      srid,
    ) => `CREATE TABLE bends_${srid} (id int PRIMARY KEY, place point NOT NULL SRID ${srid}, SPATIAL INDEX bent (place));
  INSERT INTO bends_${srid} SELECT id, ST_Transform(ST_GeomFromText(CONCAT('POINT(', (id * 0.6180339887) % 1 * 8 - 1, ' ', (id * 0.4142135623) % 1 * 12 + 41, ')'),
    4326, 'axis-order=long-lat'), ${srid}) FROM spots WHERE id < 4000; ANALYZE TABLE bends_${srid};`,
  )
  .join('\n');

const planesOf = (position: readonly number[]) => {
  const point = { type: 'Point', coordinates: position };
  return { moved: point, kept: point, plain: point };
};

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
       INSERT INTO spots VALUES ${points.join(', ')}; ANALYZE TABLE spots;${onEarth ? planes + bends : ''}`,
    );
    project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), 'permissions: {}\n');
    const kept = "export default { collections: { planes: { fields: { kept: { geo: { srid: 'keep' } } } } } };\n";
    if (onEarth) await writeFile(join(project.folder, 'platform.config.ts'), kept);
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
  });

  it.runIf(onEarth).each(['moved', 'kept', 'plain'])('uses that of a plane: %s', async (name) => {
    const to = name === 'moved' ? '4.35,50.85' : '500000,6600000';
    const request = `GET /items/planes?fields=id&filter[${name}][_near][to]=${to}&filter[${name}][_near][within]=50000`;
    const { stdout, stderr } = await runWarm(['explain', '--project', project.folder, '--as', 'admin', request], {
      DATABASE_URL: url,
    });
    expect(stdout + stderr).toMatch(new RegExp(`${name}s {2}34|range scan on t0 using ${name}s`));
    const found = async (within: number): Promise<readonly object[]> => {
      const query = `limit=-1&fields=id,distance(${name})&sort=id&filter={"${name}":{"_near":{"to":[${to}],"within":${within}}}}`;
      return (await platform.admin(`/items/planes?${query}`)).json.data;
    };
    // A distance that no box holds measures every row.
    const everything = await found(100_000_000);
    const expected = everything.filter((row) => Number(Object(row)[`${name}_distance`]) <= 500_000);
    expect(await found(500_000)).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  });

  it.runIf(onEarth).each(bending)('uses that of a reference that bends boxes: %d', async (srid) => {
    const near = (to: readonly number[], within: number) =>
      `filter={"place":{"_near":{"to":[${to}],"within":${within}}}}`;
    const request = `GET /items/bends_${srid}?fields=id&${near([4.35, 50.85], 20_000)}`;
    const { stdout, stderr } = await runWarm(['explain', '--project', project.folder, '--as', 'admin', request], {
      DATABASE_URL: url,
    });
    expect(stdout + stderr).toMatch(/bent {2}34|range scan on t0 using bent/);
    for (const far of [
      [-100, 40],
      [92, 1],
      [175, -60],
    ]) {
      const { text } = await platform.admin(`/items/bends_${srid}?fields=id&${near(far, 100_000)}`);
      expect([far, text]).toEqual([far, '{"data":[]}']);
    }
    for (const to of [
      [4.35, 50.85],
      [-1, 41],
      [7, 53],
    ]) {
      const read = async (within: number): Promise<readonly object[]> => {
        const { json, text } = await platform.admin(
          `/items/bends_${srid}?limit=-1&fields=id,distance(place)&sort=id&${near(to, within)}`,
        );
        expect(json.data, text).toBeInstanceOf(Array);
        return json.data;
      };
      const everything = await read(10_000_000);
      expect(everything.length).toBeGreaterThan(3_000);
      for (const within of [0, 5_000, 60_000, 300_000]) {
        const expected = everything.filter((row) => Number(Object(row).place_distance) <= within);
        expect([to, within, await read(within)]).toEqual([to, within, expected]);
      }
    }
  });

  it.runIf(onEarth)('measures metres where a reference is not kept', async () => {
    const query =
      'fields=id,distance(moved)&sort=id&limit=1&filter={"moved":{"_near":{"to":[4.35,50.85],"within":20}}}';
    await platform.admin('/items/planes', { method: 'POST', body: { id: 20_000, ...planesOf([4.35, 50.8501]) } });
    const [row] = (await platform.admin(`/items/planes?${query}`)).json.data;
    expect(row).toEqual({ id: 20_000, moved_distance: expect.closeTo(11.13, 1) });
  });

  const distance = onEarth ? 500_000 : 4;
  const near = (to: readonly number[]): string =>
    `filter[place][_near][to]=${to.join(',')}&filter[place][_near][within]=${distance}`;

  it('uses the index', async () => {
    const request = `GET /items/spots?fields=id&${near([4.35, 50.85])}`;
    const { stdout, stderr } = await runWarm(['explain', '--project', project.folder, '--as', 'admin', request], {
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
