import { describe, expect, test } from 'vitest';
import { facts, type TableSketch } from '../testing/facts.ts';
import {
  type Circumstances,
  collection,
  complaints,
  relation,
  relationsOf,
  resolve,
  resolveFacts,
} from '../testing/resolve.ts';

/** A part of the platform's own tables, and tables of a project around them. */
const own: Readonly<Record<string, TableSketch>> = {
  platform_users: {
    schema: 'platform',
    columns: [
      'id!=:uuid',
      'email',
      'password',
      'auth_data:jsonb',
      'provider!=',
      'security_version!=:integer',
      'role:uuid',
    ],
    key: ['id'],
    foreignKeys: ['role > platform_roles.id'],
  },
  platform_roles: { schema: 'platform', columns: ['id!=:uuid', 'name!'], key: ['id'] },
  platform_activity: {
    schema: 'platform',
    columns: ['id!=:integer', 'action!', 'user:uuid'],
    key: ['id'],
    foreignKeys: ['user > platform_users.id'],
  },
  platform_revisions: {
    schema: 'platform',
    columns: ['id!=:integer', 'activity!:integer'],
    key: ['id'],
    foreignKeys: ['activity > platform_activity.id'],
  },
  platform_comments: {
    schema: 'platform',
    columns: ['id!=:uuid', 'collection!', 'item!', 'comment!', 'user_created:uuid'],
    key: ['id'],
    foreignKeys: ['user_created > platform_users.id'],
  },
};

const project: Readonly<Record<string, TableSketch>> = {
  articles: {
    columns: ['id!', 'author:uuid'],
    key: ['id'],
    foreignKeys: ['author > platform.platform_users.id'],
  },
  users: { columns: ['id!', 'role:uuid'], key: ['id'], foreignKeys: ['role > platform.platform_roles.id'] },
  article_editors: {
    columns: ['article_id!', 'user_id!:uuid'],
    key: ['article_id', 'user_id'],
    foreignKeys: ['article_id > articles.id', 'user_id > platform.platform_users.id'],
  },
};

function resolveAll(circumstances: Circumstances = {}) {
  return resolve({ ...own, ...project }, circumstances);
}

describe('the tables of the platform', () => {
  const { schema, diagnostics } = resolveAll();

  test('are collections under their own names, without a remark', () => {
    expect(schema.collections.map(({ name }) => name)).toEqual([
      'article_editors',
      'articles',
      ...Object.keys(own).toSorted(),
      'users',
    ]);
    expect(complaints(diagnostics)).toEqual([]);
    expect(collection(schema, 'platform_users').system).toEqual({ writes: ['create', 'update', 'delete'] });
    expect(collection(schema, 'articles').system).toBeUndefined();
  });

  test('have the types of the specification, fields that the server owns, and columns that are no fields', () => {
    const fields = collection(schema, 'platform_users').fields.map(({ name, type, serverOwned }) =>
      [name, type, ...(serverOwned ? ['server'] : [])].join(' '),
    );
    expect(fields).toEqual([
      'id uuid',
      'email text',
      'password hash',
      'auth_data secret server',
      'provider text',
      'role uuid',
    ]);
    expect(collection(schema, 'platform_activity').fields.every(({ serverOwned }) => serverOwned)).toBe(true);
  });

  test('are related to each other as specified, and to those of the project as any other', () => {
    expect(relationsOf(schema, 'platform_roles')).toEqual(['o2m users', 'o2m users_by_role']);
    expect(relation(schema, 'platform_roles', 'users')).toMatchObject({ target: 'platform_users', inverse: 'role' });
    expect(relationsOf(schema, 'platform_activity')).toEqual(['o2m revisions', 'm2o user']);
    expect(relationsOf(schema, 'platform_users')).toEqual([
      'o2m article_editors',
      'o2m articles',
      'm2m articles_via_article_editors',
      'm2o role',
    ]);
    expect(relationsOf(schema, 'articles')).toEqual(['o2m article_editors', 'm2o author', 'm2m platform_users']);
  });
});

