/** Geometries as GeoJSON, read, written and compared, on every server that has them. Source: docs/geometry.md. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHosted } from '../support/host.ts';
import { createMysqlDatabase } from '../support/mariadb.ts';
import { createProject, type Platform } from '../support/platform.ts';
import { createDatabaseOn, type PostgresServer, startSystemPostgres } from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { servers } from '../support/servers.ts';
import { typeCheck } from '../support/type-check.ts';
import { runWarm } from '../support/warm-command.ts';

type Name = 'PostGIS' | 'MySQL' | 'MariaDB';

const towns = [
  [1, 'Brussels', 'POINT(4.35 50.85)'],
  [2, 'Ghent', 'POINT(3.72 51.05)'],
  [3, 'Paris', 'POINT(2.35 48.85)'],
] as const;

/** MySQL writes latitudes first in the text of a reference of the earth; MariaDB knows no references. */
const sql: Readonly<Record<Name, string>> = {
  PostGIS: `CREATE EXTENSION postgis;
    CREATE TABLE towns (id integer PRIMARY KEY, name text, place geometry(Point, 4326), globe geography(Point), mercator geometry(Point, 3857), plan geometry);
    CREATE INDEX ON towns USING gist (place);
    ${towns.map(([id, name, wkt]) => `INSERT INTO towns VALUES (${id}, '${name}', 'SRID=4326;${wkt}', '${wkt}', ST_Transform('SRID=4326;${wkt}'::geometry, 3857), '${wkt}');`).join('\n')}
    INSERT INTO towns VALUES (4, 'Nowhere', null, null, null, 'SRID=3857;LINESTRING(0 0, 1 1)');
    CREATE TABLE roads (id integer PRIMARY KEY, town integer REFERENCES towns, way geometry(LineString, 4326));
    INSERT INTO roads VALUES (1, 1, 'SRID=4326;LINESTRING(4 50, 4.5 51)'), (2, 1, 'SRID=4326;LINESTRING(0 0, 1 1)');
    CREATE TABLE huts (id integer PRIMARY KEY, name text, place geometry(Point, 4326), yard geometry(Point) DEFAULT 'POINT(1 1)');`,
  MySQL: `CREATE TABLE towns (id int PRIMARY KEY, name varchar(50), place point NOT NULL SRID 4326, plan geometry, SPATIAL INDEX (place));
    ${towns.map(([id, name, wkt]) => `INSERT INTO towns VALUES (${id}, '${name}', ST_GeomFromText('${wkt}', 4326, 'axis-order=long-lat'), ST_GeomFromText('${wkt}'));`).join('\n')}
    CREATE TABLE roads (id int PRIMARY KEY, town int, way linestring SRID 4326, FOREIGN KEY (town) REFERENCES towns (id));
    INSERT INTO roads VALUES (1, 1, ST_GeomFromText('LINESTRING(4 50, 4.5 51)', 4326, 'axis-order=long-lat')), (2, 1, ST_GeomFromText('LINESTRING(0 0, 1 1)', 4326, 'axis-order=long-lat'));
    CREATE TABLE huts (id int PRIMARY KEY, name varchar(50), place point SRID 4326, yard point DEFAULT (ST_GeomFromText('POINT(1 1)')));`,
  MariaDB: `CREATE TABLE towns (id int PRIMARY KEY, name varchar(50), place point, plan geometry);
    ${towns.map(([id, name, wkt]) => `INSERT INTO towns VALUES (${id}, '${name}', ST_GeomFromText('${wkt}'), ST_GeomFromText('${wkt}'));`).join('\n')}
    CREATE TABLE roads (id int PRIMARY KEY, town int, way linestring, FOREIGN KEY (town) REFERENCES towns (id));
    INSERT INTO roads VALUES (1, 1, ST_GeomFromText('LINESTRING(4 50, 4.5 51)')), (2, 1, ST_GeomFromText('LINESTRING(0 0, 1 1)'));
    CREATE TABLE huts (id int PRIMARY KEY, name varchar(50), place point, yard point DEFAULT (ST_GeomFromText('POINT(1 1)')));`,
};

const hasPostgis = existsSync('/usr/share/postgresql/15/extension/postgis.control');
const worlds = [
  { name: 'PostGIS' as Name, missing: !hasPostgis, start: null },
  ...servers.map(({ name, missing, start }) => ({ name: name as Name, missing, start })),
];

const brussels = { type: 'Point', coordinates: [4.35, 50.85] };
const belgium = {
  type: 'Polygon',
  coordinates: [
    [
      [2.5, 50.5],
      [6, 50.5],
      [6, 51.5],
      [2.5, 51.5],
      [2.5, 50.5],
    ],
  ],
};

