/** Every type in its one JSON form, the same nested or not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startBothLanes } from '../support/lanes.ts';
import { createProject, type Platform } from '../support/platform.ts';

/** Column type, SQL literal, JSON of the answer. */
const values: readonly (readonly [string, string, string])[] = [
  ['smallint', "'-32768'", '-32768'],
  ['integer', "'2147483647'", '2147483647'],
  ['bigint', "'-9223372036854775808'", '"-9223372036854775808"'],
  ['numeric(30,10)', "'12345678901234567890.1234567890'", '"12345678901234567890.1234567890"'],
  ['numeric', "'NaN'", '"NaN"'],
  ['money', "'12.30'", '"12.30"'],
  ['real', "'1.1'", '1.1'],
  ['real', "'-Infinity'", '"-Infinity"'],
  ['double precision', "'0.1'", '0.1'],
  ['double precision', "'1e300'", '1e+300'],
  ['double precision', "'NaN'", '"NaN"'],
  ['boolean', "'true'", 'true'],
  ['text', `E'a"b\\\\c\\n\\u0001\\u2028😀'`, JSON.stringify('a"b\\c\n\u0001\u2028😀')],
  ['varchar(10)', "'ä'", '"ä"'],
  ['char(4)', "'ab'", '"ab  "'],
  ['uuid', "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'],
  ['date', "'2026-02-28'", '"2026-02-28"'],
  ['date', "'infinity'", '"infinity"'],
  ['time', "'13:05:06.120000'", '"13:05:06.12"'],
  ['timestamp', "'2026-11-20 10:00:00.123'", '"2026-11-20T10:00:00.123"'],
  ['timestamptz', "'2026-11-20 12:00:00+02'", '"2026-11-20T10:00:00+00:00"'],
  ['timestamptz', "'1969-12-31 23:59:59.5+00'", '"1969-12-31T23:59:59.5+00:00"'],
  ['interval', "'1 year 2 days 03:04:05.5'", '"P1Y2DT3H4M5.5S"'],
  ['json', `'{"a":1.0,"b":[1,2]}'`, '{"a":1.0,"b":[1,2]}'],
  ['jsonb', `'{"b":1,"a":12345678901234567890}'`, '{"a": 12345678901234567890, "b": 1}'],
  ['bytea', "'\\x00ff10'", '"AP8Q"'],
  ['inet', "'10.0.0.1/8'", '"10.0.0.1/8"'],
  ['bit(3)', "'101'", '"101"'],
  ['int4range', "'[1,5)'", '"[1,5)"'],
  ['point', "'(1,2)'", '"(1,2)"'],
  ['mood', "'so so'", '"so so"'],
  ['positive', "'7'", '7'],
  ['integer[]', "'{1,NULL,3}'", '[1,null,3]'],
  ['integer[]', "'{}'", '[]'],
  ['integer[]', "'{{1,2},{3,4}}'", '[[1,2],[3,4]]'],
  ['text[]', `'{"a,b",null,"\\""}'`, '["a,b",null,"\\""]'],
  ['numeric[]', "'{1.50,NaN}'", '["1.50","NaN"]'],
  ['bigint[]', "'{9007199254740993}'", '["9007199254740993"]'],
  ['timestamptz[]', "'{2026-01-01 00:00:00+00}'", '["2026-01-01T00:00:00+00:00"]'],
  ['mood[]', "'{happy}'", '["happy"]'],
  ['jsonb[]', `ARRAY['{"a": 1}'::jsonb]`, '[{"a": 1}]'],
];

const columns = values.map(([type], index) => `c${index} ${type}`).join(', ');
const literals = values.map(([, literal]) => literal).join(', ');

let database: TestDatabase;
let project: Awaited<ReturnType<typeof createProject>>;
let platform: Platform;
beforeAll(async () => {
  database = await createDatabase(`
    CREATE TYPE mood AS ENUM ('happy', 'so so');
    CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
    CREATE TABLE everything (id integer PRIMARY KEY, ${columns});
    INSERT INTO everything VALUES (1, ${literals}), (2${', NULL'.repeat(values.length)});
    CREATE TABLE parent (id integer PRIMARY KEY);
    CREATE TABLE link (id integer PRIMARY KEY, parent_id integer REFERENCES parent, everything_id integer REFERENCES everything);
    INSERT INTO parent VALUES (1);
    INSERT INTO link VALUES (1, 1, 1), (2, 1, 2);`);
  project = await createProject();
  platform = await startBothLanes({
    folder: project.folder,
    databaseUrl: database.url,
    directUrl: database.url,
    environment: { TZ: 'America/New_York' },
    alone: true,
  });
});
afterAll(async () => {
  await platform?.stop();
  await Promise.all([database?.drop(), project?.remove()]);
});

describe('the JSON form of', () => {
  it.each(values.map(([type, literal, json], index) => [type, literal, json, `c${index}`] as const))(
    '%s %s',
    async (_type, _literal, json, field) => {
      const flat = await platform.admin(`/items/everything?fields=${field}&sort=id`);
      expect(flat.text).toBe(`{"data":[{"${field}":${json}},{"${field}":null}]}`);
      const nested = await platform.admin(`/items/parent?fields=link.everything_id.${field}`);
      expect(nested.text).toBe(
        `{"data":[{"link":[{"everything_id":{"${field}":${json}}},{"everything_id":{"${field}":null}}]}]}`,
      );
    },
  );
});
