import type { Schema } from '@tablewright/introspect/schema';
import { always } from '@tablewright/runtime/language';
import { describe, expect, test } from 'vitest';
import { blogSchema } from '../testing/blog.ts';
import { collectionOf, columnOf, ruleOf, schemaOf, tableOf, typeOf } from '../testing/build-schema.ts';
import { resolveApi } from './resolve-api.ts';

const integer = typeOf('int4', 'integer');
const notes = tableOf('notes', [
  columnOf('id', integer, { nullable: false }),
  columnOf('body', typeOf('text', 'text')),
]);

function withRoles(
  names: readonly string[],
  permissions: Schema['permissions'],
  more: Partial<Schema['roles'][number]> = {},
) {
  const roles = names.map((name) => ({ name, description: null, admin: false, app: false, ...more }));
  return resolveApi(schemaOf([notes], [collectionOf(notes)], { roles, permissions })).access.map(
    ({ access }) => access,
  );
}

describe('access classes', () => {
  test('admin and public always exist, admin with everything', () => {
    const rule = { fields: ['id', 'body'], where: always };
    const write = { ...rule, check: null, presets: [] };
    expect(withRoles([], [])).toEqual([
      {
        name: 'admin',
        roles: ['admin'],
        admin: true,
        collections: [
          {
            collection: 'notes',
            read: [rule],
            create: [write],
            update: [write],
            delete: [{ fields: [], where: always }],
          },
        ],
      },
      { name: 'public', roles: ['public'], admin: false, collections: [] },
    ]);
  });

  test('roles that may do the same are one class; one rule more makes another', () => {
    const read = (role: string) => ruleOf(role, 'notes', 'read', ['id']);
    const classes = withRoles(['a', 'b', 'c'], [read('a'), read('b'), read('c'), ruleOf('c', 'notes', 'delete', [])]);
    expect(classes.map(({ name, roles }) => [name, roles])).toEqual([
      ['admin', ['admin']],
      ['public', ['public']],
      ['a_b', ['a', 'b']],
      ['c', ['c']],
    ]);
  });

  test('no class of several roles has the name of another one', () => {
    const [mine, other] = [ruleOf('', 'notes', 'read', ['id']), ruleOf('', 'notes', 'read', ['body'])];
    const classes = (...groups: readonly (readonly string[])[]) =>
      withRoles(
        groups.flat(),
        groups.flatMap((roles, index) => roles.map((role) => ({ ...(index === 0 ? mine : other), role }))),
      ).slice(2);
    const named = classes(['a', 'b'], ['a_b']);
    expect(named.map(({ name, roles }) => [name.replace(/[0-9a-f]{6}$/, 'hash'), roles])).toEqual([
      ['a_b', ['a_b']],
      ['a_b_hash', ['a', 'b']],
    ]);
    for (const groups of [
      [
        ['a', 'b_c'],
        ['a_b', 'c'],
      ],
      [['a', 'b'], ['["a","b"]']],
      [['A', 'B'], ['A_B']],
    ]) {
      expect(new Set(classes(...groups).map(({ name }) => name.toLowerCase())).size).toBe(2);
    }
  });

  test('the order of rules, of which the first preset wins, keeps roles apart', () => {
    const [one, two] = [ruleOf('a', 'notes', 'create', ['id']), ruleOf('a', 'notes', 'create', ['body'])];
    const rules = [one, two, { ...two, role: 'b' }, { ...one, role: 'b' }];
    expect(withRoles(['a', 'b'], rules).map(({ name }) => name)).toEqual(['admin', 'public', 'a', 'b']);
  });

  test('a role without rules is as public; administrators are as admin', () => {
    expect(withRoles(['guest'], []).map(({ roles }) => roles)).toEqual([['admin'], ['public', 'guest']]);
    expect(withRoles(['root'], [], { admin: true }).map(({ roles }) => roles)).toEqual([['admin', 'root'], ['public']]);
  });

  test('no class has a name that leaves its folder; `full` is a name as any other', () => {
    const names = withRoles(
      ['full', '../x'],
      [ruleOf('full', 'notes', 'read', ['id']), ruleOf('../x', 'notes', 'delete', [])],
    );
    expect(names.slice(2).map(({ name }) => name.replace(/[0-9a-f]{6}$/, 'hash'))).toEqual(['_x_hash', 'full']);
  });

  test('a rule without fields grants nothing, and no rows; deleting needs none', () => {
    const rules = [ruleOf('a', 'notes', 'read', []), ruleOf('a', 'notes', 'create', [])];
    expect(withRoles(['a'], rules).map(({ roles }) => roles)).toEqual([['admin'], ['public', 'a']]);
    const [, , mixed] = withRoles(
      ['a'],
      [...rules, ruleOf('a', 'notes', 'read', ['id']), ruleOf('a', 'notes', 'delete', [])],
    );
    expect(
      mixed?.collections.map(({ read, create, delete: remove }) => [read?.length, create, remove?.length]),
    ).toEqual([[1, undefined, 1]]);
  });

  test('a class does not have what the database does not allow', () => {
    const view = { ...notes, kind: 'view' as const, writable: { insert: false, update: true, delete: false } };
    const [admin] = resolveApi(schemaOf([view], [collectionOf(view)])).access;
    expect(Object.keys(admin?.access.collections[0] ?? {})).toEqual(['collection', 'read', 'update']);
  });
});

