/** Our JSON bytes against what PostgreSQL itself prints, on a server and on the embedded database. */

import type { PGlite } from '@electric-sql/pglite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '../../packages/runtime/src/database/database.ts';
import { openDatabase } from '../../packages/runtime/src/dialects/open.ts';
import type { Shape, ShapeField } from '../../packages/runtime/src/json/shape.ts';
import type { WireKind } from '../../packages/runtime/src/language/index.ts';
import { createAnswerWriter } from '../../packages/runtime/src/query/answer.ts';
import type { ReadPlan } from '../../packages/runtime/src/query/plan/plan.ts';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { createEmbedded } from '../support/embedded.ts';
import { statement } from './statements.ts';

/** One column of the test table: how it is filled, read, and what PostgreSQL prints for it as JSON. */
interface Column {
  readonly name: string;
  readonly type: string;
  /** SQL of a value from the row number `i` and the random number `r` in [0, 1). */
  readonly random: string;
  readonly edges: readonly string[];
  readonly cast?: string;
  readonly shape: Shape;
  /** SQL of the expected JSON text of the column `$`. */
  readonly expected: string;
}

const scalar = (wire: WireKind): Shape => ({ kind: 'scalar', wire });
const array = (element: WireKind): Shape => ({ kind: 'array', element });
const asIs = 'to_json($)::text';
const asText = 'to_json($::text)::text';
const moment = `timestamp '2000-01-01' + (r - 0.5) * interval '12000 years' / 3 + r * interval '1 hour'`;
const base64 = `'"' || translate(encode($, 'base64'), E'\\n', '') || '"'`;

