import type { Schema } from '@tablewright/introspect/schema';
import type { Condition } from '@tablewright/runtime/language';
import { describe, expect, test } from 'vitest';
import { resolveApi } from '../passes/resolve-api.ts';
import { collectionOf, columnOf, ruleOf, schemaOf, tableOf, typeOf } from '../testing/build-schema.ts';
import { hostileSchema } from '../testing/hostile.ts';
import { matrixFormats, printMatrix } from './print-matrix.ts';

const text = typeOf('text', 'text');
const articles = tableOf('articles', [
  columnOf('id', typeOf('int4', 'integer')),
  columnOf('title', text),
  columnOf('status', text),
]);
const secrets = tableOf('secrets', [columnOf('id', typeOf('int4', 'integer'))]);
const published: Condition = {
  kind: 'compare',
  field: 'status',
  operator: '_eq',
  operand: { kind: 'literal', value: 'published' },
};
const own: Condition = {
  kind: 'compare',
  field: 'author',
  operator: '_eq',
  operand: { kind: 'caller', of: 'user', path: [] },
};

const schema = schemaOf([articles, secrets], [collectionOf(articles), collectionOf(secrets)], {
  roles: [
    { name: 'boss', description: null, admin: true, app: true },
    { name: 'editor', description: null, admin: false, app: true },
  ],
  permissions: [
    ruleOf('editor', 'articles', 'create', ['title'], {
      presets: [{ field: 'status', value: { kind: 'literal', value: 'draft' } }],
    }),
    ruleOf('editor', 'articles', 'delete', [], { where: own }),
    ruleOf('editor', 'articles', 'read', ['id', 'title', 'status']),
    ruleOf('editor', 'articles', 'update', ['title'], { where: own, check: published }),
    ruleOf('editor', 'articles', 'update', ['status'], { where: { kind: 'or', of: [own, published] }, check: null }),
    ruleOf('public', 'articles', 'read', ['id', 'title'], { where: published }),
  ],
});

