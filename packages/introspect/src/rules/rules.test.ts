import { describe, expect, test } from 'vitest';
import { readConfig } from '../config/read-config.ts';
import type { ColumnFill } from '../schema.ts';
import { facts, type TableSketch } from '../testing/facts.ts';
import type { Circumstances } from '../testing/resolve.ts';
import { complaints, notes, resolve, resolveFacts } from '../testing/resolve.ts';
import { quotedList } from './rule.ts';

const articles: TableSketch = { columns: ['id!=:integer', 'title!', 'body'], key: ['id'] };

function problemsOf(tables: Readonly<Record<string, TableSketch>>, circumstances?: Circumstances): readonly string[] {
  return complaints(resolve(tables, circumstances).diagnostics);
}

test('a clean database has nothing to complain about', () => {
  expect(problemsOf({ articles })).toEqual([]);
});

test('a server without distances serves no vectors', () => {
  const tables = { papers: { columns: ['id!', 'embedding:vector'], key: ['id'] } };
  const of = (dialect: 'mysql' | 'mariadb', config = {}): readonly string[] =>
    complaints(resolveFacts({ ...facts(tables), dialect }, { config }).diagnostics);
  expect(of('mysql')).toEqual(['error vector-unsupported column papers.embedding']);
  expect(of('mysql', { collections: { papers: { fields: { embedding: { hidden: true } } } } })).toEqual([]);
  expect(of('mariadb')).toEqual([]);
});

test('fields of one name collide', () => {
  const config = { collections: { articles: { fields: { body: { name: 'title' } } } } };
  expect(problemsOf({ articles }, { config })).toEqual(['error name-collision column public.articles.body']);
});

test('tables of MySQL and MariaDB are named without a schema that they have not', () => {
  const tables = {
    articles: { ...articles, columns: [...articles.columns, 'writer'], foreignKeys: ['writer > hidden.id'] },
    hidden: { columns: ['id!'], key: ['id'] },
    platform_mine: { columns: ['id!'], key: ['id'] },
    far: { schema: 'other', columns: ['a', 'A'] },
  };
  const fields = { title: { name: 'body' } };
  const config = {
    database: { schemas: ['public', 'other'] },
    collections: {
      articles: { fields, key: ['body'] },
      hidden: { hidden: true },
      far: { fields: { A: { name: 'a' } } },
    },
  };
  const { diagnostics } = resolveFacts({ ...facts(tables), dialect: 'mariadb' }, { config });
  expect(diagnostics.map(({ place }) => place)).toEqual(
    expect.arrayContaining(['table articles', 'column articles.body', 'column other.far.A', 'table platform_mine']),
  );
  const texts = diagnostics.map((one) => JSON.stringify(one)).join('\n');
  expect(texts).toContain('because \\"hidden\\" is left out');
  expect(texts).not.toContain('public.');
});

test('names with a meaning in queries can only be read by wildcards', () => {
  const odd: TableSketch = {
    columns: ['id!', '_eq', '_and', 'a.b', '-c', '*', 'ok-1', '__proto__', 'a b', 'valueOf', 'toString'],
    key: ['id'],
  };
  const { diagnostics, schema } = resolve({ odd });
  const names = diagnostics.filter(({ code }) => code === 'unaddressable-name');
  expect(names.map(({ message }) => message.split(' ')[0])).toEqual(['"_eq"', '"_and"', '"a.b"', '"-c"', '"*"']);
  expect(schema.collections[0]?.fields.map(({ name }) => name)).not.toContain('__proto__');
  const reserved = diagnostics.filter(({ code }) => code === 'reserved-name');
  expect(complaints(reserved)).toEqual(['warning reserved-name column public.odd.__proto__']);
  const inherited = diagnostics.filter(({ code }) => code === 'inherited-name');
  expect(inherited.map(({ message }) => /"\w+"/.exec(message)?.[0])).toEqual(['"valueOf"']);
});

test('a column is read as another type only where that is possible', () => {
  const fields = { id: { type: 'csv' }, title: { type: 'hash' }, body: { type: 'json' } } as const;
  expect(problemsOf({ articles }, { config: { collections: { articles: { fields } } } })).toEqual([
    'error field-type platform.config.ts: collections.articles.fields.id.type',
  ]);
});