const columns: readonly Column[] = [
  { name: 'flag', type: 'bool', random: 'r < 0.5', edges: [], shape: scalar('bool'), expected: asIs },
  {
    name: 'small',
    type: 'int2',
    random: '(r - 0.5) * 65000',
    edges: ['-32768', '32767', '0'],
    shape: scalar('i2'),
    expected: asIs,
  },
  {
    name: 'whole',
    type: 'int4',
    random: '(r - 0.5) * 4e9',
    edges: ['-2147483648', '2147483647', '-1'],
    shape: scalar('i4'),
    expected: asIs,
  },
  {
    name: 'large',
    type: 'int8',
    random: '(r - 0.5) * 1.8e19',
    edges: ['-9223372036854775808', '9223372036854775807', '9007199254740993', '-1', '999999999', '1000000000'],
    shape: scalar('i8'),
    expected: asText,
  },
  {
    name: 'ratio',
    type: 'float8',
    random: '(r - 0.5) * pow(10, i % 40 - 20)',
    edges: ["'NaN'", "'Infinity'", "'-Infinity'", "'-0'", '1e308', '5e-324'],
    cast: '::text',
    shape: scalar('number'),
    expected: asIs,
  },
  {
    name: 'price',
    type: 'numeric',
    random: '(r * 1e9)::numeric(30, 10)',
    edges: ["'NaN'", '0.10', '1e40'],
    cast: '::text',
    shape: scalar('text'),
    expected: asText,
  },
  {
    name: 'words',
    type: 'text',
    random: `(SELECT string_agg(chr(1 + (r * 7919 * g)::int % 700), '') FROM generate_series(1, i % 90) g)`,
    edges: ["''", `repeat('"', 5000)`, `repeat('abc', 3000) || E'\\n'`, `E'\\u2028\\U0001F600\\x7f'`],
    shape: scalar('text'),
    expected: asIs,
  },
  {
    name: 'plain',
    type: 'json',
    random: `format('{"a" : [%s, null]}', i)::json`,
    edges: [`'"x"'`, `'null'`],
    shape: scalar('json'),
    expected: '$::text',
  },
  {
    name: 'parsed',
    type: 'jsonb',
    random: `jsonb_build_object('r', r, 'i', i)`,
    edges: [`'[]'`],
    shape: scalar('jsonb'),
    expected: '$::text',
  },
  {
    name: 'day',
    type: 'date',
    random: `(${moment})::date`,
    edges: ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'0001-12-31 BC'", "'5874897-12-31'", "'4714-11-24 BC'"],
    shape: scalar('date'),
    expected: asIs,
  },
  {
    name: 'hour',
    type: 'time',
    random: `(${moment})::time`,
    edges: ["'24:00:00'", "'00:00'", "'12:00:00.5'"],
    shape: scalar('time'),
    expected: asIs,
  },
  {
    name: 'local',
    type: 'timestamp',
    random: moment,
    edges: [
      "'infinity'",
      "'-infinity'",
      "'0044-03-15 12:00 BC'",
      "'10000-01-01'",
      "'294276-12-31 23:59:59.999999'",
      "'4714-11-24 BC'",
    ],
    shape: scalar('timestamp'),
    expected: asIs,
  },
  {
    name: 'instant',
    type: 'timestamptz',
    random: `(${moment}) AT TIME ZONE 'UTC'`,
    edges: ["'infinity'", "'-infinity'", "'0044-03-15 12:00+00 BC'", "'2026-11-20 10:00:00.120+05:30'"],
    shape: scalar('timestamptz'),
    expected: asIs,
  },
  {
    name: 'span',
    type: 'interval',
    random: `r * interval '1000 days'`,
    edges: ["'0'", "'-1 year -2 mons +3 days'"],
    cast: '::text',
    shape: scalar('text'),
    expected: asText,
  },
  {
    name: 'code',
    type: 'uuid',
    random: 'md5(r::text)::uuid',
    edges: ["'00000000-0000-0000-0000-000000000000'"],
    shape: scalar('uuid'),
    expected: asIs,
  },
  {
    name: 'raw',
    type: 'bytea',
    random: `substr(decode(repeat(md5(r::text), 4), 'hex'), 1, i % 60)`,
    edges: ["''", `decode(repeat('ff00', 3000), 'hex')`],
    shape: scalar('bytes'),
    expected: base64,
  },
  {
    name: 'numbers',
    type: 'int4[]',
    random: 'ARRAY[i, NULL, -i]',
    edges: ["'{}'", "'{{1,2},{3,4}}'", "'[0:1]={7,8}'"],
    shape: array('i4'),
    expected: asIs,
  },
  {
    name: 'larges',
    type: 'int8[]',
    random: 'ARRAY[i, 9007199254740993]',
    edges: ["'{}'"],
    shape: array('i8'),
    expected: 'to_json($::text[])::text',
  },
  {
    name: 'names',
    type: 'text[]',
    random: `ARRAY['a"b', r::text, NULL, '']`,
    edges: ["'{}'", `'{{{a},{b}},{{c},{d}}}'`],
    shape: array('text'),
    expected: asIs,
  },
  {
    name: 'days',
    type: 'date[]',
    random: `ARRAY[(${moment})::date, 'infinity']`,
    edges: ["'{}'"],
    shape: array('date'),
    expected: asIs,
  },
  {
    name: 'secret',
    type: 'text',
    random: 'r::text',
    edges: ["''"],
    shape: scalar('masked'),
    expected: `CASE WHEN $ IS NOT NULL THEN '"**********"' END`,
  },
];

const rows = 400;

function tableSql(): string {
  const declared = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ');
  const random = columns.map((column) => column.random).join(', ');
  const edges = columns.flatMap(({ name, edges }) =>
    edges.map((edge) => `INSERT INTO sample ("${name}") VALUES (${edge});`),
  );
  return `CREATE TABLE sample (position bigint GENERATED ALWAYS AS IDENTITY, ${declared});
    SELECT setseed(0.4); SET extra_float_digits = 1;
    INSERT INTO sample (${columns.map(({ name }) => `"${name}"`).join(', ')})
      SELECT ${random} FROM (SELECT i, random() AS r FROM generate_series(1, ${rows}) i OFFSET 0) x;
    ${edges.join('\n')}`;
}

