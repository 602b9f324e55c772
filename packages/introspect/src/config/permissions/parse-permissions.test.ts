import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parsePermissions } from './parse-permissions.ts';

function parse(text: string) {
  return parsePermissions(text, 'permissions.yaml');
}

/** `place: message hint` of every diagnostic. */
function problems(text: string): readonly string[] {
  return parse(text).diagnostics.map(({ place, message, hint }) => `${place} ${message} ${hint ?? ''}`.trim());
}

const documented = `
roles:
  editor: { description: Writes articles, admin: false, app: true }
permissions:
  public:                     # requests without a token
    articles:
      read: { fields: [id, title, author_id], filter: { status: { _eq: published } } }
  editor:
    articles:
      read: true              # all fields, all rows
      create: { fields: [title, body], validation: { title: { _nnull: true } }, presets: { author_id: $CURRENT_USER } }
      update:                 # several rules for one action
        - { fields: [title, body], filter: { author_id: { _eq: $CURRENT_USER } } }
        - { fields: [status], filter: { status: { _neq: archived } } }
`;

test('reads the documented form', () => {
  const { document, diagnostics } = parse(documented);
  expect(diagnostics).toEqual([]);
  expect(document.roles).toEqual([
    { name: 'editor', place: 'permissions.yaml:3:3', description: 'Writes articles', admin: false, app: true },
  ]);
  expect(
    document.rules.map(({ role, collection, action, fields, filter, validation, presets }) => ({
      rule: `${role.name} ${collection.name} ${action}`,
      fields: fields?.map(({ name }) => name),
      filter: filter?.value,
      validation: validation?.value,
      presets: presets.map(({ field, value }) => [field.name, value.value]),
    })),
  ).toEqual([
    {
      rule: 'public articles read',
      fields: ['id', 'title', 'author_id'],
      filter: { status: { _eq: 'published' } },
      presets: [],
    },
    { rule: 'editor articles read', fields: ['*'], presets: [] },
    {
      rule: 'editor articles create',
      fields: ['title', 'body'],
      validation: { title: { _nnull: true } },
      presets: [['author_id', '$CURRENT_USER']],
    },
    {
      rule: 'editor articles update',
      fields: ['title', 'body'],
      filter: { author_id: { _eq: '$CURRENT_USER' } },
      presets: [],
    },
    { rule: 'editor articles update', fields: ['status'], filter: { status: { _neq: 'archived' } }, presets: [] },
  ]);
});

test.each(['', '\n# nothing\n', 'roles:\npermissions:\n', '{}'])('%j is an empty document', (text) => {
  expect(parse(text)).toEqual({
    document: { fileName: 'permissions.yaml', roles: [], rules: [] },
    diagnostics: [],
  });
});