describe.each(worlds)('$name', ({ name, missing, start }) => {
  if (missing) return void it.skip('skipped: the server is not there');
  const onEarth = name !== 'MariaDB';

  let postgres: PostgresServer | undefined;
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    if (start === null) postgres = await startSystemPostgres();
    const url =
      start === null
        ? (await createDatabaseOn(postgres?.url ?? '', sql[name])).url
        : await createMysqlDatabase(await start(), sql[name]);
    project = await createProject();
    platform = await startHosted(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
    await postgres?.stop();
  });

  const found = async (filter: object, collection = 'towns') => {
    const body = { query: { fields: ['id'], sort: ['id'], filter } };
    const answer = await platform.admin(`/items/${collection}`, { method: 'SEARCH', body });
    return answer.json.data?.map(({ id }: { id: number }) => id) ?? failure(answer);
  };

  it('reads geometries as GeoJSON, also in related items', async () => {
    const { json } = await platform.admin('/items/roads/1?fields=way,town.place,town.plan');
    expect(json.data).toEqual({
      way: {
        type: 'LineString',
        coordinates: [
          [4, 50],
          [4.5, 51],
        ],
      },
      town: { place: brussels, plan: brussels },
    });
    const list = await platform.admin('/items/towns/1?fields=roads.way');
    expect(list.json.data.roads).toHaveLength(2);
  });

  it('finds by shapes, boxes and neighbourhoods', async () => {
    expect(await found({ place: { _within: belgium } })).toEqual([1, 2]);
    expect(await found({ place: { _intersects: brussels } })).toEqual([1]);
    expect(await found({ place: { _nintersects: brussels } })).toEqual([2, 3]);
    expect(await found({ place: { _nwithin: belgium } })).toEqual([3]);
    expect(await found({ place: { _intersects_bbox: [2, 48, 3, 49] } })).toEqual([3]);
    expect(await found({ place: { _nintersects_bbox: belgium } })).toEqual([3]);
    expect(await found({ way: { _intersects_bbox: belgium } }, 'roads')).toEqual([1]);
    expect(await found({ town: { place: { _within: belgium } } }, 'roads')).toEqual([1, 2]);
    // Metres on the earth, degrees on a plane.
    expect(await found({ place: { _near: { to: [4.35, 50.85], within: onEarth ? 60_000 : 0.7 } } })).toEqual([1, 2]);
    expect(await found({ plan: { _near: { to: brussels, within: 0.7 } } })).toEqual([1, 2]);
  });

  it('takes operands of a query string in brackets', async () => {
    const distance = onEarth ? 60_000 : 0.7;
    const query = `filter[place][_near][to]=4.35,50.85&filter[place][_near][within]=${distance}`;
    const { json } = await platform.admin(`/items/towns?fields=id&sort=id&${query}`);
    expect(json.data).toEqual([{ id: 1 }, { id: 2 }]);
    const box = await platform.admin('/items/towns?fields=id&filter[place][_intersects_bbox]=2,48,3,49');
    expect(box.json.data).toEqual([{ id: 3 }]);
  });

  it('writes geometries, and reads the same', async () => {
    const place = { type: 'Point', coordinates: [5.57, 50.63] };
    const created = await platform.admin('/items/towns', { method: 'POST', body: { id: 10, name: 'Liege', place } });
    expect([created.status, created.json.data?.place]).toEqual([200, place]);
    const plan = belgium;
    const updated = await platform.admin('/items/towns/10', { method: 'PATCH', body: { plan } });
    expect([updated.status, updated.json.data?.plan]).toEqual([200, plan]);
    const many = await platform.admin('/items/towns', {
      method: 'POST',
      body: [11, 12].map((id) => ({ id, place: { type: 'Point', coordinates: [id, 1] }, plan })),
    });
    expect(many.json.data?.map((item: { place: unknown }) => item.place)).toEqual(
      [11, 12].map((id) => ({ type: 'Point', coordinates: [id, 1] })),
    );
    const deleted = await platform.admin('/items/towns', { method: 'DELETE', body: [10, 11, 12] });
    expect(deleted.status).toBe(204);
  });

  it('writes geometries of some items of a batch, and leaves those of the others', async () => {
    const at = (east: number, north: number) => ({ type: 'Point', coordinates: [east, north] });
    const write = async (method: string, body: object) => {
      const answer = await platform.admin('/items/huts?fields=id,name,place,yard', { method, body });
      return answer.json.data ?? answer.text;
    };
    expect(
      await write('POST', [
        { id: 1, place: at(4, 51) },
        { id: 2, yard: at(2, 2) },
      ]),
    ).toEqual([
      { id: 1, name: null, place: at(4, 51), yard: at(1, 1) },
      { id: 2, name: null, place: null, yard: at(2, 2) },
    ]);
    expect(
      await write('PATCH', [
        { id: 1, name: 'one' },
        { id: 2, place: at(3, 50), yard: null },
      ]),
    ).toEqual([
      { id: 1, name: 'one', place: at(4, 51), yard: at(1, 1) },
      { id: 2, name: null, place: at(3, 50), yard: null },
    ]);
  });

  it('has no order of geometries', async () => {
    for (const name of ['place', 'plan']) {
      for (const query of [`sort=${name}`, `sort=-${name}&limit=1&cursor=`, `groupBy=${name}`]) {
        expect([query, failure(await platform.admin(`/items/towns?${query}`))]).toEqual([query, '400 INVALID_QUERY']);
      }
    }
  });

  it('measures and sorts by the distance to what is near', async () => {
    const filter = { place: { _near: { to: [4.35, 50.85], within: onEarth ? 1_000_000 : 9 } } };
    const body = { query: { fields: ['id', 'distance(place)'], sort: ['-distance(place)'], filter } };
    const { json } = await platform.admin('/items/towns', { method: 'SEARCH', body });
    expect(json.data.map(({ id }: { id: number }) => id)).toEqual([3, 2, 1]);
    const [far, , same] = json.data.map((item: { place_distance: number }) => item.place_distance);
    expect([same, Math.round(onEarth ? far / 10_000 : far * 10)]).toEqual([0, onEarth ? 26 : 28]);
    const deep = {
      roads: {
        _filter: { way: { _near: { to: [4.35, 50.85], within: onEarth ? 99_000 : 1 } } },
        _sort: ['distance(way)'],
      },
    };
    const nested = { query: { fields: ['id', 'roads.id', 'roads.distance(way)'], filter: { id: 1 }, deep } };
    const town = (await platform.admin('/items/towns', { method: 'SEARCH', body: nested })).json.data[0];
    expect(town).toEqual({ id: 1, roads: [{ id: 1, way_distance: expect.any(Number) }] });
  });

  it.each([
    ['fields=distance(place)', '400 INVALID_QUERY'],
    ['sort=distance(place)', '400 INVALID_QUERY'],
    ['fields=distance(name)&filter[place][_near][to]=1,2&filter[place][_near][within]=5', '400 INVALID_QUERY'],
    ['fields=distance(plan)&filter[place][_near][to]=1,2&filter[place][_near][within]=5', '400 INVALID_QUERY'],
    ['fields=distance(hidden)', '403 FORBIDDEN'],
    [
      'fields=distance(place)&filter[_or][0][place][_near][to]=1,2&filter[_or][0][place][_near][within]=5&filter[_or][1][place][_near][to]=1,2&filter[_or][1][place][_near][within]=5',
      '400 INVALID_QUERY',
    ],
    ['filter[distance(place)][_lt]=5', '400 INVALID_QUERY'],
    ['groupBy=distance(place)', '400 INVALID_QUERY'],
  ])('refuses a distance to nothing: %s', async (query, expected) => {
    expect(failure(await platform.admin(`/items/towns?${query}`))).toBe(expected);
  });

  it('answers the same over GraphQL', async () => {
    const query = `query ($area: GeoJSON, $box: JSON) { towns(filter: { place: { _within: $area, _intersects_bbox: $box } }, sort: ["id"]) { id place } }`;
    const body = { query, variables: { area: belgium, box: [4, 50, 5, 51] } };
    const { json } = await platform.admin('/graphql', { method: 'POST', body });
    expect(json).toEqual({ data: { towns: [{ id: 1, place: brussels }] } });
    const near = { place: { _near: { to: [4.35, 50.85], within: onEarth ? 60_000 : 0.7 } } };
    const measured =
      'query ($f: towns_filter) { towns(filter: $f, sort: ["-distance(place)"]) { id place_func { d: distance } } }';
    const answer = await platform.admin('/graphql', {
      method: 'POST',
      body: { query: measured, variables: { f: near } },
    });
    expect(answer.json.data.towns.map(({ id }: { id: number }) => id)).toEqual([2, 1]);
    expect(answer.json.data.towns[1].place_func).toEqual({ d: 0 });
    const without = await platform.admin('/graphql', {
      method: 'POST',
      body: { query: '{ towns { place_func { distance } } }' },
    });
    expect(without.json.errors[0].extensions.code).toBe('INVALID_QUERY');
    const mutation =
      'mutation ($p: GeoJSON!) { create_towns_item(data: { id: 40, place: $p }) { place } delete_towns_item(id: 40) { id } }';
    const written = await platform.admin('/graphql', {
      method: 'POST',
      body: { query: mutation, variables: { p: brussels } },
    });
    expect(written.json.data?.create_towns_item).toEqual({ place: brussels });
  });

  it.each([
    ['a feature', { type: 'Feature', geometry: brussels }, 'Send the geometry of the feature'],
    ['no geometry', { type: 'Blob' }, 'GeoJSON geometry'],
    ['a number', 5, 'GeoJSON geometry'],
    ['three dimensions', { type: 'Point', coordinates: [1, 2, 3] }, 'two numbers'],
    ['texts', { type: 'Point', coordinates: ['1', '2'] }, 'two numbers'],
    [
      'an open ring',
      {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      },
      'closed',
    ],
    ['a short line', { type: 'LineString', coordinates: [[0, 0]] }, 'two positions'],
    ['too many positions', { type: 'MultiPoint', coordinates: Array(10_001).fill([0, 0]) }, '10000 positions'],
  ])('refuses %s', async (_, plan, message) => {
    const answer = await platform.admin('/items/towns', { method: 'POST', body: { id: 20, plan } });
    expect(failure(answer)).toBe('400 INVALID_PAYLOAD');
    expect(answer.json.errors[0].message).toContain(message);
    expect(await found({ plan: { _intersects: plan } })).toBe('400 INVALID_QUERY');
  });

  it('refuses a geometry of another kind, and a place that is none on the earth', async () => {
    const kind = await platform.admin('/items/towns', { method: 'POST', body: { id: 20, place: belgium } });
    expect(failure(kind)).toBe('400 FAILED_VALIDATION');
    expect(kind.json.errors[0].extensions.type).toBe('geometry');
    const place = { type: 'Point', coordinates: [181, 0] };
    const outside = await platform.admin('/items/towns', { method: 'POST', body: { id: 20, place } });
    expect(failure(outside)).toBe(onEarth ? '400 INVALID_PAYLOAD' : '200 no error');
  });

  it.each([
    { place: { _near: { to: [4, 50] } } },
    { place: { _near: { to: [4, 50], within: -1 } } },
    { place: { _near: { to: [4, 50], within: '5' } } },
    { place: { _near: { to: [4, 50], within: 5, also: 1 } } },
    { place: { _near: [4, 50] } },
    { place: { _intersects_bbox: [1, 2, 3] } },
    { place: { _intersects: null } },
    { place: { _intersects: '$CURRENT_USER' } },
    { place: { _eq: brussels } },
    { place: { _overlaps: [1, 2] } },
    { name: { _intersects: brussels } },
    { name: { _near: { to: [4, 50], within: 5 } } },
  ])('refuses the filter %j', async (filter) => {
    expect(await found(filter)).toBe('400 INVALID_QUERY');
  });

  it('types them in documents that are known beforehand', async () => {
    const documents = join(project.folder, 'documents', 'admin');
    await mkdir(documents, { recursive: true });
    const text = 'query Towns($near: GeoJSON) { towns(filter: { place: { _within: $near } }) { place } }';
    await writeFile(join(documents, 'towns.graphql'), text);
    const { code, stderr } = await runWarm(['generate', '--offline', '--project', project.folder]);
    expect(code, stderr).toBe(0);
    expect(await typeCheck(project.folder)).toBe('');
  });

  if (name !== 'PostGIS') return;

  it('reads, writes and compares every kind of column alike', async () => {
    const all = await platform.admin('/items/towns/2?fields=place,globe,mercator,plan');
    const ghent = { type: 'Point', coordinates: [3.72, 51.05] };
    expect(all.json.data).toEqual({ place: ghent, globe: ghent, mercator: ghent, plan: ghent });
    for (const field of ['place', 'globe', 'mercator']) {
      expect(await found({ [field]: { _within: belgium } })).toEqual([1, 2]);
      expect(await found({ [field]: { _intersects_bbox: [2, 48, 3, 49] } })).toEqual([3]);
      expect(await found({ [field]: { _near: { to: [4.35, 50.85], within: 60_000 } } })).toEqual([1, 2]);
    }
    // A row of another reference must not keep the others from being compared.
    expect(
      await found({
        plan: {
          _intersects: {
            type: 'LineString',
            coordinates: [
              [0, 0],
              [1, 1],
            ],
          },
        },
      }),
    ).toEqual([4]);
    const place = { type: 'Point', coordinates: [5.57, 50.63] };
    const body = { id: 30, globe: place, mercator: place, plan: place };
    const created = await platform.admin('/items/towns?fields=globe,mercator,plan', { method: 'POST', body });
    expect(created.json.data).toEqual({ globe: place, mercator: place, plan: place });
    await platform.admin('/items/towns/30', { method: 'DELETE' });
  });
});