const fields: readonly ShapeField[] = columns.map(({ name, shape }) => ({ key: name, shape }));
const selected = columns.map(({ name, cast }) => `"${name}"${cast ?? ''}`).join(', ');

function planOf(text: string, planFields: readonly ShapeField[]): ReadPlan {
  return {
    statement: statement(text),
    binders: [],
    cost: 0,
    many: true,
    fields: planFields,
    meta: [],
    streamed: false,
  };
}

async function answer(database: Database, text: string, planFields: readonly ShapeField[]): Promise<string> {
  const plan = planOf(text, planFields);
  const written = createAnswerWriter(plan)();
  await database.read({ ...plan.statement, name: `t_${text.length}` }, [], written);
  return written.end().toString('utf8');
}

async function expectedAnswer(database: Database): Promise<string> {
  const texts = columns.map(({ name, expected }) => expected.replaceAll('$', `"${name}"`));
  const printed = await database.query(`SELECT ${texts.join(', ')} FROM sample ORDER BY position`, []);
  const items = printed.map((row) => {
    const members = columns.map(({ name }, index) => `"${name}":${row[index] ?? 'null'}`);
    return `{${members.join(',')}}`;
  });
  return `{"data":[${items.join(',')}]}`;
}

let place: TestDatabase;
let server: Database;
let plain: Database;
let embedded: Database;
let lite: PGlite;
beforeAll(async () => {
  place = await createDatabase();
  await withClient(place.url, (client) => client.query(`SET timezone = 'UTC'; ${tableSql()}`));
  server = await openDatabase({ url: place.url }, { driver: 'fast' });
  plain = await openDatabase({ url: place.url }, { driver: 'pg' });
  lite = await createEmbedded();
  await lite.exec(`SET timezone = 'UTC'; ${tableSql()}`);
  embedded = await openDatabase({ embedded: lite });
});
afterAll(async () => {
  await Promise.all([server?.close(0), plain?.close(0), embedded?.close(0)]);
  await lite?.close();
  await place?.drop();
});

const flat = `SELECT ${selected} FROM sample ORDER BY position`;

describe.each(['server', 'plain', 'embedded'] as const)('on the %s database', (kind) => {
  const database = (): Database => ({ server, plain, embedded })[kind];

  test('every column is printed as PostgreSQL prints it', async () => {
    const ours = (await answer(database(), flat, fields)).split('},{');
    const theirs = (await expectedAnswer(database())).split('},{');
    expect(ours.length).toBe(theirs.length);
    for (const [index, item] of ours.entries()) expect(item).toBe(theirs[index]);
  });

  test('the bytes are the same at every depth', async () => {
    const whole = await answer(database(), flat, fields);
    const records = `SELECT ARRAY(SELECT ROW(${selected}) FROM sample ORDER BY position)`;
    const nested = await answer(database(), records, [{ key: 'all', shape: { kind: 'records', fields } }]);
    expect(nested).toBe(`{"data":[{"all":${whole.slice('{"data":'.length, -1)}}]}`);
    const columnar = columns.filter(({ shape }) => shape.kind === 'scalar');
    const lists = columnar.map(({ name, cast }) => `array_agg("${name}"${cast ?? ''} ORDER BY position)`);
    const flatColumns = `SELECT ${columnar.map(({ name, cast }) => `"${name}"${cast ?? ''}`).join(', ')} FROM sample ORDER BY position`;
    const columnFields = columnar.map(({ name, shape }) => ({ key: name, shape }));
    const byColumns = await answer(database(), `SELECT ROW(${lists.join(', ')}) FROM sample`, [
      { key: 'all', shape: { kind: 'records', fields: columnFields } },
    ]);
    const alike = await answer(database(), flatColumns, columnFields);
    expect(byColumns).toBe(`{"data":[{"all":${alike.slice('{"data":'.length, -1)}}]}`);
    const deeper = `SELECT (SELECT ROW(ARRAY(SELECT ROW(${selected}) FROM sample ORDER BY position)))`;
    const shape: Shape = { kind: 'record', fields: [{ key: 'all', shape: { kind: 'records', fields } }] };
    const deep = await answer(database(), deeper, [{ key: 'one', shape }]);
    expect(deep).toBe(`{"data":[{"one":{"all":${whole.slice('{"data":'.length, -1)}}}]}`);
  });

  test('a streamed answer has the same bytes', async () => {
    const plan = { ...planOf(flat, fields), streamed: true };
    const written = createAnswerWriter(plan)();
    const chunks: Buffer[] = [];
    const take = async (): Promise<void> => void chunks.push(written.read());
    await database().stream(plan.statement, [], written, take, new AbortController().signal);
    chunks.push(written.end());
    expect(Buffer.concat(chunks).toString()).toBe(await answer(database(), flat, fields));
    expect(chunks.length).toBeGreaterThan(1);
  });
});