test.each([
  ['role: {}', ['permissions.yaml:1:1 The key "role" is unknown. Did you mean "roles"?']],
  ['- a', ['permissions.yaml:1:1 The file must be a mapping.']],
  ['roles: [a]', ['permissions.yaml:1:8 The section "roles" must be a mapping.']],
  [
    'roles:\n  admin: {}\n  public: {}\n',
    [
      'permissions.yaml:2:3 The role "admin" is built in and cannot be defined again. Use another name with `admin: true`.',
      'permissions.yaml:3:3 The role "public" is built in and cannot be defined again. Write its rules under "permissions".',
    ],
  ],
  ['roles: { a: { adnim: true } }', ['permissions.yaml:1:15 The key "adnim" is unknown. Did you mean "admin"?']],
  ['roles: { a: { admin: "yes" } }', ['permissions.yaml:1:22 The value must be true or false.']],
  [
    'roles: { editor: {} }\npermissions: { editr: {} }',
    ['permissions.yaml:2:16 The role "editr" is not defined. Did you mean "editor"?'],
  ],
  [
    'permissions: { admin: {} }',
    ['permissions.yaml:1:16 The role "admin" may do everything and takes no rules. Remove them.'],
  ],
  [
    'permissions: { public: { a: true } }',
    [
      'permissions.yaml:1:29 The collection "a" must be a mapping. Write what may be done with it, such as `{ read: true }`.',
    ],
  ],
  [
    'permissions: { public: { a: { raed: true } } }',
    ['permissions.yaml:1:31 The action "raed" is unknown. Did you mean "read"?'],
  ],
  [
    'permissions: { public: { a: { read: { field: [id] } } } }',
    ['permissions.yaml:1:39 The key "field" is unknown. Did you mean "fields"?'],
  ],
  [
    'permissions: { public: { a: { read: false } } }',
    [
      'permissions.yaml:1:37 The action "read" needs `true`, a rule, or a list of rules. To forbid an action, leave it out.',
    ],
  ],
  [
    'permissions: { public: { a: { create: { fields: "*", filter: { a: 1 } } } } }',
    [
      'permissions.yaml:1:54 A rule for "create" has no "filter". Say under "validation" what a created row must satisfy.',
    ],
  ],
  [
    'permissions:\n  public:\n    a:\n      update:\n        fields: [id]\n        filter:\n        validation:\n',
    [
      'permissions.yaml:6:16 The part "filter" is empty. Leave it out for every row.',
      'permissions.yaml:7:20 The part "validation" is empty. Leave it out for every row.',
    ],
  ],
  [
    'permissions:\n  public:\n    a:\n      create:\n        fields: [id]\n        presets:\n          # owner: $CURRENT_USER\n',
    ['permissions.yaml:6:17 The part "presets" is empty. Leave it out.'],
  ],
  [
    'permissions:\n  public:\n    a:\n      read:\n        fields: [id]\n        filter:\n          _or:\n            - owner:\n                # _eq: $CURRENT_USER\n            - { state: null }\n',
    ['permissions.yaml:8:21 A name in the part "filter" has no value. Write it, or null where that is meant.'],
  ],
  [
    'functions:\n  public:\n    place_order:\n      args:\n        # customer: $CURRENT_USER\n    count:\n      args: { n: }\n',
    [
      'permissions.yaml:4:12 The part "args" is empty. Leave it out.',
      'permissions.yaml:7:18 A name in the part "args" has no value. Write it, or null where that is meant.',
    ],
  ],
  [
    'permissions: { public: { a: { read: { fields: id } } } }',
    ['permissions.yaml:1:47 The fields must be a list. Write `fields: [id, title]` or `fields: "*"`.'],
  ],
  [
    'permissions: { public: { a: { read: { fields: [1] } } } }',
    [
      'permissions.yaml:1:48 The value must be a text. Write it in quotes when it looks like a number, a boolean or null.',
    ],
  ],
])('%j is reported at its place', (text, expected) => {
  expect(problems(text)).toEqual(expected);
});

test('keys must be texts and distinct', () => {
  expect(problems('permissions:\n  public:\n    2020: { read: true }\n')).toEqual([
    'permissions.yaml:3:5 The key "2020" is not a text. Write names that look like numbers, booleans or null in quotes.',
  ]);
  expect(problems('permissions:\n  public:\n    a: { read: true }\n    a: { read: true }\n')).toEqual([
    'permissions.yaml:4:5 Map keys must be unique. Join the two entries into one.',
  ]);
  expect(parse('permissions: { public: { "2020": { read: true } } }').document.rules[0]?.collection.name).toBe('2020');
});

test('a syntax error is reported at its line, and nothing is read', () => {
  const { document, diagnostics } = parse('permissions:\n  public: {\n');
  expect(diagnostics[0]).toMatchObject({ code: 'yaml-syntax', severity: 'error' });
  expect(diagnostics[0]?.place).toMatch(/^permissions\.yaml:\d+:\d+$/);
  expect(document.rules).toEqual([]);
});

test('rules of a second document are not passed over', () => {
  const rules = 'permissions: { public: { a: { read: true } } }\n';
  const { document, diagnostics } = parse(`${rules}---\n${rules}`);
  expect(diagnostics).toMatchObject([{ code: 'yaml-syntax', severity: 'error', place: 'permissions.yaml:2:1' }]);
  expect(document.rules).toEqual([]);
  for (const one of [`---\n${rules}`, `%YAML 1.2\n---\n${rules}...\n`, `# a\n---\n# b\n${rules}`]) {
    expect(parse(one)).toMatchObject({ diagnostics: [], document: { rules: [{}] } });
  }
});

