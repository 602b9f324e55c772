/** Filters on arrays, ranges and JSON: additions to the operators of the specification. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain } from '../support/explain.ts';
import { failure, type ServedProject, serveProject } from '../support/project.ts';
import { jsonDocuments, jsonFilters } from './twins/json-filters.ts';

const sql = `
  CREATE EXTENSION citext;
  CREATE TYPE mood AS ENUM ('sad', 'happy');
  CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
  CREATE DOMAIN span AS int4range;
  CREATE TABLE lists (id integer PRIMARY KEY, n integer[], s smallint[], t text[], c citext[], m mood[], p positive[],
    i inet[], f real[], w timestamptz[], u uuid[], j jsonb[]);
  INSERT INTO lists VALUES
    (1, '{1,2}', '{1,2}', '{a,"b,c",null}', '{A}', '{sad}', '{1}', '{10.0.0.1}', '{0.1}', '{2024-01-01Z}',
      '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', '{"1"}'),
    (2, '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}'),
    (3, null, null, null, null, null, null, null, null, null, null, null),
    (4, '{2,null}', '{-1}', '{null,"NULL"}', '{a}', '{happy,sad}', '{2}', '{10.0.0.0/8}', '{NaN}', '{infinity}', '{}', '{}'),
    (5, '{{1,2},{3,4}}', '{3}', '{""}', '{b}', '{happy}', '{3}', '{::1}', '{1}', '{2999-01-01Z}', '{}', '{}');
  CREATE INDEX ON lists USING gin (n);
  CREATE TABLE spans (id integer PRIMARY KEY, r int4range, d span, w tstzrange, days daterange, n numrange,
    several datemultirange);
  INSERT INTO spans VALUES
    (1, '[1,5)', '[1,5)', '[2024-01-01Z,2024-02-01Z)', '[2024-01-01,2024-02-01)', '[0.5,1.5]', '{[2024-01-01,2024-01-03),[2024-02-01,2024-02-03)}'),
    (2, '[5,)', '(,9]', '[2024-02-01Z,)', '(,2024-01-01)', '(1,2)', '{}'),
    (3, 'empty', 'empty', 'empty', 'empty', 'empty', '{[2024-01-03,2024-02-01)}'),
    (4, null, null, null, null, null, null);
  CREATE TABLE notes (id integer PRIMARY KEY, data jsonb, plain json);
  INSERT INTO notes SELECT id, value::jsonb, value::json FROM (VALUES ${jsonDocuments}) v (id, value);
  INSERT INTO notes VALUES (8, null, null);
  CREATE TABLE odd (id integer PRIMARY KEY, plain json);
  INSERT INTO odd VALUES (1, '{"a": 1, "z": "\\u0000"}'), (2, '{"a": 1, "z": "\\ud83d"}'), (3, '{"a": 1, "z": 1e99999999}'),
    (4, '{"a": 1, "z": "\\ud83d\\ude00"}'), (5, '{"a": 1, "a": 2}'), (6, '{"a": 1e3, "z": "1e4000-1e5000"}');
  CREATE INDEX ON notes USING gin (data);`;

const permissions = `permissions:
  public:
    lists: { read: [{ fields: [id, t], filter: { n: { _has: 2 } } }, { fields: [id, n], filter: { n: { _has_any: [1] } } }] }
    notes: { read: { fields: [id], filter: { data: { /a/b: { _eq: 1 } } } } }
    spans: { read: { fields: [id], filter: { r: { _overlaps: [4, null] } } } }
  reader:
    lists: { read: { fields: [id], filter: { u: { _nhas: $CURRENT_USER } } } }
roles: { reader: {} }
`;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({ sql, permissions });
});
afterAll(() => project?.close());

type Found = readonly number[] | string;

async function ids(path: string, ask: { method?: string; body?: unknown } = {}): Promise<Found> {
  const answer = await project.admin(path, ask);
  return answer.json.data?.map((item: { id: number }) => item.id) ?? failure(answer);
}

/** What a filter finds, written as JSON text, in the body of SEARCH, and in brackets where that can say the same. */
async function find(collection: string, filter: object, brackets?: string): Promise<Found> {
  const text = await ids(`/items/${collection}?fields=id&filter=${encodeURIComponent(JSON.stringify(filter))}`);
  const body = { query: { fields: ['id'], filter } };
  expect(await ids(`/items/${collection}`, { method: 'SEARCH', body })).toEqual(text);
  if (brackets !== undefined) expect(await ids(`/items/${collection}?fields=id&${brackets}`)).toEqual(text);
  return text;
}