describe('plain pg and the embedded database behave as a server on the fast lane does', () => {
  const databases = (): readonly Database[] => [server, plain, embedded];

  test('in many requests at once, some of which fail', async () => {
    const [ours, ...theirs] = await Promise.all(
      databases().map((database) =>
        Promise.all(
          Array.from({ length: 60 }, async (_, i) => {
            const text = i % 4 === 3 ? 'SELECT 1 / ($1::int * 0)' : `SELECT $1::int4 + ${i % 5}`;
            const plan = planOf(text, [{ key: 'n', shape: scalar('i4') }]);
            const written = createAnswerWriter(plan)();
            const read = database.read(plan.statement, [String(i)], written);
            return read.then(() => written.end().toString()).catch((error: { code: string }) => error.code);
          }),
        ),
      ),
    );
    expect(theirs).toEqual([ours, ours]);
    expect(ours?.[3]).toBe('SERVICE_UNAVAILABLE');
    expect(ours?.[4]).toBe('{"data":[{"n":8}]}');
  });

  test('in streams with parameters, aborts and failures', async () => {
    const outcomes = databases().map(async (database) => {
      const text = `SELECT i FROM generate_series(1, $1::int4) i WHERE i::text LIKE $2::text`;
      const plan = { ...planOf(text, [{ key: 'i', shape: scalar('i4') }]), streamed: true };
      const whole = createAnswerWriter(plan)();
      await database.stream(plan.statement, ['5000', '%7%'], whole, async () => {}, new AbortController().signal);
      const abort = new AbortController();
      const stop = async (): Promise<void> => abort.abort();
      const cut = createAnswerWriter(plan)();
      const aborted = await database
        .stream(plan.statement, ['99999', '%'], cut, stop, abort.signal)
        .catch((e) => e.code);
      const failing = statement('SELECT 1 / (3 - i) FROM generate_series(1, 5) i');
      const broken = createAnswerWriter(plan)();
      const failed = await database
        .stream(failing, [], broken, async () => {}, new AbortController().signal)
        .catch((e) => e.code);
      return [whole.end().toString(), aborted, failed];
    });
    const [ours, ...theirs] = await Promise.all(outcomes);
    expect(theirs).toEqual([ours, ours]);
    expect(ours?.slice(1)).toEqual(['SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE']);
  });

  test('a slow reader of a stream does not hold up others', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const text = statement('SELECT i FROM generate_series(1, 1000) i');
    const stream = embedded.stream(text, [], { row: () => {} }, () => held, new AbortController().signal);
    expect(await embedded.query('SELECT 1', [])).toEqual([['1']]);
    release();
    await stream;
    expect(
      await embedded.query('SELECT count(*) FROM pg_catalog.pg_cursors WHERE name LIKE $1', ['platform%']),
    ).toEqual([['0']]);
  });

  test('and is closed only when it was opened here', async () => {
    const own = await openDatabase({ embedded: 'memory://' });
    expect(await own.query('SELECT 1', [])).toEqual([['1']]);
    await own.close(100);
    await expect(own.query('SELECT 1', [])).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const shared = await openDatabase({ embedded: lite });
    await shared.close(100);
    expect((await lite.query<{ n: number }>('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
  });
});