test('aliases repeat what an anchor names', () => {
  const { document, diagnostics } = parse(
    'permissions:\n  public:\n    a: { read: { fields: &all [id, title] } }\n    b: { read: { fields: *all } }\n',
  );
  expect(diagnostics).toEqual([]);
  expect(document.rules.map(({ fields }) => fields?.map(({ name }) => name))).toEqual([
    ['id', 'title'],
    ['id', 'title'],
  ]);
});

test('aliases cannot make a file grow without bound', () => {
  const levels = Array.from({ length: 30 }, (_, level) => {
    const inner = level === 0 ? 'x' : `*l${level - 1}`;
    return `  l${level}: &l${level} [${Array(10).fill(inner).join(', ')}]`;
  });
  const { diagnostics } = parse(`permissions:\n${levels.join('\n')}\n`);
  expect(diagnostics.filter(({ code }) => code === 'yaml-size')).toHaveLength(1);
});

test('a file may say as much as it is long', () => {
  const { document, diagnostics } = parse(
    `permissions: { public: { a: { create: { fields: "*", presets: { x: [${'0,'.repeat(100_001)}] } } } } }`,
  );
  expect(diagnostics).toEqual([]);
  expect(document.rules[0]?.presets[0]?.value.value).toHaveLength(100_001);
});

test('an alias of its own ancestor, merge keys and deep nesting are refused', () => {
  expect(parse('permissions: &a { public: *a }').diagnostics[0]).toMatchObject({ code: 'yaml-depth' });
  expect(problems('permissions: { public: { <<: { a: { read: true } } } }')).toHaveLength(1);
  expect(parse('['.repeat(100_000)).diagnostics.length).toBeGreaterThan(0);
});

test('unknown tags are refused', () => {
  expect(parse('roles: !!js/function "x"').diagnostics).toMatchObject([{ code: 'yaml-syntax' }]);
});

test('values keep every digit, and dates are texts', () => {
  const values =
    '{ a: 9007199254740993, b: 12, c: 1.50, d: 0.12345678901234567890, e: 2026-01-31, f: 2026-01-31T10:00:00Z, g: 0x1f, h: .inf, i: .nan, j: ~, k: no, l: 1e3, m: +12345678901234567890, n: 007 }';
  const { document } = parse(`permissions: { public: { a: { create: { fields: "*", presets: ${values} } } } }`);
  const presets = document.rules[0]?.presets.map(({ field, value }) => [field.name, value.value]);
  expect(Object.fromEntries(presets ?? [])).toEqual({
    a: '9007199254740993',
    b: 12,
    c: 1.5,
    d: '0.12345678901234567890',
    e: '2026-01-31',
    f: '2026-01-31T10:00:00Z',
    g: 31,
    h: 'Infinity',
    i: 'NaN',
    j: null,
    k: 'no',
    l: 1000,
    m: '12345678901234567890',
    n: '007',
  });
});

test('names of members of Object are names like any other', () => {
  const text =
    'roles: { constructor: {} }\npermissions: { constructor: { __proto__: { read: { filter: { __proto__: { _eq: 1 } } } } } }';
  const { document, diagnostics } = parse(text);
  expect(diagnostics).toEqual([]);
  expect(document.rules[0]).toMatchObject({ role: { name: 'constructor' }, collection: { name: '__proto__' } });
  expect(JSON.stringify(document.rules[0]?.filter?.value)).toBe('{"__proto__":{"_eq":1}}');
  expect(problems('permissions: { public: { a: { constructor: true, toString: true } } }')).toHaveLength(2);
});

test('any text gives a document and diagnostics with places', () => {
  const fragments = fc.constantFrom(
    ...' \n:{}[],-&*!|>\'"#%@`abc01'.split(''),
    'permissions',
    'public',
    'read',
    '\n  ',
  );
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 60 }), (parts) => {
      const { document, diagnostics } = parse(parts.join(''));
      expect(Array.isArray(document.rules)).toBe(true);
      for (const { place } of diagnostics) expect(place).toMatch(/^permissions\.yaml:\d+:\d+$/);
    }),
    { numRuns: 300 },
  );
});