test('settings that do not apply to their column are refused', () => {
  const sketch: TableSketch = { columns: ['id!=:integer', 'sum:integer', 'title', 'number:integer'], key: ['id'] };
  const plain = facts({ sums: sketch });
  const fills = new Map<string, ColumnFill>([
    ['sum', { kind: 'generated', expression: '1', stored: true }],
    ['number', { kind: 'identity', always: true }],
  ]);
  const tables = plain.tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({ ...column, fill: fills.get(column.name) ?? column.fill })),
  }));
  const fields = {
    ...{ sum: { required: true }, number: { required: true } },
    title: { required: true, geo: { srid: 'keep' } },
  } as const;
  const { schema, diagnostics } = resolveFacts({ ...plain, tables }, { config: { collections: { sums: { fields } } } });
  expect(complaints(diagnostics)).toEqual([
    'error config-field platform.config.ts: collections.sums.fields.sum.required',
    'error config-field platform.config.ts: collections.sums.fields.number.required',
    'error config-field platform.config.ts: collections.sums.fields.title.geo',
  ]);
  const required = schema.collections[0]?.fields.flatMap((field) => (field.required ? [field.name] : []));
  expect(required).toEqual(['title']);
});

test('a name of several schemas must say which', () => {
  const tables = { a: { ...articles, schema: 'x' } };
  const other = { ...articles, schema: 'y' };
  const { diagnostics } = resolve({ ...tables, b: other }, { config: { collections: { a: {}, 'x.a': {} } } });
  expect(complaints(diagnostics)).toEqual(['error repeated-name platform.config.ts: collections']);
});

test('keys of the configuration name fields once', () => {
  const view: TableSketch = { kind: 'view', columns: ['id'], readOnly: true };
  const config = { collections: { a: { key: [] }, b: { key: ['id', 'id'] }, c: { key: ['di'] } } };
  expect(problemsOf({ a: view, b: view, c: view }, { config })).toEqual([
    'error unknown-name platform.config.ts: collections.c.key[0]',
    'error empty-key platform.config.ts: collections.a.key',
    'error repeated-name platform.config.ts: collections.b.key',
  ]);
});

test('a singleton without a key can only be read', () => {
  const config = { collections: { settings: { singleton: true }, articles: { singleton: true } } };
  expect(problemsOf({ settings: { columns: ['a'] }, articles }, { config })).toEqual([
    'warning singleton-without-key platform.config.ts: collections.settings.singleton',
  ]);
});

test('rules that have no effect are named', () => {
  const permissions = `
roles: { boss: { admin: true } }
permissions:
  boss:
    articles: { read: true }
  public:
    articles:
      read: { filter: { id: 1 } }
      delete: { filter: { id: 1 } }
    stats:
      create: true
      delete: true
`;
  const stats: TableSketch = { kind: 'materializedView', columns: ['n'], readOnly: true };
  expect(problemsOf({ articles, stats }, { permissions })).toEqual([
    'warning administrator-rules permissions.yaml:4:3',
    'warning empty-rule permissions.yaml:8:13',
    'warning impossible-rule permissions.yaml:11:15',
    'warning impossible-rule permissions.yaml:12:15',
  ]);
});

test('what nobody can do without a key, or with a singleton, is named', () => {
  const permissions = `
permissions:
  public:
    events: { read: true, create: true }
    articles: { read: true, update: true, delete: true }
`;
  const config = { collections: { articles: { singleton: true } } };
  const events: TableSketch = { columns: ['what'] };
  expect(problemsOf({ articles, events }, { config, permissions })).toEqual([
    'warning impossible-rule permissions.yaml:4:35',
    'warning impossible-rule permissions.yaml:5:51',
  ]);
});

test('a create that can never succeed is named, one that presets complete is not', () => {
  const create = (rule: string) => ({ permissions: `permissions: { public: { articles: { create: ${rule} } } }` });
  expect(problemsOf({ articles }, create('{ fields: [body] }'))).toEqual([
    'warning incomplete-create permissions.yaml:1:46',
  ]);
  expect(problemsOf({ articles }, create('{ fields: [body], presets: { title: x } }'))).toEqual([]);
  expect(problemsOf({ articles }, create('[{ fields: [body] }, { fields: [title] }]'))).toEqual([]);
});

test('a create without a field that no request can write is named', () => {
  const rooms: TableSketch = { columns: ['id!=:integer', 'title!', 'stay!:daterange'], key: ['id'] };
  const permissions = 'permissions: { public: { rooms: { create: true } } }';
  const [problem] = resolve({ rooms }, { permissions }).diagnostics.filter(({ code }) => code === 'incomplete-create');
  expect(problem?.message).toBe('"public" can never create "rooms": "stay" must be given but may not.');
  expect(problem?.hint).toMatch('the type of "stay"');
  const filled: TableSketch = { ...rooms, columns: ['id!=:integer', 'title!', 'stay!=:daterange'] };
  expect(problemsOf({ rooms: filled }, { permissions })).toEqual([]);
});

