import { expect, test } from 'vitest';
import type { Permission } from '../../schema.ts';
import type { TableSketch } from '../../testing/facts.ts';
import { complaints, resolve } from '../../testing/resolve.ts';

const tables = {
  authors: { columns: ['id!=:integer', 'name!', 'user_id:uuid'], key: ['id'] },
  articles: {
    columns: [
      'id!=:bigint',
      'title!',
      'views:integer',
      'price:numeric',
      'at:timestamptz',
      'author_id:integer',
      'data:jsonb',
    ],
    key: ['id'],
    foreignKeys: ['author_id > authors.id'],
  },
  comments: {
    columns: ['id!=:bigint', 'article_id!:bigint', 'body'],
    key: ['id'],
    foreignKeys: ['article_id > articles.id'],
  },
} satisfies Readonly<Record<string, TableSketch>>;

const everything = ['id', 'title', 'views', 'price', 'at', 'author_id', 'data', 'comments'];

function permissions(rules: string): readonly Permission[] {
  const { schema, diagnostics } = resolve(tables, { permissions: rules });
  expect(complaints(diagnostics)).toEqual([]);
  return schema.permissions;
}

/** `place message hint` of everything but notes. */
function problems(rules: string): readonly string[] {
  const { diagnostics } = resolve(tables, { permissions: rules });
  return diagnostics
    .filter(({ severity }) => severity !== 'info')
    .map(({ severity, place, message, hint }) => `${severity} ${place} ${message} ${hint ?? ''}`.trim());
}

/** Wraps one rule for reading articles. */
function read(rule: string): string {
  return `permissions: { public: { articles: { read: ${rule} } } }`;
}

test('an absent file grants nothing and defines no role', () => {
  const { schema, diagnostics } = resolve(tables);
  expect(schema).toMatchObject({ roles: [], permissions: [] });
  expect(diagnostics).toMatchObject([
    { code: 'private', severity: 'info', message: 'Every collection is private to administrators: no rule names it.' },
  ]);
});

test('true and * are the fields and relations that exist', () => {
  expect(permissions(read('true'))).toEqual([
    {
      role: 'public',
      collection: 'articles',
      action: 'read',
      fields: everything,
      where: { kind: 'and', of: [] },
      check: null,
      presets: [],
    },
  ]);
  expect(permissions(read('{ fields: "*" }'))).toMatchObject([{ fields: everything }]);
  expect(permissions(read('{ fields: [title, "*"] }'))).toMatchObject([{ fields: everything }]);
});

test('listed fields stand in the order of the collection', () => {
  expect(permissions(read('{ fields: [comments, title, id, title] }'))).toMatchObject([
    { fields: ['id', 'title', 'comments'] },
  ]);
});

test('conditions are in normal form, also through relations and with dynamic values', () => {
  const [rule] = permissions(
    read('{ fields: [id], filter: { author_id: { user_id: { _eq: $CURRENT_USER } }, at: { _lt: "$NOW(-1 day)" } } }'),
  );
  expect(rule?.where).toEqual({
    kind: 'and',
    of: [
      {
        kind: 'related',
        relation: 'author_id',
        quantifier: 'one',
        where: {
          kind: 'compare',
          field: 'user_id',
          operator: '_eq',
          operand: { kind: 'caller', of: 'user', path: [] },
        },
      },
      { kind: 'compare', field: 'at', operator: '_lt', operand: { kind: 'now', offset: 'P-1D' } },
    ],
  });
});

test('several rules of one action stay separate, in the order of the file', () => {
  const rules = permissions(`
permissions:
  public:
    comments: { read: true }
    articles:
      update:
        - { fields: [title], filter: { views: 0 } }
        - { fields: [views], validation: { views: { _gte: 1 } } }
        - { fields: [price], validation: {} }
      delete: { filter: { views: 0 } }
`);
  expect(rules.map(({ collection, action, fields }) => [collection, action, fields])).toEqual([
    ['articles', 'delete', []],
    ['articles', 'update', ['title']],
    ['articles', 'update', ['views']],
    ['articles', 'update', ['price']],
    ['comments', 'read', ['id', 'article_id', 'body']],
  ]);
  expect(rules.map(({ check }) => check)).toEqual([
    null,
    null,
    { kind: 'compare', field: 'views', operator: '_gte', operand: { kind: 'literal', value: 1 } },
    { kind: 'and', of: [] },
    null,
  ]);
});

