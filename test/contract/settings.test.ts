/** A database whose settings make PostgreSQL read and print in other ways than by default: no answer depends on them. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServedProject, serveProject } from '../support/project.ts';

const settings = {
  timezone: 'Asia/Kolkata',
  datestyle: 'SQL, DMY',
  intervalstyle: 'postgres_verbose',
  extra_float_digits: '-10',
  bytea_output: 'escape',
  xmloption: 'document',
  array_nulls: 'off',
  quote_all_identifiers: 'on',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
};

const setAll = Object.entries(settings)
  .map(([name, value]) => `EXECUTE format('ALTER DATABASE %I SET ${name} = ''${value}''', current_database());`)
  .join('\n');

const sql = `
  CREATE TABLE samples (
    id integer PRIMARY KEY, body text, length interval, ratio real, large double precision,
    day date, moment timestamptz, bytes bytea, mark xml, words text[]
  );
  INSERT INTO samples VALUES
    (1, '100%', '1 year 2 days 03:04:05.5', 1.1, 0.1::float8 + 0.2, '2024-03-04', '2024-03-04 20:30:00Z', '\\x00ff', 'a<b/>'),
    (2, 'back\\slash', '-3 hours', 1e-7, 1e21, '2024-12-31', '2024-12-31 23:59:59Z', '\\x5c', '<c/>');
  CREATE VIEW spoken AS SELECT id, moment::text AS moment, day::text AS day, length::text AS length FROM samples;
  DO $$ BEGIN ${setAll} END $$;`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, config: "{ collections: { spoken: { key: ['id'] } } }" });
});
afterAll(() => project?.close());

const reads: readonly (readonly [string, readonly unknown[]])[] = [
  [
    'samples?fields=length,ratio,large,day,moment,bytes,mark',
    [
      {
        length: 'P1Y2DT3H4M5.5S',
        ratio: 1.1,
        large: 0.30000000000000004,
        day: '2024-03-04',
        moment: '2024-03-04T20:30:00+00:00',
        bytes: 'AP8=',
        mark: 'a<b/>',
      },
      {
        length: 'PT-3H',
        ratio: 1e-7,
        large: 1e21,
        day: '2024-12-31',
        moment: '2024-12-31T23:59:59+00:00',
        bytes: 'XA==',
        mark: '<c/>',
      },
    ],
  ],
  ['samples?fields=id&filter[body][_contains]=%25', [{ id: 1 }]],
  ['samples?fields=id&filter[body][_contains]=%5C', [{ id: 2 }]],
  ['samples?fields=id&search=%25', [{ id: 1 }]],
  ['samples?fields=id&filter[year(moment)]=2024&filter[day][_eq]=2024-03-04', [{ id: 1 }]],
  ['samples?fields=id&filter[moment][_lt]=2024-03-04T20:30:01Z', [{ id: 1 }]],
  ['samples?groupBy=month(moment)&sort=month(moment)', [{ moment_month: 3 }, { moment_month: 12 }]],
  [
    'spoken?fields=moment,day,length&limit=1',
    [{ moment: '2024-03-04 20:30:00+00', day: '2024-03-04', length: 'P1Y2DT3H4M5.5S' }],
  ],
];

it.each(reads)('/items/%s', async (path, data) => {
  expect((await project.admin(`/items/${path}`)).json).toEqual({ data });
});

it('writes what is meant, and sees no change of tables', async () => {
  const words = ['a', null, 'NULL', 'back\\slash'];
  const body = { id: 3, body: 'back\\slash \\n', words };
  const made = await project.admin('/items/samples?fields=body,words', { method: 'POST', body });
  expect(made.json).toEqual({ data: { body: body.body, words } });
  const found = await project.admin('/items/samples', {
    method: 'SEARCH',
    body: { query: { filter: { words: { _eq: words } }, fields: ['id'] } },
  });
  expect(found.json).toEqual({ data: [{ id: 3 }] });
  expect((await project.admin('/server/health')).json.checks.schema).toEqual({ status: 'ok' });
});