test('a name below a column of a composite foreign key gets the name of the relation', () => {
  const units: TableSketch = { columns: ['listing!', 'unit!', 'label'], key: ['listing', 'unit'] };
  const stays: TableSketch = {
    columns: ['id!', 'listing', 'unit', 'note'],
    key: ['id'],
    foreignKeys: ['listing,unit > public.units.listing,unit'],
  };
  const hintOf = (filter: string) => {
    const permissions = `permissions: { public: { stays: { read: { fields: [id], filter: ${filter} } } } }`;
    return resolve({ units, stays }, { permissions }).diagnostics.find(({ code }) => code === 'unknown-field')?.hint;
  };
  expect(hintOf('{ _and: [{ listing: { label: x } }] }')).toBe('"listing" is a field: the relation is "units".');
  expect(hintOf('{ note: { label: x } }')).toBe('"note" is a field.');
  expect(hintOf('{ note: { eq: x } }')).toBe('Did you mean "_eq"?');
  expect(hintOf('{ units: { lable: x } }')).toBe('Did you mean "label"?');
});

test('a path in the fields of a rule is told where its end is granted', () => {
  const authors: TableSketch = { columns: ['id!', 'name!'], key: ['id'] };
  const books: TableSketch = { columns: ['id!', 'author!'], key: ['id'], foreignKeys: ['author > public.authors.id'] };
  const permissions = 'permissions: { public: { books: { read: { fields: [author.name] } } } }';
  const { diagnostics } = resolve({ authors, books }, { permissions });
  expect(diagnostics.find(({ code }) => code === 'unknown-field')?.hint).toBe(
    'Write "author" here: rules of "authors" grant the fields of its items.',
  );
});

test('a file needs no name in a rule: uploads have one', () => {
  const files: TableSketch = {
    schema: 'platform',
    columns: ['id!=:uuid', 'filename_download!', 'title', 'storage!', 'type', 'tags'],
    key: ['id'],
  };
  const permissions = 'permissions: { public: { platform_files: { create: { fields: [title] } } } }';
  const { diagnostics } = resolve({ platform_files: files }, { permissions });
  expect(complaints(diagnostics)).toEqual([]);
});

test('collections without a rule are private', () => {
  const permissions = 'permissions: { public: { articles: { read: true } } }';
  const { diagnostics } = resolve({ articles, a: articles, b: articles }, { permissions });
  expect(notes(diagnostics, 'private')).toEqual(['"a" and "b" are private to administrators: no rule names them.']);
});

test('lists read as sentences', () => {
  expect(quotedList([])).toBe('');
  expect(quotedList(['a'])).toBe('"a"');
  expect(quotedList(['a', 'b', 'c'])).toBe('"a", "b" and "c"');
});

test('a collection that does not exist is told once, whatever actions its block has', () => {
  const permissions = `
permissions:
  public: { gone: { read: true, create: true, update: true } }
  writer: { gone: { read: true, create: true, update: true } }
roles: { writer: {} }
`;
  expect(problemsOf({ articles }, { permissions })).toEqual([
    'error unknown-collection permissions.yaml:3:13',
    'error unknown-collection permissions.yaml:4:13',
  ]);
});

describe('callers that are passed on to policies', () => {
  const users = { schema: 'platform', columns: ['id!=:uuid', 'tenant_id:integer'], key: ['id'] };
  const roles = 'roles: { editor: {}, boss: { admin: true } }\npermissions: { editor: { articles: { read: true } } }';
  const passed = (rowSecurity: object, permissions = roles) => {
    const { config } = readConfig({ database: { rowSecurity } });
    return resolve({ articles, platform_users: users }, { config, permissions });
  };
  const claims = 'request.jwt.claims';

  test('are in the schema as they are compiled', () => {
    const extraClaims = { tenant: '$CURRENT_USER.tenant_id', me: '$CURRENT_USER', app: 'shop' };
    const { schema, diagnostics } = passed({ claims, roles: { public: 'anon', editor: 'web_editor' }, extraClaims });
    expect(complaints(diagnostics)).toEqual([]);
    expect(schema.rowSecurity).toEqual({
      claims,
      roles: { editor: 'web_editor', public: 'anon' },
      extraClaims: {
        app: { kind: 'literal', value: 'shop' },
        me: { kind: 'caller', of: 'user', path: [] },
        tenant: { kind: 'caller', of: 'user', path: ['tenant_id'] },
      },
    });
  });

  test('need roles that exist, and one for the public', () => {
    const place = 'platform.config.ts: database.rowSecurity.roles';
    expect(complaints(passed({ claims, roles: { editr: 'a' } }).diagnostics)).toEqual([
      `error unknown-name ${place}.editr`,
      `error row-security-role ${place}`,
    ]);
    expect(complaints(passed({ claims, roles: { public: 'a', admin: 'b' } }).diagnostics)).toEqual([
      `warning row-security-role ${place}`,
    ]);
  });

  test('need a setting of their own, and claims that callers have', () => {
    const place = 'platform.config.ts: database.rowSecurity';
    const extraClaims = { sub: 'x', a: '$CURRENT_USER.nothing', b: '$NOW', c: '$CURRENT_USER.' };
    expect(complaints(passed({ claims: 'role', extraClaims }).diagnostics)).toEqual([
      `error row-security-claims ${place}.claims`,
      ...['sub', 'a', 'b', 'c'].map((name) => `error row-security-claims ${place}.extraClaims.${name}`),
    ]);
  });

  test('have claims within others, and none within a value', () => {
    const place = 'platform.config.ts: database.rowSecurity.extraClaims';
    const nested = { '/app/team': '$CURRENT_USER.tenant_id', '/app/plan': 'free', teams: 1 };
    expect(complaints(passed({ claims, extraClaims: nested }).diagnostics)).toEqual([]);
    const extraClaims = { '/role/a': 1, '/app//team': 1, '/teams/first': 1, teams: 1 };
    expect(complaints(passed({ claims, extraClaims }).diagnostics)).toEqual(
      ['/role/a', '/app//team', '/teams/first'].map((name) => `error row-security-claims ${place}["${name}"]`),
    );
  });

  test('are refused where the server has no policies', () => {
    const config = { database: { rowSecurity: { claims } } };
    for (const dialect of ['mysql', 'mariadb'] as const) {
      const { diagnostics } = resolveFacts({ ...facts({ articles }), dialect }, { config });
      expect(complaints(diagnostics)).toContainEqual(
        'error row-security-unsupported platform.config.ts: database.rowSecurity',
      );
    }
  });
});