test('a table of that name elsewhere is not the platform’s', () => {
  const { schema, diagnostics } = resolve({ platform_users: { columns: ['id!'], key: ['id'] }, ...project });
  expect(schema.collections.map(({ name }) => name)).not.toContain('platform_users');
  expect(complaints(diagnostics)).toContain('warning reserved-name table public.platform_users');
});

test('another schema can be configured', () => {
  const moved = Object.fromEntries(Object.entries(own).map(([name, sketch]) => [name, { ...sketch, schema: 'shop' }]));
  const config = { database: { systemSchema: 'shop' } };
  expect(collection(resolve(moved, { config }).schema, 'platform_users').table).toBe('shop.platform_users');
});

describe('on MySQL and MariaDB', () => {
  const table: TableSketch = { columns: ['id!=:uuid', 'email_key'], key: ['id'] };
  const named = (...names: string[]) =>
    resolveFacts({ ...facts(Object.fromEntries(names.map((name) => [name, table]))), dialect: 'mariadb' });

  test('they lie in the database of the connection, and what only a server needs is no field', () => {
    const { schema } = named('platform_users', 'platform_roles', 'platform_permissions');
    const users = collection(schema, 'platform_users');
    expect([users.table, users.system !== undefined]).toEqual(['public.platform_users', true]);
    expect(users.fields.map(({ name }) => name)).toEqual(['id']);
  });

  test('texts that hold identifiers of the platform are identifiers', () => {
    const text = 'char(36)';
    const tables: Readonly<Record<string, TableSketch>> = {
      platform_users: { columns: [`id!=:${text}`, `role:${text}`, 'title'], key: ['id'] },
      platform_roles: { columns: [`id!=:${text}`], key: ['id'] },
      platform_permissions: { columns: ['id!=:integer'], key: ['id'] },
      articles: {
        columns: [`id!:${text}`, `author:${text}`],
        key: ['id'],
        foreignKeys: ['author > platform_users.id'],
      },
    };
    const { schema } = resolveFacts({ ...facts(tables), dialect: 'mysql' });
    const types = ['platform_users', 'articles'].map((name) => collection(schema, name).fields.map(({ type }) => type));
    expect(types).toEqual([
      ['uuid', 'uuid', 'text'],
      ['string', 'uuid'],
    ]);
  });

  test('a table of a project that is called so alone is none of them', () => {
    expect(complaints(named('platform_users').diagnostics)).toContain('warning reserved-name table platform_users');
  });
});

describe('the configuration', () => {
  test.each(['platform_users', 'platform.platform_users'])('cannot change them: %s', (name) => {
    const config = { collections: { [name]: { fields: { password: { type: 'csv' as const } } } } };
    const { schema, diagnostics } = resolveAll({ config });
    expect(complaints(diagnostics)).toEqual([`error system-table platform.config.ts: collections${place(name)}`]);
    expect(collection(schema, 'platform_users').fields.find((field) => field.name === 'password')?.type).toBe('hash');
  });

  test.each(['platform_roles.users', 'platform_users.role'])('cannot change how they are related: %s', (name) => {
    const { diagnostics } = resolveAll({ config: { relations: { [name]: { hidden: true } } } });
    expect(complaints(diagnostics)).toContain(`error system-table platform.config.ts: relations["${name}"]`);
  });

  test('can change how a project is related to them', () => {
    const { schema, diagnostics } = resolveAll({
      config: { relations: { 'platform_users.articles': { name: 'written' } } },
    });
    expect(relationsOf(schema, 'platform_users')).toContain('o2m written');
    expect(complaints(diagnostics)).toEqual([]);
  });
});

function place(name: string): string {
  return name.includes('.') ? `["${name}"]` : `.${name}`;
}