test('validation may use regular expressions', () => {
  const rule = '{ fields: [title], validation: { title: { _regex: "^[A-Z]" } } }';
  expect(permissions(`permissions: { public: { articles: { create: ${rule} } } }`)).toHaveLength(1);
});

test('presets are operands; big numbers keep their digits', () => {
  const presets = '{ price: 123456789012345678901.5, author_id: 3, at: $NOW, data: { a: [1] }, views: null }';
  const [rule] = permissions(
    `permissions: { public: { articles: { create: { fields: [title], presets: ${presets} } } } }`,
  );
  expect(rule?.presets).toEqual([
    { field: 'price', value: { kind: 'literal', value: '123456789012345678901.5' } },
    { field: 'author_id', value: { kind: 'literal', value: 3 } },
    { field: 'at', value: { kind: 'now', offset: 'P0D' } },
    { field: 'data', value: { kind: 'literal', value: { a: [1] } } },
    { field: 'views', value: { kind: 'literal', value: null } },
  ]);
});

test.each([
  [
    'permissions: { public: { article: { read: true } } }',
    ['error permissions.yaml:1:26 The collection "article" does not exist. Did you mean "articles"?'],
  ],
  [
    read('{ fields: [titel] }'),
    ['error permissions.yaml:1:55 The collection "articles" has no field "titel". Did you mean "title"?'],
  ],
  [
    read('{ fields: [id], filter: { titel: 1 } }'),
    ['error permissions.yaml:1:70 "titel" in the filter does not exist. Did you mean "title"?'],
  ],
  [
    read('{ fields: [id], filter: { author_id: { nmae: { _eq: a } } } }'),
    ['error permissions.yaml:1:83 "nmae" in the filter does not exist. Did you mean "name"?'],
  ],
  [
    read('{ fields: [id], filter: { _and: [{ title: { _eqq: 1 } }] } }'),
    ['error permissions.yaml:1:88 "_eqq" in the filter is not an operator. Did you mean "_eq"?'],
  ],
  [
    read('{ fields: [id], filter: { title: { _regex: a } } }'),
    ['error permissions.yaml:1:79 "_regex" in the filter is only available in validation rules.'],
  ],
  [read('{ fields: [id], filter: [] }'), ['error permissions.yaml:1:68 The filter must be an object.']],
  [
    read('{ fields: [id], filter: { views: { _eq: many } } }'),
    ['error permissions.yaml:1:79 "_eq" in the filter has "many", which must be an integer.'],
  ],
  [
    'permissions: { public: { comments: { update: { fields: [body], presets: { bdy: 1 } } } } }',
    [
      'error permissions.yaml:1:75 The collection "comments" has no field "bdy" that a preset can set. Did you mean "body"?',
    ],
  ],
  [
    'permissions: { public: { comments: { update: { fields: [body], presets: { article_id: x, id: null } } } } }',
    [
      'error permissions.yaml:1:87 The preset "article_id" must be an integer.',
      'error permissions.yaml:1:94 The preset "id" must not be null.',
    ],
  ],
  [
    'permissions: { public: { articles: { update: { fields: [title], presets: { at: $NOW(x) } } } } }',
    ['error permissions.yaml:1:80 The preset "at" must be $NOW or $NOW(<sign><number> <unit>).'],
  ],
])('%j is reported at its place', (rules, expected) => {
  expect(problems(rules)).toEqual(expected);
});

test('a rule whose condition is wrong matches nothing', () => {
  const { schema } = resolve(tables, { permissions: read('{ fields: [id], filter: { titel: 1 } }') });
  expect(schema.permissions).toMatchObject([{ where: { kind: 'or', of: [] } }]);
});