const badQuery = '400 INVALID_QUERY';

describe('arrays', () => {
  it.each([
    [{ n: { _has: 2 } }, [1, 4, 5], 'filter[n][_has]=2'],
    [{ n: { _nhas: 2 } }, [2], 'filter[n][_nhas]=2'],
    [{ n: { _has_any: [1, 4] } }, [1, 5], 'filter[n][_has_any]=1,4'],
    [{ n: { _has_any: [1, 4] } }, [1, 5], 'filter[n][_has_any][]=1&filter[n][_has_any][]=4'],
    [{ n: { _nhas_any: [1, 4] } }, [2, 4], 'filter[n][_nhas_any]=1,4'],
    [{ n: { _has_all: [1, 2] } }, [1, 5], 'filter[n][_has_all]=1,2'],
    [{ n: { _nhas_all: [1, 2] } }, [2, 4], 'filter[n][_nhas_all]=1,2'],
    [{ n: { _has_any: [] } }, [], 'filter[n][_has_any]='],
    [{ n: { _nhas_any: [] } }, [1, 2, 4, 5], 'filter[n][_nhas_any]='],
    [{ n: { _has_all: [] } }, [1, 2, 4, 5], 'filter[n][_has_all]='],
    [{ n: { _nhas_all: [] } }, [], 'filter[n][_nhas_all]='],
    [{ n: { _eq: [1, 2] } }, [1], 'filter[n][_eq]=1,2'],
    [{ n: { _eq: [2, null] } }, [4], undefined],
    [{ n: { _neq: [1, 2] } }, [2, 4, 5], 'filter[n]=_neq&filter[n]='],
    [{ n: { _eq: [] } }, [2], 'filter[n]='],
    [{ n: { _eq: null } }, [3], 'filter[n]=null'],
    [{ n: { _null: true } }, [3], 'filter[n][_null]=true'],
    [{ s: { _has: 70000 } }, [], 'filter[s][_has]=70000'],
    [{ s: { _eq: [1, 70000] } }, [], 'filter[s][_eq]=1,70000'],
    [{ s: { _has: -1 } }, [4], 'filter[s][_has]=-1'],
    [{ t: { _has: 'b,c' } }, [1], 'filter[t][_has]=b,c'],
    [{ t: { _has: 'NULL' } }, [4], 'filter[t][_has]=NULL'],
    [{ t: { _has: '' } }, [5], 'filter[t][_has]='],
    [{ t: { _has: 'null' } }, [], 'filter[t][_has]=null'],
    [{ c: { _has: 'A' } }, [1], 'filter[c][_has]=A'],
    [{ m: { _has_all: ['sad', 'happy'] } }, [4], 'filter[m][_has_all]=sad,happy'],
    [{ p: { _has: 2 } }, [4], 'filter[p][_has]=2'],
    [{ i: { _has: '10.0.0.1' } }, [1], 'filter[i][_has]=10.0.0.1'],
    [{ f: { _has: 0.1 } }, [1], 'filter[f][_has]=0.1'],
    [{ f: { _has: 'NaN' } }, [4], 'filter[f][_has]=NaN'],
    [{ w: { _has: '2024-01-01T01:00:00+01:00' } }, [1], 'filter[w][_has]=2024-01-01T01:00:00%2B01:00'],
    [{ w: { _has: '$NOW' } }, [], 'filter[w][_has]=$NOW'],
    [{ w: { _nhas_any: ['$NOW', 'infinity'] } }, [1, 2, 5], 'filter[w][_nhas_any]=$NOW,infinity'],
    [{ u: { _has: 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11' } }, [1], undefined],
    [{ u: { _has: '$CURRENT_USER' } }, [], 'filter[u][_has]=$CURRENT_USER'],
    [{ u: { _nhas: '$CURRENT_USER' } }, [], 'filter[u][_nhas]=$CURRENT_USER'],
    [{ u: { _nhas_any: ['$CURRENT_USER'] } }, [], 'filter[u][_nhas_any]=$CURRENT_USER'],
    [{ _or: [{ n: { _has: 2 } }, { n: { _eq: [] } }] }, [1, 2, 4, 5], undefined],
  ])('%j finds %j', async (filter, found, brackets) => {
    const usable = brackets?.includes('_neq&') ? undefined : brackets;
    expect(await find('lists', filter, usable)).toEqual(found);
  });

  it.each([
    { n: { _has: 'x' } },
    { n: { _has: null } },
    { n: { _has: [1] } },
    { n: { _has_any: [null] } },
    { n: { _has_any: 1 } },
    { n: { _eq: 1 } },
    { n: { _eq: [1, 'x'] } },
    { n: { _in: [[1]] } },
    { n: { _contains: 1 } },
    { n: { _overlaps: [1, 2] } },
    { m: { _has: 'angry' } },
    { f: { _has: 1e300 } },
    { j: { _has: 1 } },
    { j: { _eq: [1] } },
    { n: { '/0': { _eq: 1 } } },
  ])('%j is refused', async (filter) => {
    expect(await find('lists', filter)).toMatch(/^400 INVALID_QUERY$|^403 FORBIDDEN$/);
  });

  it('uses an index of the column', async () => {
    project.statements.reset();
    await project.admin('/items/lists?aggregate[count]=*&filter[n][_has]=2');
    const plan = await explain(project.database.url, project.statements.texts()[0] ?? '');
    expect(plan.join()).toContain('Bitmap Index Scan on lists_n_idx,Index Cond: (n @> $1)');
  });
});

describe('ranges', () => {
  it.each([
    [{ r: { _has: 4 } }, [1], 'filter[r][_has]=4'],
    [{ r: { _has: 5 } }, [2], 'filter[r][_has]=5'],
    [{ r: { _nhas: 5 } }, [1, 3], 'filter[r][_nhas]=5'],
    [{ r: { _overlaps: [4, 6] } }, [1, 2], 'filter[r][_overlaps]=4,6'],
    [{ r: { _overlaps: [5, 6] } }, [2], 'filter[r][_overlaps]=5,6'],
    [{ r: { _overlaps: [null, 2] } }, [1], 'filter[r][_overlaps]=,2'],
    [{ r: { _overlaps: [null, null] } }, [1, 2], 'filter[r][_overlaps]=null,'],
    [{ r: { _overlaps: [6, 4] } }, [], 'filter[r][_overlaps]=6,4'],
    [{ r: { _noverlaps: [5, 6] } }, [1, 3], 'filter[r][_noverlaps]=5,6'],
    [{ r: { _within: [1, 5] } }, [1, 3], 'filter[r][_within]=1,5'],
    [{ r: { _within: [1, null] } }, [1, 2, 3], 'filter[r][_within]=1,'],
    [{ r: { _nwithin: [1, 5] } }, [2], 'filter[r][_nwithin]=1,5'],
    [{ r: { _overlaps: [2147483647, null] } }, [2], 'filter[r][_overlaps]=2147483647,'],
    [{ d: { _has: -2147483648 } }, [2], 'filter[d][_has]=-2147483648'],
    [{ w: { _has: '2024-01-31T23:59:59.999999Z' } }, [1], undefined],
    [{ w: { _has: '$NOW' } }, [2], 'filter[w][_has]=$NOW'],
    [{ w: { _overlaps: ['2024-01-15', '2024-01-16'] } }, [1], 'filter[w][_overlaps]=2024-01-15,2024-01-16'],
    [{ days: { _has: '2024-01-31' } }, [1], 'filter[days][_has]=2024-01-31'],
    [{ n: { _has: '1.50' } }, [1, 2], 'filter[n][_has]=1.50'],
    [{ several: { _has: '2024-02-02' } }, [1], 'filter[several][_has]=2024-02-02'],
    [{ several: { _overlaps: ['2024-01-03', '2024-02-01'] } }, [3], undefined],
    [{ several: { _within: ['2024-01-01', '2024-02-03'] } }, [1, 2, 3], undefined],
    [{ r: { _null: true } }, [4], 'filter[r][_null]='],
  ])('%j finds %j', async (filter, found, brackets) => {
    expect(await find('spans', filter, brackets)).toEqual(found);
  });

  it.each([
    { r: { _has: 'x' } },
    { r: { _has: '[1,2)' } },
    { r: { _has: 2147483648 } },
    { r: { _overlaps: [1] } },
    { r: { _overlaps: [1, 2, 3] } },
    { r: { _overlaps: 5 } },
    { w: { _overlaps: ['$NOW', null] } },
    { r: { _has_any: [1] } },
    { r: { _eq: '[1,5)' } },
    { r: { _lt: 5 } },
  ])('%j is refused', async (filter) => {
    expect(await find('spans', filter)).toBe(badQuery);
  });
});

describe.each(['data', 'plain'])('JSON in a column %s', (field) => {
  const inside = (path: string, condition: unknown) => ({ [field]: { [path]: condition } });

  it.each(jsonFilters)('%s %j finds %j', async (path, condition, found, value) => {
    const operator = condition === 1 ? '' : `[${Object.keys(Object(condition))[0]}]`;
    const brackets =
      value === undefined ? undefined : `filter[${field}][${path}]${operator}${value === '' ? '=1' : value}`;
    expect(await find('notes', inside(path, condition), brackets)).toEqual(found);
  });

  it('looks for elements of the whole value', async () => {
    expect(await find('notes', { [field]: { _has: 'x' } }, `filter[${field}][_has]=x`)).toEqual([5]);
    expect(await find('notes', { [field]: { _nhas: 'x' } })).toEqual([]);
    expect(await find('notes', { [field]: { _null: true } })).toEqual([8]);
  });

  it.each([
    ['/a', { _eq: [1] }],
    ['/a', { _eq: {} }],
    ['/a', { _in: [1, 'x'] }],
    ['/a', { _contains: 5 }],
    ['/a', { _lt: true }],
    ['/a', { _gt: null }],
    ['/a', { _eq: '$NOW' }],
    ['/a', { _empty: true }],
    ['/a', { _overlaps: [1, 2] }],
    ['/a', { _has: [1] }],
    ['/a', { _unknown: 1 }],
    ['/~2', { _eq: 1 }],
    ['/a'.repeat(65), { _eq: 1 }],
    ['/a', [1]],
  ])('%s %j is refused', async (path, condition) => {
    expect(await find('notes', inside(path, condition))).toBe(badQuery);
  });

  it('is refused without a path', async () => {
    expect(await find('notes', { [field]: { _eq: 1 } })).toBe(badQuery);
    expect(await find('notes', { [field]: { a: { _eq: 1 } } })).toBe('403 FORBIDDEN');
  });
});

it('passes over JSON that PostgreSQL cannot take apart', async () => {
  expect(await find('odd', { plain: { '/a': { _eq: 1 } } })).toEqual([4]);
  expect(await find('odd', { plain: { '/a': { _gt: 1 } } })).toEqual([5, 6]);
  expect(await find('odd', { plain: { '/z': { _eq: '😀' } } })).toEqual([4]);
  expect(await find('odd', { plain: { '/z': { _starts_with: '1e4' } } })).toEqual([6]);
});

it('never makes SQL of a path', async () => {
  project.statements.reset();
  const path = `/a"'); DROP TABLE notes;--/b`;
  expect(await find('notes', { data: { [path]: { _eq: "x'y" } } })).toEqual([]);
  expect(project.statements.texts().join('\n')).not.toContain('DROP');
});

describe('rules', () => {
  it('use the same operators', async () => {
    const read = async (path: string) => (await project.ask(`/items/${path}`)).json.data;
    expect(await read('lists?fields=id,n,t')).toEqual([
      { id: 1, n: [1, 2], t: ['a', 'b,c', null] },
      { id: 4, n: null, t: [null, 'NULL'] },
      { id: 5, n: expect.anything(), t: [''] },
    ]);
    expect(await read('notes')).toEqual([{ id: 1 }]);
    expect(await read('spans')).toEqual([{ id: 1 }, { id: 2 }]);
  });
});