describe('rules', () => {
  function problems(rules: string): readonly string[] {
    const permissions = `roles: { editor: {} }\npermissions:\n  editor:\n${rules}`;
    return resolveAll({ permissions }).diagnostics.flatMap(({ code, message }) =>
      code === 'system-rule' ? [message] : [],
    );
  }

  test('grant what may be granted', () => {
    const rules = [
      '    platform_users: { read: true, create: { fields: [email, password] }, update: true, delete: {} }',
      '    platform_roles: { read: true }',
      '    platform_revisions: { read: true }',
    ];
    expect(problems(rules.join('\n'))).toEqual([]);
  });

  test.each([
    [
      'platform_revisions: { update: true }',
      'No rule can grant to update "platform_revisions": that is for administrators.',
    ],
    ['platform_roles: { update: true }', 'No rule can grant to update "platform_roles": that is for administrators.'],
    [
      'platform_activity: { delete: {} }',
      'No rule can grant to delete "platform_activity": that is for administrators.',
    ],
    [
      'platform_users: { update: { fields: [auth_data] } }',
      'No rule can grant to write "auth_data" of "platform_users": the server fills it.',
    ],
    [
      'platform_users: { create: { fields: [provider] } }',
      'No rule can grant to write "provider" of "platform_users": administrators do.',
    ],
  ])('%s', (rule, message) => expect(problems(`    ${rule}`)).toEqual([message]));

  test('mean by * what a role can write', () => {
    const permissions =
      'roles: { editor: {} }\npermissions: { editor: { platform_users: { update: true, read: true } } }';
    const [read, update] = resolveAll({ permissions }).schema.permissions;
    expect(read?.fields).toContain('provider');
    expect(update?.fields).toEqual([
      'id',
      'email',
      'password',
      'role',
      'article_editors',
      'articles',
      'articles_via_article_editors',
    ]);
  });
});

describe('app access', () => {
  const permissions = 'roles: { reader: { app: true }, visitor: {}, boss: { app: true, admin: true } }';
  const granted = resolveAll({ permissions }).schema.permissions;

  test('grants what is one’s own, to roles that have it', () => {
    expect(granted.map(({ role, collection, action }) => `${role} ${action} ${collection}`)).toEqual([
      'reader read platform_activity',
      'reader create platform_comments',
      'reader delete platform_comments',
      'reader read platform_comments',
      'reader update platform_comments',
      'reader read platform_roles',
      'reader read platform_users',
    ]);
    const user = granted.find((rule) => rule.collection === 'platform_users');
    expect(user?.where).toEqual({
      kind: 'compare',
      field: 'id',
      operator: '_eq',
      operand: { kind: 'caller', of: 'user', path: [] },
    });
    expect(user?.fields).not.toContain('provider');
  });

  test('names the roles that have it where its rules are items', () => {
    const columns = ['id!=:integer', 'role:uuid', 'collection!', 'action!'];
    const rules: TableSketch = { schema: 'platform', columns, key: ['id'], foreignKeys: ['role > platform_roles.id'] };
    const implied = (text: string) => {
      const { schema } = resolveFacts(facts({ ...own, platform_permissions: rules }), { permissions: text });
      return schema.collections.map(({ name, implied: roles }) => [name, roles]).filter(([, roles]) => roles);
    };
    expect(implied(permissions)).toEqual([['platform_permissions', ['reader']]]);
    expect(implied('roles: { reader: {}, boss: { app: true, admin: true } }')).toEqual([]);
  });

  test('adds nothing to a database without these tables', () => {
    expect(resolve(project, { permissions }).schema.permissions).toEqual([]);
  });

  test('names fields that exist', () => {
    for (const { collection: name, fields } of granted) {
      const known = collection(resolveAll().schema, name).fields.map((field) => field.name);
      if (name !== 'platform_users') expect(known).toEqual(expect.arrayContaining([...fields]));
    }
  });
});