test('secret fields cannot be used in conditions, and are told so', () => {
  const config = { collections: { authors: { fields: { name: { type: 'hash' as const } } } } };
  const rules = 'permissions: { public: { authors: { read: { fields: [name], filter: { name: x } } } } }';
  const { schema, diagnostics } = resolve(tables, { config, permissions: rules });
  expect(schema.permissions).toMatchObject([{ fields: ['name'], where: { kind: 'or', of: [] } }]);
  expect(diagnostics.find(({ severity }) => severity === 'error')?.hint).toBe(
    'Fields of type "hash" cannot be used in conditions.',
  );
});

test('roles are sorted by name', () => {
  const { schema } = resolve(tables, {
    permissions: 'roles: { b: { admin: true }, a: { description: A., app: true } }',
  });
  expect(schema.roles).toEqual([
    { name: 'a', description: 'A.', admin: false, app: true },
    { name: 'b', description: null, admin: true, app: false },
  ]);
});

test('a near miss of a dynamic value is an error, other text with a dollar sign is text', () => {
  expect(problems(read('{ fields: [id], filter: { title: { _neq: $CURENT_USER } } }'))).toEqual([
    'error permissions.yaml:1:79 "$CURENT_USER" is no dynamic value. Did you mean "$CURRENT_USER"?',
  ]);
  expect(problems(read('{ fields: [id], filter: { title: { _in: [$now, $USD, $100] } } }'))).toEqual([
    'error permissions.yaml:1:85 "$now" is no dynamic value. Did you mean "$NOW"?',
  ]);
  expect(problems(read('{ fields: [id], filter: { title: { _nin: ["$CURRENT_USER ", $NOW - 1 day] } } }'))).toEqual([
    'error permissions.yaml:1:86 "$CURRENT_USER " is no dynamic value. Did you mean "$CURRENT_USER"?',
    'error permissions.yaml:1:104 "$NOW - 1 day" is no dynamic value. Did you mean "$NOW(-1 day)"?',
  ]);
});

test('an object without conditions in a list or below a field is an error, below a relation it looks for items', () => {
  const empty = (place: string, name: string) =>
    `error permissions.yaml:1:${place} "${name}" in the filter has no condition. Every row meets it: complete it, or leave it out.`;
  for (const [filter, ...expected] of [
    ['{ title: {} }', empty('70', 'title')],
    ['{ _or: [{ title: a }, {}] }', empty('90', '1')],
    ['{ _and: [{}] }', empty('77', '0')],
    ['{ author_id: { name: {} } }', empty('83', 'name')],
    ['{ comments: { _or: [{}] } }', empty('88', '0')],
    ['{ data: { /a: {} } }', empty('78', '/a')],
    ['{ year(at): {} }', empty('70', 'year(at)')],
    ...['{}', '{ comments: {} }', '{ author_id: {} }', '{ comments: { _none: {} } }'].map((text) => [text]),
  ])
    expect([filter, problems(read(`{ fields: [id], filter: ${filter} }`))]).toEqual([filter, expected]);
});

test('a value of callers in the words of another server is a text, with a warning', () => {
  const texts = ['$USER_ID', '$CURRENT_POLICIES', '$USER.id', '{{user}}'];
  for (const text of texts)
    expect(problems(read(`{ fields: [id], filter: { title: { _neq: '${text}' } } }`))).toEqual([
      `warning permissions.yaml:1:79 "${text}" is no dynamic value, so it is a text like any other. Dynamic values are $NOW, $CURRENT_USER, $CURRENT_ROLE and paths from the last two; a text that is meant can stay.`,
    ]);
  const presets =
    'permissions: { public: { articles: { update: { fields: [title], presets: { title: $USER_ID } } } } }';
  expect(problems(presets)).toEqual([expect.stringMatching(/^warning permissions\.yaml:1:83 "\$USER_ID" is no/)]);
  expect(problems(read(`{ fields: [id], filter: { title: { _nin: [$USD, $100, '$A $LIST', '{{1}}'] } } }`))).toEqual(
    [],
  );
});
