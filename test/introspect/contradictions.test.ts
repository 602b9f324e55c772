/** What the compiler calls impossible is so: conditions at random over every kind of column, asked of a database. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexFacts } from '../../packages/introspect/src/conditions/column-facts.ts';
import { findContradiction, implies } from '../../packages/introspect/src/conditions/contradiction.ts';
import type { Schema } from '../../packages/introspect/src/schema.ts';
import { parseSchema } from '../../packages/introspect/src/schema-file.ts';
import type { Caller, CompiledApi, Condition } from '../../packages/runtime/src/index.ts';
import { parseFilter } from '../../packages/runtime/src/language/index.ts';
import { buildOpenScope, filterNames } from '../../packages/runtime/src/sql/scope.ts';
import { type InProcess, loadApi, openInProcess } from '../support/in-process.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { seededRandom } from '../support/swarm.ts';

/** Columns with the values that rows take, and where they are written otherwise, those that conditions take. */
const columns: Readonly<Record<string, readonly [type: string, values: readonly string[], asked?: readonly object[]]>> =
  {
    i: ['integer', ['0', '1', '2', '-1', '2147483647']],
    s: ['smallint NOT NULL', ['0', '1', '2', '32767']],
    b: ['bigint', ['0', '1', '9007199254740993']],
    n: ['numeric', ['0', '0.3', '0.30000000000000004', '1', '1e3']],
    f: ['real', ['0', '0.1', '0.10000000149', '0.3', '1', '16777217', '16777216']],
    t: ['text', ['', 'a', 'A', 'ab', 'abc', 'b', 'a ']],
    v: ['varchar(3)', ['', 'a', 'ab', 'abc', 'abcd']],
    c: ['char(3)', ['a', 'a ', 'ab', 'abc']],
    z: ['text COLLATE blind', ['a', 'A', 'á', 'b']],
    l: ["text CHECK (l IN ('a', 'b'))", ['a', 'b']],
    o: ['boolean', ['true', 'false']],
    e: ['mood', ['calm', 'keen']],
    d: ['date', ['2024-01-01', '2024-01-02', '2023-12-31']],
    m: [
      'timestamptz',
      ['2024-01-01T00:00:00Z', '2024-01-01T01:00:00+01:00', '2024-01-01T00:00:00.000001Z', '2024-01-02'],
    ],
    p: ['timestamp(0)', ['2024-01-01T00:00:00', '2024-01-01T00:00:00.4', '2024-01-01T00:00:01']],
    w: ['interval', ['P1D', 'PT24H', 'P1M', 'P30D']],
    a: ['integer[]', ['{}', '{1}', '{1,2}', '{2,1}', '{NULL}'], [[], [1], [1, 2], [2, 1]]],
    q: ['text', ['a,b', 'a', ''], [['a', 'b'], ['a'], []]],
  };

const caller: Caller = { accessClass: 'admin', user: null, role: null };

let project: ServedProject;
let inside: InProcess;
let api: CompiledApi;
let schema: Schema;
beforeAll(async () => {
  const definitions = Object.entries({ ...columns, ...json }).map(([name, [type]]) => `${name} ${type}`);
  const values = Object.values({ ...columns, ...json }).map(([type, of]) => {
    const list = of.filter((value) => !(type.startsWith('varchar') && value.length > 3)).map((value) => `'${value}'`);
    const nulls = type.includes('NOT NULL') ? [] : ['NULL'];
    const cast = type.replace(/ (?:NOT NULL|CHECK.*|COLLATE.*)$/, '');
    return `(ARRAY[${[...list, ...nulls].join(', ')}])[1 + floor(random() * ${list.length + nulls.length})::integer]::${cast}`;
  });
  project = await serveProject({
    sql: `
      CREATE TYPE mood AS ENUM ('calm', 'keen');
      CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
      CREATE TABLE thing (id integer PRIMARY KEY, parent integer REFERENCES thing, ${definitions.join(', ')});
      SELECT setseed(0.3);
      INSERT INTO thing SELECT i, CASE WHEN i % 4 > 0 THEN 1 + i % 7 END, ${values.join(', ')} FROM generate_series(1, 300) i ORDER BY i;`,
    config: `{ database: { schemas: ['public'] }, collections: { thing: { fields: { q: { type: 'csv' } } } } }`,
  });
  api = await loadApi(project.folder);
  inside = await openInProcess(project.database.url);
  const parsed = parseSchema(await readFile(join(project.folder, 'platform.schema.json'), 'utf8'));
  if ('diagnostic' in parsed) throw new Error(parsed.diagnostic.message);
  schema = parsed.schema;
});
afterAll(async () => {
  await inside?.close();
  await project?.close();
});

