/** The atlas as its README says: started by the command, asked by its lines, and under its policies. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAtlas } from '../support/atlas.ts';
import { blocksOf } from '../support/examples.ts';
import { createProject, type Platform, runPlatform, startPlatform } from '../support/platform.ts';
import { createDatabaseOn, type PostgresServer, startSystemPostgres } from '../support/postgres.ts';
import { failure } from '../support/project.ts';
import { urlOfRole } from '../support/roles.ts';

const run = promisify(execFile);
const page = readFileSync(new URL('../../fixtures/atlas/README.md', import.meta.url), 'utf8');
const lines = blocksOf(page, 'sh').flatMap((block) => block.trim().split('\n'));
const hasPostgis = existsSync('/usr/share/postgresql/15/extension/postgis.control');

const worlds = [
  { name: 'PGlite: the embedded database', postgis: false },
  { name: 'PostgreSQL with PostGIS (skipped where it is not installed)', postgis: true },
];

describe.each(worlds)('$name', ({ postgis }) => {
  if (postgis && !hasPostgis) return void it.skip('is not installed');
  let postgres: PostgresServer | undefined;
  let url = '';
  let project: Awaited<ReturnType<typeof createProject>>;
  let platform: Platform;
  beforeAll(async () => {
    if (postgis) {
      postgres = await startSystemPostgres();
      const database = await createDatabaseOn(postgres.url, 'CREATE EXTENSION postgis');
      const owned = (role: string): string =>
        `GRANT ALL ON DATABASE ${database.name} TO ${role}; GRANT ALL ON SCHEMA public TO ${role};`;
      url = await urlOfRole(database, 'atlas', owned, 'CREATEROLE');
    }
    project = await createProject('fixtures/atlas');
    if (postgis) {
      const { code, stderr } = await runPlatform(['migrate', '--project', project.folder], { DATABASE_URL: url });
      expect(code, stderr).toBe(0);
    }
    platform = await startPlatform(project.folder, url);
  });
  afterAll(async () => {
    await platform?.stop();
    await project?.remove();
    await postgres?.stop();
  });

  /** Runs a line of the README. */
  const answer = async (line = ''): Promise<{ readonly data?: readonly Record<string, unknown>[] }> => {
    const { stdout } = await run('sh', ['-c', line.replace('http://127.0.0.1:8055', platform.url)]);
    return JSON.parse(stdout);
  };

  it('answers the lines of its README', async () => {
    const [nearest, found, near, ...others] = lines;
    expect(others).toEqual([]);
    const all = ['Fountain', 'Arcade', 'Market', 'Harbour', 'Belfry'];
    expect((await answer(nearest)).data).toEqual(all.map((name) => ({ name })));
    expect((await answer(found)).data?.map(({ title }) => title)).toEqual(['Summer at the harbour']);
    const around = await answer(near);
    if (postgis) expect(around.data?.map(({ name }) => name)).toEqual(['Arcade', 'Fountain']);
    else expect(around).toMatchObject({ errors: [{ extensions: { code: 'INVALID_QUERY' } }] });
  });

  it('reads places as GeoJSON', async () => {
    const { json } = await platform.ask('/items/shops/1?fields=place');
    expect(json.data).toEqual({ place: { type: 'Point', coordinates: [3.72, 51.06] } });
  });

  it('computes the addresses of shops', async () => {
    const { json } = await platform.ask('/items/shops?fields=address&sort=-address&limit=2');
    expect(json.data).toEqual([{ address: 'Market, Ghent' }, { address: 'Harbour, Ghent' }]);
  });

  it('goes on after a write that the database refuses', async () => {
    const order = (lines: unknown) =>
      platform.admin('/functions/place_order', { method: 'POST', body: { lines, customer: 'ann' } });
    const taken = { method: 'POST', body: { id: 1, name: 'taken' } };
    for (const [refused, code] of [
      [await platform.admin('/items/regions', taken), '400 FAILED_VALIDATION'],
      [await order([]), '422 UNPROCESSABLE_ENTITY'],
      [await order({}), '400 INVALID_PAYLOAD'],
      [await order([1, 2, 3, 4]), '422 UNPROCESSABLE_ENTITY'],
    ] as const) {
      expect([failure(refused), (await platform.ask('/items/regions?fields=id')).status]).toEqual([code, 200]);
    }
    expect((await order([1])).json.data).toMatchObject({ customer: 'ann' });
  });

  it('answers the same over GraphQL', async () => {
    const query =
      '{ nearest_shops(lng: 4.35, lat: 50.85, limit: 1) { name } documents(search: "harbour -winter") { title } }';
    const { json } = await platform.ask('/graphql', { method: 'POST', body: { query } });
    const data = { nearest_shops: [{ name: 'Fountain' }], documents: [{ title: 'Summer at the harbour' }] };
    expect(json).toEqual({ data });
  });
});

it('keeps its policies where rules of the API would show more', async () => {
  const written = readFileSync(new URL('../../fixtures/atlas/permissions.yaml', import.meta.url), 'utf8');
  const permissions = written.replace(/^ {4}documents: .*$/gm, '    documents: { read: true }');
  const atlas = await startAtlas({ permissions });
  try {
    const seen = async (token?: string): Promise<unknown> => {
      const { json } = await atlas.ask('/items/documents?fields=id&sort=id', token === undefined ? {} : { token });
      return json.data.map(({ id }: { id: number }) => id);
    };
    expect(await seen()).toEqual([1, 2, 4]);
    expect(await seen(atlas.tokens.auditor)).toEqual([1, 2, 3, 4, 5]);
  } finally {
    await atlas.close();
  }
});
