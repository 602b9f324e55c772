/** Geometries that stay in the reference of their column, and the limit of positions. Source: docs/geometry.md. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { createDatabaseOn, type PostgresServer, startSystemPostgres } from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';

const postgis = `CREATE EXTENSION postgis;
  CREATE TABLE wells (id integer PRIMARY KEY, place geometry(Point, 3857), area geometry);
  CREATE INDEX ON wells USING gist (place);
  INSERT INTO wells VALUES (1, 'SRID=3857;POINT(500000 6600000)'), (2, 'SRID=3857;POINT(500300 6600400)');`;
const mysql = `CREATE TABLE wells (id int PRIMARY KEY, place point NOT NULL SRID 3857, area geometry, SPATIAL INDEX (place));
  INSERT INTO wells VALUES (1, ST_GeomFromText('POINT(500000 6600000)', 3857), NULL), (2, ST_GeomFromText('POINT(500300 6600400)', 3857), NULL);`;

const hasPostgis = existsSync('/usr/share/postgresql/15/extension/postgis.control');
const config = `import { defineConfig } from 'tablewright/config';

export default defineConfig({ collections: { wells: { fields: { place: { geo: { srid: 'keep' } } } } } });
`;
const worlds = [
  { name: 'PostGIS (skipped where it is not installed)', missing: !hasPostgis, start: null },
  ...servers.filter(({ dialect }) => dialect === 'mysql'),
];

describe.each(worlds)('$name', ({ missing, start }) => {
  if (missing) return void it.skip('skipped: the server is not there');
  let postgres: PostgresServer | undefined;
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    if (start === null) postgres = await startSystemPostgres();
    const url =
      start === null
        ? (await createDatabaseOn(postgres?.url ?? '', postgis)).url
        : await createMysqlDatabase(await start(), mysql);
    project = await createProject();
    await writeFile(join(project.folder, 'platform.config.ts'), config);
    platform = await startHosted(project.folder, url, { GEO_MAX_POSITIONS: '3' });
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
    await postgres?.stop();
  });

  it('keeps positions and units where the configuration says so', async () => {
    const near = { place: { _near: { to: [500_000, 6_600_000], within: 500 } } };
    const query = { fields: ['id', 'place', 'distance(place)'], filter: near, sort: ['distance(place)'] };
    const { json } = await platform.admin('/items/wells', { method: 'SEARCH', body: { query } });
    expect(json.data).toEqual([
      { id: 1, place: { type: 'Point', coordinates: [500_000, 6_600_000] }, place_distance: 0 },
      { id: 2, place: { type: 'Point', coordinates: [500_300, 6_600_400] }, place_distance: 500 },
    ]);
    const place = { type: 'Point', coordinates: [123_456, 6_543_210] };
    const created = await platform.admin('/items/wells?fields=place', { method: 'POST', body: { id: 3, place } });
    expect(created.json.data).toEqual({ place });
    const box = { place: { _intersects_bbox: [123_000, 6_543_000, 124_000, 6_544_000] } };
    const found = await platform.admin('/items/wells', {
      method: 'SEARCH',
      body: { query: { fields: ['id'], filter: box } },
    });
    expect(found.json.data).toEqual([{ id: 3 }]);
  });

  it('takes as many positions as the environment says', async () => {
    const line = (count: number): object => ({
      type: 'LineString',
      coordinates: Array.from({ length: count }, (_, index) => [index, index]),
    });
    const write = (area: object) => platform.admin('/items/wells/1', { method: 'PATCH', body: { area } });
    expect((await write(line(3))).status).toBe(200);
    const refused = await write(line(4));
    expect(failure(refused)).toBe('400 INVALID_PAYLOAD');
    expect(refused.text).toContain('more than 3 positions');
    const query = { filter: { area: { _intersects: line(4) } } };
    expect(failure(await platform.admin('/items/wells', { method: 'SEARCH', body: { query } }))).toBe(
      '400 INVALID_QUERY',
    );
  });
});
