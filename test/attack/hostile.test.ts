/** A database in which every name, comment, label, default and value is hostile, compiled and served: F01, F02, P17. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withClient } from '../support/database.ts';
import { adminToken } from '../support/platform.ts';
import { type ServedProject, serveProject } from '../support/project.ts';
import { fire } from '../support/swarm.ts';
import { typeCheck } from '../support/type-check.ts';

/** Legal identifiers of PostgreSQL, all of them. */
const names = [
  ...[
    'a"b',
    'a`b',
    "a'b",
    "x'); drop table y;--",
    '*/ process.exit(1) /*',
    '$'.concat('{process.exit(1)}'),
    '`; process.exit(1); `',
  ],
  ...[
    'a\u2028b',
    'a\nb',
    'a\tb',
    '</script>',
    '<!--',
    '\\',
    '\\u0041',
    '%',
    '%41',
    '%2F',
    '#',
    '?',
    '&',
    '=',
    '+',
    ' ',
    '  ',
  ],
  ...['__proto__', 'constructor', 'prototype', 'then', 'toJSON', 'toString', 'hasOwnProperty', 'valueOf', '__typename'],
  ...[
    'class',
    'await',
    'default',
    'null',
    'true',
    'undefined',
    'select',
    'from',
    'order',
    'user',
    'Query',
    'public',
    'admin',
  ],
  ...[
    '1',
    '007',
    '1st',
    'a-b',
    'a b',
    'a_b',
    'aB',
    'AB',
    'ab',
    '-',
    '--',
    '*',
    '**',
    '_',
    '$1',
    '$NOW',
    '{{x}}',
    '{{{y}}}',
  ],
  ...[
    '_and',
    '_or',
    '_eq',
    '_some',
    'count',
    'count(x)',
    'year(id)',
    'item',
    'item:x',
    'über größe',
    '日本語',
    '🙂',
    '\u202ertl',
    '\ufeff',
  ],
  ...[
    'e\u0301',
    'é',
    'x'.repeat(63),
    '"'.repeat(63),
    't0',
    'x0',
    'c0',
    'limit',
    'filter',
    'fields',
    'index',
    'con',
    '..a',
  ],
];

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Names with a dot, a comma, a slash or brackets cannot be written in every parameter, so they are read by wildcards only. */
const tables = names.map((name, index) => {
  const columns = names.filter((_, other) => (other + index) % 9 === 0).filter((column) => column !== 'id');
  const label = names[(index + 1) % names.length] ?? '';
  const list = columns.map((column) => `${quoted(column)} text DEFAULT ${literal(column)}`).join(', ');
  return `
    CREATE TABLE s.${quoted(name)} (
      id integer PRIMARY KEY, ${list}, "kind of" s.${quoted('kind"`')} DEFAULT ${literal(label)},
      ${quoted(`to ${name}`.slice(0, 63))} integer REFERENCES s.${quoted(name)}
    );
    COMMENT ON TABLE s.${quoted(name)} IS ${literal(`${name}\n*/ ${label} \${x} \u2028 </script>`)};
    ${columns.map((column) => `COMMENT ON COLUMN s.${quoted(name)}.${quoted(column)} IS ${literal(`*/ ${column}\n`)};`).join('\n')}
    INSERT INTO s.${quoted(name)} (id) VALUES (1), (2);`;
});

/** `$NOW` is a time wherever it stands in a filter. */
const labels = [...new Set(names)].filter((name) => name !== '$NOW');

/** Names that mean something else in a filter or a path; the compiler reports them. They are read by wildcards. */
const unaddressable = /^(_and|_or|_eq|_some)$|\.|^[-*]/;

let project: ServedProject;
beforeAll(async () => {
  project = await serveProject({
    sql: `
      CREATE SCHEMA s;
      CREATE TYPE s.${quoted('kind"`')} AS ENUM (${[...new Set(names)].map(literal).join(', ')});
      ${tables.join('\n')}`,
    // Names that differ only in characters that GraphQL does not have are no names there.
    config: `{ database: { schemas: ['s'] }, graphql: false }`,
    permissions: `permissions:\n  public:\n${names.map((name) => `    ${JSON.stringify(name)}: { read: { fields: [id, "kind of"], filter: { "kind of": { _in: ${JSON.stringify(labels)} } } } }`).join('\n')}`,
  });
});
afterAll(() => project?.close());

it('serves every table under its own name, whole, nested and filtered', async () => {
  const failed: string[] = [];
  for (const [index, name] of names.entries()) {
    const path = `/items/${encodeURIComponent(name)}`;
    const label = names[(index + 1) % names.length] ?? '';
    if (label === '$NOW') continue;
    const rows = await withClient(project.database.url, (client) =>
      client.query<Record<string, unknown>>(`SELECT * FROM s.${quoted(name)} ORDER BY id`),
    );
    // A column of the one name that no body may have is left out.
    const shown = (row: Record<string, unknown>) => Object.entries(row).filter(([column]) => column !== '__proto__');
    const expected = rows.rows.map((row) => new Map(shown(row)));
    const list = await fire(project.url, { path, token: adminToken });
    const given: unknown = list.status === 200 ? JSON.parse(list.text) : undefined;
    const items =
      typeof given === 'object' && given !== null && 'data' in given && Array.isArray(given.data) ? given.data : [];
    const same =
      items.length === 2 &&
      expected.every((row, at) => [...row].every(([key, value]) => Object.is(items[at]?.[key], value)));
    if (!same) failed.push(`list ${JSON.stringify(name)}: ${list.status} ${list.text.slice(0, 200)}`);
    const answers = await Promise.all([
      fire(project.url, { path: `${path}/1?fields=*.*`, token: adminToken }),
      fire(project.url, { path: `${path}/1` }),
      fire(project.url, { path: `${path}?meta=*&limit=1` }),
      fire(project.url, {
        path: `${path}?filter=${encodeURIComponent(JSON.stringify({ 'kind of': { _eq: label } }))}`,
      }),
      ...[...(expected[0]?.keys() ?? [])].map((column) => {
        const query = { fields: [column], filter: { [column]: { _nnull: true } }, sort: [column] };
        return unaddressable.test(column)
          ? fire(project.url, { path: '/server/ping' })
          : fire(project.url, { path, method: 'SEARCH', token: adminToken, body: JSON.stringify({ query }) });
      }),
    ]);
    for (const { status, text } of answers)
      if (status !== 200) failed.push(`${JSON.stringify(name)}: ${status} ${text.slice(0, 200)}`);
  }
  expect(failed).toEqual([]);
  expect(project.statements.errors()).toEqual([]);
});

it('shows the public what the rule says and nothing else', async () => {
  for (const [index, name] of names.entries()) {
    // The one label that the rule leaves out.
    if (names[(index + 1) % names.length] === '$NOW') continue;
    const { status, text } = await fire(project.url, { path: `/items/${encodeURIComponent(name)}?limit=1` });
    expect([status, Object.keys(JSON.parse(text).data[0])]).toEqual([200, ['id', 'kind of']]);
  }
});

it('generates code that the compiler takes as it is', async () => {
  expect(await typeCheck(project.folder)).toBe('');
}, 120_000);