describe('the table of rights', () => {
  test('as text', () => {
    expect(
      printMatrix(schema, 'text'),
    ).toBe(`r read, c create, u update, d delete; a number names the condition below that rows must meet.

articles
  field     public  editor
  id        r1      r
  title     r1      r c u2
  status    -       r u3
  (delete)  -       d4
  1: status _eq "published"
  2: author _eq $CURRENT_USER; written: status _eq "published"
  3: author _eq $CURRENT_USER or status _eq "published"
  4: author _eq $CURRENT_USER
  set by editor create: status = "draft"

Everything: admin, boss.
For administrators only: secrets.
`);
  });

  test('has nothing that nobody can do, whatever the rules say', () => {
    const events = tableOf('events', [columnOf('what', text)], { primaryKey: null });
    const settings = tableOf('settings', [
      columnOf('id', typeOf('int4', 'integer')),
      columnOf('name', text),
      columnOf('loud', text, { fill: { kind: 'generated', stored: true, expression: 'upper(name)' } }),
    ]);
    const stats = tableOf('stats', [columnOf('id', typeOf('int4', 'integer'))], {
      kind: 'view',
      writable: { insert: false, update: false, delete: false },
    });
    const all = (['read', 'create', 'update', 'delete'] as const).flatMap((action) => [
      ruleOf('editor', 'events', action, action === 'delete' ? [] : ['what']),
      ruleOf('editor', 'settings', action, action === 'delete' ? [] : ['id', 'name', 'loud']),
      ruleOf('editor', 'stats', action, action === 'delete' ? [] : ['id']),
      ruleOf('public', 'settings', action, [], { where: own }),
    ]);
    const collections = [
      { ...collectionOf(events), key: [] },
      { ...collectionOf(settings), singleton: true },
      collectionOf(stats),
    ];
    const roles = [{ name: 'editor', description: null, admin: false, app: false }];
    const impossible = schemaOf([events, settings, stats], collections, { roles, permissions: all });
    expect(printMatrix(impossible, 'text').split('\n').slice(2)).toEqual([
      'events',
      '  field  public  editor',
      '  what   -       r',
      '',
      'settings',
      '  field  public  editor',
      '  id     -       r c u',
      '  name   -       r c u',
      '  loud   -       r',
      '',
      'stats',
      '  field  public  editor',
      '  id     -       r',
      '',
      'Everything: admin.',
      '',
    ]);
    expect(printMatrix(impossible, 'csv').match(/^editor,(?:events|stats),(?!read)|loud/gm)).toEqual(['loud']);
  });

  test('as Markdown', () => {
    expect(printMatrix(schema, 'markdown')).toContain(
      [
        '## `articles`',
        '',
        '| `field` | `public` | `editor` |',
        '| --- | --- | --- |',
        '| `id` | `r1` | `r` |',
        '| `title` | `r1` | `r c u2` |',
      ].join('\n'),
    );
  });

  test('as CSV, a line for each right', () => {
    expect(printMatrix(schema, 'csv')).toBe(`role,collection,action,field,rows,preset
editor,articles,create,title,,
editor,articles,create,status,,"""draft"""
editor,articles,delete,,author _eq $CURRENT_USER,
editor,articles,read,id,,
editor,articles,read,title,,
editor,articles,read,status,,
editor,articles,update,title,"author _eq $CURRENT_USER; written: status _eq ""published""",
editor,articles,update,status,"author _eq $CURRENT_USER or status _eq ""published""",
public,articles,read,id,"status _eq ""published""",
public,articles,read,title,"status _eq ""published""",
`);
  });

  test('as CSV, in which no name is a formula', () => {
    const names = ['=1', '+1', '-1', '@a', '＝1', '＋1', '－1', '＠a', 'a=1'];
    const permissions = names.map((name) => ruleOf(name, 'articles', 'delete', []));
    const lines = printMatrix({ ...schema, permissions }, 'csv')
      .split('\n')
      .slice(1, -1);
    expect(lines.map((line) => line.split(',')[0])).toEqual([...names.slice(0, -1).map((name) => `'${name}`), 'a=1']);
  });

  test('as a page, in which no name is markup', () => {
    expect(printMatrix(schema, 'html')).toContain('<tr><td>title</td><td>r1</td><td>r c u2</td></tr>');
    const page = printMatrix(hostileSchema(['<script>alert(1)</script>', 'a"b', 'x&y', 'line\nbreak']), 'html');
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  test.each(matrixFormats)('prints hostile names as %s without their control characters', (format) => {
    const printed = printMatrix(hostileSchema(), format);
    expect(printed).not.toMatch(/[\u2028\u2029\u202e]/);
    expect(printed.endsWith('\n')).toBe(true);
  });
});

test('a large schema with comments takes little more than its resolving, as no text is looked through for names', () => {
  const large = largeSchema(500, 5);
  const measure = (work: (schema: Schema) => unknown): number => {
    const times = [0, 1, 2].map(() => {
      const fresh = structuredClone(large);
      const begun = process.cpuUsage();
      work(fresh);
      const { user, system } = process.cpuUsage(begun);
      return user + system;
    });
    return Math.min(...times);
  };
  expect(measure((fresh) => printMatrix(fresh, 'csv')) / measure(resolveApi)).toBeLessThan(8);
});

/** Tables whose columns have comments that name others, and roles that read most of them. */
function largeSchema(size: number, roleCount: number): Schema {
  const tables = Array.from({ length: size }, (_, number) => {
    const comment = (column: number) => `As field_${(number + 1) % size}_${column}, in other_words.`;
    const columns = Array.from({ length: 10 }, (_, column) =>
      columnOf(`field_${number}_${column}`, text, { comment: comment(column) }),
    );
    return tableOf(`table_${number}`, [columnOf('id', typeOf('int4', 'integer')), ...columns]);
  });
  const roles = Array.from({ length: roleCount }, (_, number) => `role_${number}`);
  const permissions = roles.flatMap((role, number) =>
    tables
      .filter((_, index) => index % (number + 2) > 0)
      .map(({ name, columns }) =>
        ruleOf(
          role,
          name,
          'read',
          columns.map((column) => column.name),
        ),
      ),
  );
  return schemaOf(
    tables,
    tables.map((table) => collectionOf(table)),
    {
      roles: roles.map((name) => ({ name, description: null, admin: false, app: true })),
      permissions,
    },
  );
}
