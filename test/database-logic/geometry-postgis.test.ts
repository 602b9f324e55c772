/** Geometries of PostGIS: plans of what is asked of them, what the doctor misses, and what rules hide. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { planOf } from '../support/explain.ts';
import { startHosted } from '../support/host.ts';
import { createProject, type Platform, runPlatform } from '../support/platform.ts';
import { createDatabaseOn, type PostgresServer, startSystemPostgres, withClient } from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { type CountingProxy, countStatements } from '../support/proxy.ts';

const sql = `CREATE EXTENSION postgis;
  CREATE TABLE spots (id serial PRIMARY KEY, open boolean NOT NULL, place geometry(Point, 4326));
  INSERT INTO spots (open, place)
    SELECT i % 2 = 0, ST_SetSRID(ST_MakePoint(i % 100, i / 1000.0), 4326) FROM generate_series(1, 20000) i;
  CREATE TYPE stop AS (name text, place geometry(Point, 4326));
  CREATE TYPE tile AS (name text, place geometry(Point, 3857), mid geography);
  CREATE TABLE routes (id integer PRIMARY KEY, stops stop[], tile tile);
  INSERT INTO routes VALUES (1, NULL, ('a', ST_Transform('SRID=4326;POINT(3 0)', 3857), 'POINT(4 51)'));
  CREATE TABLE depots (id integer PRIMARY KEY, place geometry(Point, 4326));
  INSERT INTO depots VALUES (1, 'SRID=4326;POINT(1 1)');
  CREATE INDEX ON depots USING gist (place);
  CREATE INDEX ON depots USING gist ((place::geography));
  CREATE TABLE mixed (id integer PRIMARY KEY, shape geometry, earth geography, mapped geometry(GeometryCollection, 3857));
  CREATE FUNCTION at(p geometry) RETURNS SETOF depots LANGUAGE sql STABLE AS
    $$ SELECT * FROM depots AS d WHERE ST_Intersects(d.place, p) $$;
  CREATE FUNCTION close_to(p geography, metres float DEFAULT 10) RETURNS SETOF depots LANGUAGE sql STABLE AS
    $$ SELECT * FROM depots AS d WHERE ST_DWithin(d.place::geography, p, metres) $$;
  CREATE FUNCTION moved(p geometry, srid integer) RETURNS geometry LANGUAGE sql STABLE AS $$ SELECT ST_Transform(p, srid) $$;
  CREATE FUNCTION all_of(p geometry[]) RETURNS geometry LANGUAGE sql IMMUTABLE AS $$ SELECT ST_Collect(p) $$;
  CREATE FUNCTION parts_of(p geometry) RETURNS geometry[] LANGUAGE sql IMMUTABLE AS $$ SELECT ARRAY[p] $$;
  CREATE FUNCTION put(p geometry) RETURNS TABLE (id integer, place geometry) LANGUAGE sql VOLATILE AS
    $$ INSERT INTO depots SELECT max(d.id) + 1, ST_Force2D(p) FROM depots AS d RETURNING id, place $$;`;

/** Closed spots show the public no place, and depots none at all. */
const permissions = `permissions:
  public:
    spots: { read: [{ fields: [id] }, { fields: [place], filter: { open: true } }] }
    depots: { read: { fields: [id] } }
  local:
    spots: { read: { fields: [id], filter: { place: { _near: { to: [2, 0.002], within: 100 } } } } }
roles: { local: {} }
functions:
  public: { close_to: { args: { p: { type: Point, coordinates: [1, 1] } } } }
`;
const config = 'export default { functions: { at: {}, close_to: {}, moved: {}, put: {} } };\n';

const near = { _near: { to: [1, 0.001], within: 1_000 } };
const area = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 0],
      [3, 0],
      [3, 3],
      [0, 3],
      [0, 0],
    ],
  ],
};

const hasPostgis = existsSync('/usr/share/postgresql/15/extension/postgis.control');