describe('fields', () => {
  const resolve = (...columns: Parameters<typeof columnOf>[]) => {
    const table = tableOf(
      't',
      columns.map((column) => columnOf(...column)),
    );
    return resolveApi(schemaOf([table], [collectionOf(table)])).collections[0]?.fields ?? [];
  };

  test('are required when nobody else fills them', () => {
    const completed = { nullable: false, fill: { kind: 'default', expression: '0' } } as const;
    const given = { nullable: false, fill: { kind: 'identity', always: true } } as const;
    const fields = resolve(
      ['a', integer, { nullable: false }],
      ['b', integer],
      ['c', integer, completed],
      ['d', integer, given],
    );
    expect(fields.map(({ required, descriptor: { filled: by, writable } }) => [required, by, writable])).toEqual([
      [true, undefined, true],
      [false, undefined, true],
      [false, 'default', true],
      [false, 'identity', false],
    ]);
  });

  test('of a domain that is not null are not nullable', () => {
    const type = { ...integer, domains: [{ name: 'd', notNull: true, checks: [] }] };
    expect(resolve(['a', type])[0]?.descriptor.nullable).toBe(false);
  });

  test('of a view are filled as the columns they show', () => {
    const table = tableOf('t', [columnOf('id', integer, { nullable: false, fill: { kind: 'serial', sequence: 's' } })]);
    const shown = columnOf('key', integer, { nullable: false, source: { table: 'public.t', column: 'id' } });
    const view = tableOf('v', [shown], { kind: 'view', primaryKey: null });
    const [only] = resolveApi(schemaOf([table, view], [collectionOf(view)])).collections;
    expect(only?.fields[0]?.descriptor).toMatchObject({ filled: 'identity', nullable: false, writable: true });
  });

  test('of a view on a table that is not in the schema are as the view says', () => {
    const [field] = resolve(['a', integer, { source: { table: 'hidden.t', column: 'a' } }]);
    expect(field?.descriptor.filled).toBeUndefined();
  });

  test('have values of text only', () => {
    const fields = resolve(['a', { ...integer, values: ['1', '2'] }], ['b', typeOf('text', 'text', { values: ['x'] })]);
    expect(fields.map(({ values, valuesType }) => [values, valuesType])).toEqual([
      [null, null],
      [['x'], 'TBValue'],
    ]);
  });
});

test('enums of several schemas have names apart', () => {
  const enums = ['a.b_c', 'a_b.c', 'b.c', 'public.a_b_c', 'public.b_c', 'public.c'].map((source) => {
    const [schema = '', name = ''] = source.split('.');
    return { schema, name, labels: [], comment: null };
  });
  const columns = enums.map(({ schema, name }) => {
    return columnOf(`${schema}_${name}`, typeOf(name, 'enum', { category: 'enum', enum: `${schema}.${name}` }));
  });
  const table = tableOf('notes', [...notes.columns, ...columns]);
  const named = resolveApi(schemaOf([table], [collectionOf(table)], { enums })).enums ?? [];
  const nameOf = (source: string) => named.find((found) => found.source === source)?.name;
  expect(new Set(named.map(({ name }) => name)).size).toBe(enums.length);
  expect(['public.c', 'public.b_c', 'public.a_b_c'].map(nameOf)).toEqual(['C', 'BC', 'ABC']);
});

describe('operations', () => {
  const kinds = (name: string): readonly string[] | undefined =>
    resolveApi(blogSchema())
      .collections.find(({ descriptor }) => descriptor.name === name)
      ?.operations.map(({ kind }) => kind);

  test.each([
    ['articles', ['list', 'search', 'read', 'create', 'update', 'updateMany', 'delete', 'deleteMany']],
    ['totals', ['list', 'search']],
    ['settings', ['readSingleton', 'search', 'updateSingleton']],
  ])('of %s', (name, expected) => {
    expect(kinds(name)).toEqual(expected);
  });
});

describe('the fingerprint', () => {
  const objects = resolveApi(blogSchema()).fingerprint.objects;
  const object = (name: string) => objects.find((one) => one.name === name);

  test('names the collections that close when the object changes', () => {
    expect(object('articles_tags')?.collections).toEqual(['articles', 'articles_tags']);
    expect(object('authors')?.collections).toEqual(['authors']);
  });

  test('has the labels of enums, and the columns of views nullable as the catalog has them', () => {
    expect(object('articles')?.columns.find(({ name }) => name === 'status')).toEqual({
      name: 'status',
      type: 'public.article_status',
      nullable: false,
      labels: ['draft', 'published', "editor's choice"],
    });
    expect(object('totals')).toMatchObject({ kind: 'v', key: [], columns: [{ name: 'count', nullable: true }] });
  });

  test('has only the columns that are used', () => {
    const hidden = { ...collectionOf(notes), fields: collectionOf(notes).fields.slice(0, 1) };
    const [only] = resolveApi(schemaOf([notes], [hidden])).fingerprint.objects;
    expect(only?.columns.map(({ name }) => name)).toEqual(['id']);
  });
});