/** Has no values of its own: conditions look into it. */
const json = {
  j: [
    'jsonb',
    [
      '{}',
      '{"x": 1, "y": 2}',
      '{"x": 2}',
      '{"y": 1}',
      '{"x": null, "y": 2}',
      '{"x": "a"}',
      '{"x": {"z": true}}',
      '[1]',
      'null',
    ],
  ],
} as const;

const operators = [
  ...[
    '_eq',
    '_eq',
    '_neq',
    '_lt',
    '_lte',
    '_gt',
    '_gte',
    '_in',
    '_in',
    '_nin',
    '_null',
    '_nnull',
    '_between',
    '_nbetween',
  ],
  ...[
    '_contains',
    '_ncontains',
    '_icontains',
    '_starts_with',
    '_nstarts_with',
    '_ends_with',
    '_iends_with',
    '_empty',
    '_nempty',
  ],
];

test('no condition that is called impossible, or implied, is met otherwise', async () => {
  const random = seededRandom();
  const open = filterNames(buildOpenScope(api));
  const names = [...Object.keys(columns), 'j'];
  const index = indexFacts(schema);
  const pick = <Value>(of: readonly Value[]): Value => {
    const value = of[Math.floor(random() * of.length)];
    if (value === undefined) throw new Error('nothing to pick from');
    return value;
  };
  function inJson(path: string): object {
    const operator = pick(['_eq', '_neq', '_in', '_nin', '_null', '_nnull', '_lt']);
    const value = pick([1, 2, 'a', true]);
    const list = Array.from({ length: Math.floor(random() * 3) }, () => value);
    const operand = operator.endsWith('ull') ? true : operator.endsWith('in') ? list : value;
    return { j: { [path]: { [operator]: operand } } };
  }
  function inArray(): object {
    const operator = pick(['_has', '_nhas', '_has_any', '_nhas_any', '_has_all', '_nhas_all']);
    const list = Array.from({ length: Math.floor(random() * 3) }, () => pick([1, 2]));
    return { a: { [operator]: operator.endsWith('has') ? pick([1, 2]) : list } };
  }
  function leaf(name: string): object {
    if (name === 'a' && random() < 0.5) return inArray();
    if (name === 'j') return inJson(pick(['/x', '/y', '/x/z']));
    const [, written = [], asked] = columns[name] ?? ['', []];
    const values: readonly unknown[] = asked ?? written;
    const operator = pick(operators);
    if (['_null', '_nnull', '_empty', '_nempty'].includes(operator)) return { [name]: { [operator]: true } };
    if (operator.includes('between')) return { [name]: { [operator]: [pick(values), pick(values)] } };
    if (operator.endsWith('in')) {
      return { [name]: { [operator]: Array.from({ length: Math.floor(random() * 3) }, () => pick(values)) } };
    }
    return { [name]: { [operator]: pick(values) } };
  }
  function part(name: string, depth: number): object {
    if (depth === 0 || random() < 0.6) return leaf(random() < 0.9 ? name : pick(names));
    const parts = [part(name, depth - 1), part(name, depth - 1)];
    const kinds = [
      () => ({ _and: parts }),
      () => ({ _or: parts }),
      () => ({ parent: { _and: parts } }),
      () => ({ parent: pick([{ id: { _null: true } }, { id: { _nnull: true } }, { _or: [{ id: null }, ...parts] }]) }),
      () => ({ thing: pick([{ id: { _null: true } }, { id: { _nnull: true } }, { _or: [{ id: null }, ...parts] }]) }),
      () => ({ thing: { _some: { _and: parts } } }),
      () => ({ thing: { _none: parts[0] } }),
    ];
    return pick(kinds)();
  }
  const read = (filter: object) => parseFilter(JSON.parse(JSON.stringify(filter)), 'thing', open);
  const ask = (filter: object) => inside.list(api, caller, 'thing', { fields: ['id'], filter, limit: -1 });

  const count = { impossible: 0, implied: 0 };
  for (let round = 0; round < 3_000; round++) {
    const name = pick(names);
    const parts = Array.from({ length: 2 + Math.floor(random() * 2) }, () => part(name, 1));
    const filter = { _and: parts };
    const { condition, problems } = read(filter);
    if (problems.length > 0) continue;
    const reason = findContradiction(index, 'thing', [condition]);
    if (reason !== null) {
      count.impossible += 1;
      expect(await ask(filter), `${JSON.stringify(filter)}\n${reason}`).toEqual([]);
    }
    const [one, other] = parts.map((of): Condition => read(of).condition);
    if (one === undefined || other === undefined || !implies(one, other)) continue;
    count.implied += 1;
    expect(await ask({ _and: parts.slice(0, 2) }), JSON.stringify(parts)).toEqual(await ask(parts[0] ?? {}));
  }
  // So that the test cannot pass by finding nothing.
  expect(count.impossible).toBeGreaterThan(200);
  expect(count.implied).toBeGreaterThan(20);
}, 60_000);