describe.skipIf(!hasPostgis)('PostGIS (skipped where it is not installed)', () => {
  let postgres: PostgresServer;
  let database: Awaited<ReturnType<typeof createDatabaseOn>>;
  let statements: CountingProxy;
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    postgres = await startSystemPostgres();
    database = await createDatabaseOn(postgres.url, sql);
    statements = await countStatements(database.url);
    project = await createProject();
    await writeFile(join(project.folder, 'permissions.yaml'), permissions);
    await writeFile(join(project.folder, 'platform.config.ts'), config);
    platform = await startHosted(project.folder, statements.url);
  });
  afterAll(async () => {
    await platform?.stop();
    await statements?.close();
    await project?.remove();
    await postgres?.stop();
  });

  const search = (collection: string, query: object) => ({ path: `/items/${collection}`, body: { query } });
  const asPublic = ({ path, body }: ReturnType<typeof search>) => platform.ask(path, { method: 'SEARCH', body });

  const advised = async (): Promise<readonly string[]> => {
    const { stdout } = await runPlatform(['doctor', '--json', '--project', project.folder], {
      DATABASE_URL: database.url,
    });
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return events.filter(({ check }) => check === 'geo-index-missing').map(({ advice }) => advice);
  };

  it('reads collections in collections as their members side by side', async () => {
    const collection = (...geometries: readonly object[]) => ({ type: 'GeometryCollection', geometries });
    const points = {
      type: 'MultiPoint',
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    };
    const [first, second] = [
      { type: 'Point', coordinates: [1, 2] },
      { type: 'Point', coordinates: [3, 4] },
    ];
    const nested = collection(collection(collection(collection(first))), second);
    const body = { id: 1, shape: nested, earth: nested, mapped: collection(points) };
    const { json } = await platform.admin('/items/mixed', { method: 'POST', body });
    const flat = collection(first, second);
    expect(json.data).toEqual({ id: 1, shape: flat, earth: flat, mapped: collection(points) });
    expect((await platform.admin('/items/mixed/1')).json.data).toEqual(json.data);
    const deeper = await platform.admin('/items/mixed', { method: 'POST', body: { id: 2, shape: collection(nested) } });
    expect(failure(deeper)).toBe('400 INVALID_PAYLOAD');
    const moved = await platform.admin('/functions/moved', {
      method: 'SEARCH',
      body: { args: { p: nested, srid: 4326 } },
    });
    expect(moved.json.data).toEqual(flat);
    await withClient(database.url, (client) => client.query('CREATE INDEX ON mixed USING gist (shape, earth, mapped)'));
  });

  it('uses the indexes that the doctor asks for', async () => {
    const indexes = await advised();
    expect(indexes).toEqual([
      'CREATE INDEX ON "public"."spots" USING gist ("place");',
      'CREATE INDEX ON "public"."spots" USING gist (("place"::geography));',
    ]);
    await withClient(database.url, (client) => client.query(`${indexes.join('')} ANALYZE spots`));
    expect(await advised()).toEqual([]);
    for (const condition of [{ _within: area }, { _intersects: area }, { _intersects_bbox: [0, 0, 1, 1] }, near]) {
      statements.reset();
      const query = { fields: ['id'], filter: { place: condition } };
      const answer = await platform.admin('/items/spots', { method: 'SEARCH', body: { query } });
      expect(answer.json.data.length).toBeGreaterThan(0);
      const [statement = ''] = statements.texts().filter((text) => text.includes('"spots"'));
      const plan = JSON.stringify(await planOf(database.url, statement));
      expect(plan).toContain('Index Scan');
      expect(plan).not.toContain('Seq Scan');
    }
  });

  it('reads members of composite values in degrees, and writes those that their text takes', async () => {
    const stops = [{ name: 'b', place: { type: 'Point', coordinates: [3.5, 51] } }, null];
    const tile = {
      name: 'a',
      place: { type: 'Point', coordinates: [3, 0] },
      mid: { type: 'Point', coordinates: [4, 51] },
    };
    const write = (body: object) => platform.admin('/items/routes/1', { method: 'PATCH', body });
    expect((await write({ stops })).json.data).toEqual({ id: 1, stops, tile });
    expect((await write({ tile })).status).toBe(400);
  });

  it('finds and measures no place that a rule hides', async () => {
    const hidden = { id: 1, place_distance: null };
    const found = await asPublic(search('spots', { fields: ['id'], filter: { place: near } }));
    expect(found.json.data).toEqual([]);
    const open = { _near: { to: [2, 0.002], within: 1 } };
    expect((await asPublic(search('spots', { fields: ['id'], filter: { place: open } }))).json.data).toEqual([
      { id: 2 },
    ]);
    const either = { _or: [{ id: 1 }, { place: open }] };
    const query = { fields: ['id', 'distance(place)'], filter: either, sort: ['id'] };
    expect((await asPublic(search('spots', query))).json.data).toEqual([hidden, { id: 2, place_distance: 0 }]);
    expect((await asPublic(search('spots', { ...query, sort: ['distance(place)'] }))).json.data.at(-1)).toEqual(hidden);
  });

  it('answers of a hidden geometry as of an unknown one', async () => {
    for (const query of [
      (name: string) => ({ filter: { [name]: near } }),
      (name: string) => ({ filter: { [name]: { _within: area } } }),
      (name: string) => ({ fields: [`distance(${name})`], filter: { id: 1 } }),
      (name: string) => ({ sort: [`distance(${name})`] }),
    ]) {
      const [hidden, unknown] = await Promise.all(
        ['place', 'plaza'].map((name) => asPublic(search('depots', query(name)))),
      );
      expect(failure(hidden ?? { status: 0, json: {} })).toBe('403 FORBIDDEN');
      expect(hidden?.text).toBe(unknown?.text);
    }
  });

  it('tells of functions with arrays of geometries that they are left out', async () => {
    const listed = await createProject();
    try {
      await writeFile(
        join(listed.folder, 'platform.config.ts'),
        'export default { functions: { all_of: {}, parts_of: {} } };\n',
      );
      const { code, stderr } = await runPlatform(['generate', '--project', listed.folder], {
        DATABASE_URL: database.url,
      });
      expect([code, stderr.match(/takes or returns an array of type "geometry"/g)?.length]).toEqual([1, 2]);
    } finally {
      await listed.remove();
    }
  });

  it('gives geometries to functions, and takes them, in longitude and latitude', async () => {
    const point = (...coordinates: readonly number[]) => ({ type: 'Point', coordinates });
    const call = (name: string, args: object, ask = platform.admin) =>
      ask(`/functions/${name}`, { method: 'SEARCH', body: { args, query: { fields: ['id'] } } });
    expect((await call('at', { p: area })).json.data).toEqual([{ id: 1 }]);
    expect((await call('close_to', { p: point(1.00001, 1) })).json.data).toEqual([{ id: 1 }]);
    expect((await call('close_to', { p: point(2, 1) })).json.data).toEqual([]);
    expect((await call('close_to', {}, platform.ask)).json.data).toEqual([{ id: 1 }]);
    expect(failure(await call('close_to', { p: point(1, 1) }, platform.ask))).toBe('400 INVALID_QUERY');
    for (const srid of [4326, 3857]) {
      const query = `p=${encodeURIComponent(JSON.stringify(point(4.35, 50.85)))}&srid=${srid}`;
      const { json } = await platform.admin(`/functions/moved?${query}`);
      expect(json.data).toEqual({ type: 'Point', coordinates: [4.35, 50.85] });
    }
    const nowhere = `p=${encodeURIComponent(JSON.stringify(point(4.35, 50.85)))}&srid=1`;
    expect(failure(await platform.admin(`/functions/moved?${nowhere}`))).toBe('422 UNPROCESSABLE_ENTITY');
    const put = await platform.admin('/functions/put', { method: 'POST', body: { p: point(9, 9) } });
    expect(put.json).toEqual({ data: [{ id: 2, place: point(9, 9) }] });
    expect(failure(await platform.admin('/functions/put', { method: 'POST', body: { p: 'POINT(9 9)' } }))).toBe(
      '400 INVALID_PAYLOAD',
    );
    await withClient(database.url, (client) => client.query('DELETE FROM depots WHERE id = 2'));
  });

  it('gives the types of clients a distance to sort by, and none to group by', async () => {
    const file = join(project.folder, 'generated/client/admin/collections/spots.d.ts');
    const text = await readFile(file, 'utf8');
    expect(text).toContain("sort: SpotsFacts['groups'] | 'distance(place)';");
    expect(text).toContain("groups: 'id' | 'open';");
  });

  it('takes no text of a request into SQL', async () => {
    for (const value of ["'); DROP TABLE spots; --", '{"type":"Point","coordinates":[1,"2);"]}', '"$1"']) {
      const answer = await asPublic(search('spots', { filter: { place: { _intersects: value } } }));
      expect(failure(answer)).toBe('400 INVALID_QUERY');
    }
  });
});