describe('search for words', () => {
  const searched = (search: object, permissions = '') => {
    const { config, diagnostics } = readConfig({ collections: { articles: { search } } });
    const resolved = resolve({ articles }, { config, permissions });
    return { ...resolved, diagnostics: [...diagnostics, ...resolved.diagnostics] };
  };

  test('needs fields that exist, or a column of words', () => {
    const place = 'platform.config.ts: collections["public.articles"].search';
    for (const search of [
      { mode: 'text' },
      { mode: 'text', fields: [] },
      { mode: 'text', fields: ['nothing'] },
      { mode: 'text', column: 'title' },
      { mode: 'text', fields: ['title'], language: "x'; DROP" },
    ]) {
      expect(complaints(searched(search).diagnostics), JSON.stringify(search)).toEqual([`error search-index ${place}`]);
    }
    expect(complaints(searched({ mode: 'vector' }).diagnostics)).toEqual([
      'error config-value platform.config.ts: collections.articles.search.mode',
    ]);
  });

  test('takes no fields beside a column whose expression names them', () => {
    const generated = (search: object): readonly string[] => {
      const { config } = readConfig({ collections: { articles: { search } } });
      const plain = facts({ articles: { columns: ['id!:integer', 'title', 'body', 'words'], key: ['id'] } });
      const tables = plain.tables.map((table) => ({
        ...table,
        columns: table.columns.map((column): typeof column =>
          column.name !== 'words'
            ? column
            : {
                ...column,
                type: { ...column.type, base: 'tsvector' },
                fill: { kind: 'generated', expression: "to_tsvector('simple', title)", stored: true },
              },
        ),
      }));
      const { diagnostics } = resolveFacts({ ...plain, tables }, { config });
      return complaints(diagnostics.filter(({ code }) => code === 'search-index'));
    };
    expect(generated({ mode: 'text', column: 'words' })).toEqual([]);
    expect(generated({ mode: 'text', column: 'words', fields: ['body'] })).toEqual([
      'error search-index platform.config.ts: collections["public.articles"].search',
    ]);
  });

  test('has the document of its fields, and tells of roles that search without it', () => {
    const { schema, diagnostics } = searched(
      { mode: 'text', fields: ['title', 'body'], language: 'english' },
      `
roles: { all: {}, some: {} }
permissions:
  all: { articles: { read: true } }
  some: { articles: { read: [{ fields: [id, title] }, { fields: ["*"], filter: { id: { _eq: 1 } } }] } }`,
    );
    expect(schema.collections[0]?.search).toEqual({
      fields: ['title', 'body'],
      language: 'english',
      document: `pg_catalog.to_tsvector('english'::pg_catalog.regconfig, COALESCE({"title"}::pg_catalog.text, '') || ' ' || COALESCE({"body"}::pg_catalog.text, ''))`,
    });
    expect(notes(diagnostics, 'search-falls-back')).toEqual([
      '"some" cannot read all of "title" and "body" on every row: their search looks for texts that contain it, without the index.',
    ]);
  });
});
