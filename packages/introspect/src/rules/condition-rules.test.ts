/** Diagnostics of rules: each with wrong ones, which are named, and right neighbours, which are not. */
import { describe, expect, test } from 'vitest';
import type { SchemaFacts } from '../facts.ts';
import { facts, type TableSketch } from '../testing/facts.ts';
import { complaints, notes, resolve, resolveFacts } from '../testing/resolve.ts';

const tables: Readonly<Record<string, TableSketch>> = {
  authors: { columns: ['id!=:integer', 'name!', 'user_id:uuid', 'secret_rank:integer'], key: ['id'] },
  articles: {
    columns: [
      'id!=:bigint',
      'title!',
      'code',
      'views:integer',
      'price:numeric',
      'at:timestamptz',
      'open:boolean',
      'data:jsonb',
      'author_id:integer',
    ],
    key: ['id'],
    foreignKeys: ['author_id > authors.id'],
  },
  comments: {
    columns: ['id!=:bigint', 'article_id!:bigint', 'body'],
    key: ['id'],
    foreignKeys: ['article_id > articles.id'],
  },
};

/** The sketches, with a status of three labels, a code of three characters and a size that is listed. */
function sketched(): SchemaFacts {
  const sketch = facts(tables);
  const more = sketch.tables.map((table) => {
    if (table.name !== 'articles') return table;
    const [text] = table.columns.filter(({ name }) => name === 'code');
    if (text === undefined) throw new Error('the sketch lost a column');
    const columns = table.columns.map((column) =>
      column.name === 'code'
        ? { ...column, type: { ...column.type, portable: 'string' as const, base: 'varchar', maxLength: 3 } }
        : column,
    );
    const labels = ['draft', 'published', 'archived'];
    const status = {
      ...text,
      name: 'status',
      type: {
        ...text.type,
        portable: 'enum' as const,
        base: 'public.status',
        category: 'enum' as const,
        enum: 'public.status',
        values: labels,
      },
    };
    const size = { ...text, name: 'size', type: { ...text.type, values: ['s', 'm'] } };
    const small = { ...text, name: 'small', type: { ...text.type, portable: 'integer' as const, base: 'int2' } };
    const cents = {
      ...text,
      name: 'cents',
      type: { ...text.type, portable: 'decimal' as const, base: 'numeric', precision: 5, scale: 2 },
    };
    const made = {
      ...text,
      name: 'made',
      fill: { kind: 'generated' as const, expression: '1', stored: true },
      updatable: false,
    };
    return { ...table, columns: [...columns, status, size, small, cents, made] };
  });
  return { ...sketch, tables: more };
}

function problems(permissions: string): readonly string[] {
  return resolveFacts(sketched(), { permissions })
    .diagnostics.filter(({ code }) => code !== 'private')
    .map(
      ({ severity, code, place, message }) =>
        `${severity} ${code} ${place.replace('permissions.yaml:', '')} ${message}`,
    );
}

/** What is said about a filter for reading articles. The role reads everything, so no path is hidden from it. */
function filtered(filter: string): readonly string[] {
  const others = 'authors: { read: true }, comments: { read: true }';
  return problems(`permissions: { public: { articles: { read: { fields: "*", filter: ${filter} } }, ${others} } }`);
}

describe('a condition that no row can meet', () => {
  test.each([
    ['{ _or: [] }', 'an empty _or matches nothing'],
    ['{ views: 1, _or: [] }', 'an empty _or matches nothing'],
    ['{ views: { _in: [] } }', '"views" never meets _in []'],
    ['{ views: { _between: [5, 3] } }', '"views" never meets _between [5,3]'],
    ['{ views: { _gt: 5, _lt: 3 } }', '"views" cannot meet _gt 5 and _lt 3 together'],
    ['{ views: { _gt: 5, _lt: 6 } }', '"views" cannot meet _gt 5 and _lt 6 together'],
    ['{ price: { _gt: 5, _lt: 5 } }', '"price" cannot meet _gt 5 and _lt 5 together'],
    ['{ views: { _gte: 5, _lte: 5, _neq: 5 } }', '"views" cannot meet _gte 5, _lte 5 and _neq 5 together'],
    ['{ views: { _gt: 2147483647 } }', '"views" never meets _gt 2147483647'],
    ['{ small: { _eq: 40000 } }', '"small" never meets _eq 40000'],
    ['{ _and: [{ title: a }, { title: b }] }', '"title" cannot meet _eq "a" and _eq "b" together'],
    [
      '{ title: { _in: [a, b], _nin: [a, b, c] } }',
      '"title" cannot meet _in ["a","b"] and _nin ["a","b","c"] together',
    ],
    ['{ title: { _eq: abc, _starts_with: b } }', '"title" cannot meet _eq "abc" and _starts_with "b" together'],
    [
      '{ title: { _starts_with: ab, _contains: x }, _and: [{ title: { _starts_with: b } }] }',
      '"title" cannot meet _starts_with "ab", _contains "x" and _starts_with "b" together',
    ],
    ['{ title: { _contains: a, _ncontains: a } }', '"title" cannot meet _contains "a" and _ncontains "a" together'],
    ['{ title: { _null: true } }', '"title" never meets _null'],
    ['{ code: { _null: true, _eq: a } }', '"code" cannot meet _null and _eq "a" together'],
    ['{ code: { _empty: true, _contains: a } }', '"code" cannot meet _empty and _contains "a" together'],
    ['{ code: { _eq: abcd } }', '"code" never meets _eq "abcd"'],
    ['{ code: { _contains: abcd } }', '"code" never meets _contains "abcd"'],
    ['{ size: { _eq: l } }', '"size" never meets _eq "l"'],
    [
      '{ status: { _nin: [draft, published, archived] } }',
      '"status" never meets _nin ["draft","published","archived"]',
    ],
    [
      '{ open: { _neq: true }, _and: [{ open: { _neq: false } }] }',
      '"open" cannot meet _neq true and _neq false together',
    ],
    ['{ open: { _neq: true, _eq: true } }', '"open" cannot meet _neq true and _eq true together'],
    [
      '{ at: { _gt: "2024-01-02", _lt: "2024-01-01" } }',
      '"at" cannot meet _gt "2024-01-02" and _lt "2024-01-01" together',
    ],
    ['{ at: { _gt: $NOW, _lt: $NOW } }', '"at" cannot meet _gt $NOW and _lt $NOW together'],
    [
      '{ code: { _eq: $CURRENT_USER, _neq: $CURRENT_USER } }',
      '"code" cannot meet _eq $CURRENT_USER and _neq $CURRENT_USER together',
    ],
    [
      '{ views: { _eq: $CURRENT_USER } }',
      '"views" never meets _eq $CURRENT_USER, because keys of users and roles are uuids',
    ],
    ['{ "month(at)": { _gt: 12 } }', '"month(at)" never meets _gt 12'],
    ['{ "count(comments)": { _lt: 0 } }', '"count(comments)" never meets _lt 0'],
    ['{ author_id: { _null: true, name: { _eq: a } } }', '"author_id" cannot meet _null and _nnull together'],
    ['{ author_id: { name: { _null: true } } }', 'behind "author_id", "name" never meets _null'],
    [
      '{ _and: [{ author_id: { name: a } }, { author_id: { name: b } }] }',
      'behind "author_id", "name" cannot meet _eq "a" and _eq "b" together',
    ],
    ['{ comments: { _some: { body: { _in: [] } } } }', 'behind "comments", "body" never meets _in []'],
    ['{ comments: { _some: { id: { _null: true } } } }', 'behind "comments", "id" never meets _null'],
    ['{ author_id: { id: { _null: true }, name: { _eq: a } } }', 'behind "author_id", "id" never meets _null'],
    [
      '{ _and: [{ author_id: { id: { _null: true } } }, { author_id: { name: a } }] }',
      'behind "author_id", "id" never meets _null',
    ],
    ['{ comments: { _none: {}, _some: { body: a } } }', '"comments" cannot be empty and have a matching item together'],
    ['{ views: 1, _or: [{ views: 2 }, { views: { _gt: 5 } }] }', '"views" cannot meet _eq 1 and _eq 2 together'],
    ['{ code: { _eq: $CURRENT_ROLE } }', 'callers of "public" have no role, so "$CURRENT_ROLE" is always missing'],
  ])('%s', (filter, reason) => {
    expect(filtered(filter)).toEqual([`warning never-matches 1:67 No row can match the filter: ${reason}.`]);
  });

  test.each([
    '{}',
    '{ _and: [] }',
    '{ views: { _nin: [] } }',
    '{ views: { _nbetween: [5, 3] } }',
    '{ views: { _gt: 5, _lt: 7 } }',
    '{ views: { _gte: 5, _lte: 5 } }',
    '{ views: { _gte: 5, _lte: 6, _neq: 5 } }',
    '{ price: { _gt: 5, _lt: 6 } }',
    '{ price: { _gte: 0.30000000000000001, _lte: 0.3 } }',
    '{ views: { _null: true } }',
    '{ author_id: { id: { _null: true } } }',
    '{ author_id: { id: { _null: true } }, _and: [{ author_id: { _nnull: true } }] }',
    '{ comments: { id: { _null: true } } }',
    '{ comments: { id: { _null: true }, _none: { body: a } } }',
    '{ code: { _empty: true, _null: true } }',
    '{ code: { _empty: true, _eq: "" } }',
    '{ code: { _eq: abc } }',
    '{ code: { _icontains: abcd } }',
    '{ size: { _in: [l, m] } }',
    '{ status: { _nin: [draft, published] } }',
    '{ open: { _neq: true } }',
    '{ title: { _starts_with: a, _ends_with: b } }',
    '{ title: { _starts_with: ab, _contains: b }, _and: [{ title: { _starts_with: a } }] }',
    '{ title: { _istarts_with: a, _eq: ABC } }',
    '{ at: { _gt: "2024-01-01", _lt: "2024-01-01T00:00:00.000001Z" } }',
    '{ at: { _gt: $NOW(-1 day), _lt: $NOW } }',
    '{ author_id: { name: a }, _and: [{ author_id: { user_id: { _null: true } } }] }',
    '{ comments: { _some: { body: a } }, _and: [{ comments: { _some: { body: b } } }] }',
    '{ comments: { _none: { body: { _in: [] } } } }',
    '{ comments: { _none: {} } }',
    '{ "count(comments)": { _lte: 0 } }',
    '{ "year(at)": { _lt: 0 } }',
    '{ views: 1, _or: [{ views: 2 }, { title: a }] }',
    '{ _or: [{ views: { _in: [] } }, { views: 1 }] }',
    '{ code: { _eq: $CURRENT_USER } }',
    '{ views: { _neq: $CURRENT_USER } }',
    '{ data: { "/a": 1, "/b": 2 } }',
    '{ data: { "/a": { _null: true }, "/b": { _eq: 2 } } }',
  ])('%s can', (filter) => {
    expect(filtered(filter)).toEqual([]);
  });

  test('a role that exists may have values', () => {
    expect(
      problems(
        '{ roles: { a: {} }, permissions: { a: { articles: { read: { fields: "*", filter: { code: $CURRENT_ROLE } } } } } }',
      ),
    ).toEqual([]);
  });

  test('a validation is judged as well, and a mistake is told once', () => {
    const rule = (validation: string) =>
      problems(`permissions: { public: { articles: { update: { fields: [code], validation: ${validation} } } } }`);
    expect(rule('{ code: { _in: [] } }')).toEqual([
      'warning never-matches 1:76 Nothing can pass the validation: "code" never meets _in [].',
    ]);
    expect(rule('{ coed: { _in: [] } }')).toEqual([
      'error unknown-field 1:78 "coed" in the validation does not exist.',
    ]);
  });

  test('what is not certain is not said: views, foreign tables, parents of others, other collations', () => {
    const said = (change: (facts: SchemaFacts) => SchemaFacts, filter: string) =>
      resolveFacts(change(sketched()), {
        permissions: `permissions: { public: { articles: { read: { fields: "*", filter: ${filter} } } } }`,
      }).diagnostics.filter(({ code }) => code === 'never-matches').length;
    const each = (table: Partial<SchemaFacts['tables'][number]>) => (of: SchemaFacts) => ({
      ...of,
      tables: of.tables.map((one) => (one.name === 'articles' ? { ...one, ...table } : one)),
    });
    const collated = (of: SchemaFacts) => ({
      ...of,
      tables: of.tables.map((one) => ({
        ...one,
        columns: one.columns.map((column) => ({ ...column, collation: 'blind' })),
      })),
    });
    const inherited = (of: SchemaFacts) => ({
      ...of,
      tables: of.tables.map((one) => (one.name === 'comments' ? { ...one, inherits: ['public.articles'] } : one)),
    });
    for (const filter of ['{ title: { _null: true } }', '{ size: l }', '{ code: abcd }']) {
      expect(said((of) => of, filter)).toBe(1);
      expect(said(each({ kind: 'foreign' }), filter)).toBe(0);
      expect(said(inherited, filter)).toBe(0);
    }
    expect(said(collated, '{ _and: [{ title: a }, { title: A }] }')).toBe(0);
    expect(said(collated, '{ title: { _in: [] } }')).toBe(1);
  });
});

describe('presets', () => {
  const preset = (text: string, more = '') =>
    problems(`permissions: { public: { articles: { update: { fields: [views], presets: { ${text} }${more} } } } }`);

  test.each([
    ['nothing: 1', 'unknown-field 1:76 The collection "articles" has no field "nothing" that a preset can set.'],
    ['author: 1', 'unknown-field 1:76 The collection "articles" has no field "author" that a preset can set.'],
    ['comments: []', 'unknown-field 1:76 The collection "articles" has no field "comments" that a preset can set.'],
    ['views: many', 'preset-value 1:83 The preset "views" must be an integer.'],
    ['views: 1.5', 'preset-value 1:83 The preset "views" must be an integer.'],
    ['small: 40000', 'preset-value 1:83 The preset "small" is out of range.'],
    ['cents: 1000', 'preset-value 1:83 The preset "cents" is out of range.'],
    ['open: maybe', 'preset-value 1:82 The preset "open" must be true or false.'],
    ['status: gone', 'preset-value 1:84 The preset "status" is not one of the allowed values.'],
    ['size: l', 'preset-value 1:82 The preset "size" is not one of the allowed values.'],
    ['code: abcd', 'preset-value 1:82 The preset "code" is longer than 3 characters.'],
    ['title: null', 'preset-value 1:83 The preset "title" must not be null.'],
    ['made: a', 'preset-value 1:82 The preset "made" is a field that the database fills by itself.'],
    ['views: $NOW', 'preset-value 1:83 The preset "views" sets a time in a field of another type.'],
  ])('%s does not fit', (text, message) => {
    expect(preset(text)).toEqual([`error ${message}`]);
  });

  test.each([
    'views: 1',
    'small: 32767',
    'cents: 999.99',
    'open: true',
    'status: draft',
    'size: m',
    'code: abc',
    'code: "abc  "',
    'code: null',
    'at: $NOW',
    'author_id: 1',
  ])('%s fits', (text) => {
    expect(preset(text)).toEqual([]);
  });

  test('a preset that the check of its rule always refuses', () => {
    expect(preset('status: archived', ', filter: { status: draft }')).toEqual([
      'warning refused-preset 1:76 The rule always refuses what its preset sets: "status" cannot meet _eq "draft" and _eq "archived" together.',
    ]);
    expect(preset('code: null', ', validation: { code: { _nnull: true } }')).toEqual([
      'warning refused-preset 1:76 The rule always refuses what its preset sets: "code" cannot meet _nnull and _null together.',
    ]);
  });

  test('one that may pass, or is only a default', () => {
    expect(preset('status: archived', ', filter: { status: draft }, validation: {}')).toEqual([]);
    expect(preset('status: archived', ', filter: { status: { _in: [draft, archived] } }')).toEqual([]);
    expect(preset('views: 1', ', validation: { views: 2 }')).toEqual([]);
    expect(preset('price: "1.5"', ', validation: { price: 2 }')).toEqual([]);
  });

  test('one that another rule may replace', () => {
    const rules = (other: string) =>
      problems(`permissions: { public: { articles: { update: [
        { fields: [views], presets: { code: a }, validation: { code: b } },
        ${other} ] } } }`);
    expect(rules('{ fields: [title], filter: { views: 1 }, validation: {} }').length).toBe(1);
    expect(rules('{ fields: [code], filter: { views: 1 }, validation: {} }')).toEqual([]);
    expect(rules('{ fields: [title], presets: { code: b }, filter: { views: 1 }, validation: {} }')).toEqual([]);
  });
});

describe('rules that say nothing new', () => {
  const rules = (...of: readonly string[]) =>
    problems(`permissions: { public: { articles: { read: [\n ${of.join(',\n ')}\n ] } } }`);

  test('twice the same', () => {
    expect(
      rules('{ fields: [id, title], filter: { views: 1 } }', '{ fields: [title, id], filter: { views: { _eq: 1 } } }'),
    ).toEqual(['warning repeated-rule 3:2 The rule says the same as the one at permissions.yaml:2:2.']);
  });

  test.each([
    ['{ fields: [id] }', '{ fields: [id, title] }'],
    ['{ fields: [id], filter: { views: 1 } }', '{ fields: [id] }'],
    ['{ fields: [id], filter: { views: 1, title: a } }', '{ fields: [id], filter: { title: a } }'],
    ['{ fields: [id], filter: { status: draft } }', '{ fields: [id], filter: { status: { _in: [draft, archived] } } }'],
    ['{ fields: [id], filter: { views: { _gt: 1 } } }', '{ fields: [id], filter: { views: { _nnull: true } } }'],
    ['{ fields: [id], filter: { views: 1 } }', '{ fields: [id], filter: { _or: [{ views: 1 }, { title: a }] } }'],
    [
      '{ fields: [id], filter: { code: $CURRENT_USER, views: 1 } }',
      '{ fields: [id], filter: { code: $CURRENT_USER } }',
    ],
  ])('%s is within %s', (narrow, wide) => {
    expect(rules(narrow, wide)).toEqual([
      'info subsumed-rule 2:2 The rule grants nothing that the one at permissions.yaml:3:2 does not grant.',
    ]);
  });

  test.each([
    ['{ fields: [id], filter: { views: 1 } }', '{ fields: [title] }'],
    ['{ fields: [id, title], filter: { views: 1 } }', '{ fields: [id] }'],
    ['{ fields: [id], filter: { views: 1 } }', '{ fields: [id], filter: { views: 2 } }'],
    ['{ fields: [id], filter: { views: { _null: true } } }', '{ fields: [id], filter: { views: { _nnull: true } } }'],
    // Without a user the second rule is false as a whole, so it needs the first.
    [
      '{ fields: [id], filter: { views: 1 } }',
      '{ fields: [id], filter: { _or: [{ views: 1 }, { code: $CURRENT_USER }] } }',
    ],
  ])('%s adds to %s', (one, other) => {
    expect(rules(one, other)).toEqual([]);
  });

  test('a rule that writes is needed for its presets and its check', () => {
    const updates = (...of: readonly string[]) =>
      problems(`permissions: { public: { articles: { update: [\n ${of.join(',\n ')}\n ] } } }`);
    expect(updates('{ fields: [title], filter: { views: 1 }, presets: { code: a } }', '{ fields: [title] }')).toEqual(
      [],
    );
    expect(updates('{ fields: [title], validation: {} }', '{ fields: [title], validation: { title: a } }')).toEqual([
      'info subsumed-rule 3:2 The rule grants nothing that the one at permissions.yaml:2:2 does not grant.',
    ]);
    expect(updates('{ fields: [title], filter: { views: 1 } }', '{ fields: [title] }')).toHaveLength(1);
    expect(
      updates(
        '{ fields: [title], filter: { views: 1 }, validation: {} }',
        '{ fields: [title], validation: { views: 2 } }',
      ),
    ).toEqual([]);
  });
});

describe('other remarks', () => {
  test('fields of a delete', () => {
    const remove = (rule: string) => problems(`permissions: { public: { articles: { delete: ${rule} } } }`);
    expect(remove('{ fields: [id] }')).toEqual([
      'warning ignored-fields 1:57 A rule for "delete" lists fields, which have no effect: it deletes whole rows.',
    ]);
    expect(remove('true')).toEqual([]);
    expect(remove('{ filter: { views: 1 } }')).toEqual([]);
    expect(remove('{ fields: "*" }')).toEqual([]);
  });

  test('roles that may do nothing', () => {
    const roles = (text: string) =>
      problems(`{ roles: { ${text} }, permissions: { used: { articles: { read: true } } } }`);
    expect(roles('used: {}, idle: {}')).toEqual([
      'warning role-without-rules 1:22 The role "idle" has no rules, so it may do nothing.',
    ]);
    expect(roles('used: {}, boss: { admin: true }, visitor: { app: true }')).toEqual([]);
  });

  test('a path through what the role cannot read', () => {
    const rules = (filter: string, more = '') =>
      problems(`permissions: { public: { comments: { read: { fields: [id], filter: ${filter} } }${more} } }`);
    const said = (name: string, of: string, place: string) => [
      `info hidden-path ${place} The filter looks at "${name}" of "${of}", which "public" cannot read. The rule works, but which rows match tells something about it.`,
    ];
    expect(rules('{ article_id: { title: a } }')).toEqual(said('title', 'articles', '1:84'));
    expect(rules('{ article_id: { title: a } }', ', articles: { read: { fields: [id] } }')).toEqual(
      said('title', 'articles', '1:84'),
    );
    expect(
      rules('{ _and: [{ article_id: { author_id: { name: a } } }] }', ', articles: { read: { fields: [author_id] } }'),
    ).toEqual(said('name', 'authors', '1:106'));
    expect(rules('{ article_id: { title: a } }', ', articles: { read: { fields: [title] } }')).toEqual([]);
    expect(rules('{ body: a, article_id: { _gt: 1 } }')).toEqual([]);
  });
});

describe('names and operators at every position', () => {
  test.each([
    ['read: { fields: [titel] }', 'unknown-field'],
    ['read: { fields: [id], filter: { titel: 1 } }', 'unknown-field'],
    ['read: { fields: [id], filter: { title: { _is: 1 } } }', 'filter-syntax'],
    ['read: { fields: [id], filter: { title: { _gt: a } } }', 'filter-value'],
    ['read: { fields: [id], filter: { _or: [{ titel: 1 }] } }', 'unknown-field'],
    ['read: { fields: [id], filter: { author_id: { nmae: a } } }', 'unknown-field'],
    ['read: { fields: [id], filter: { author_id: { name: { _is: a } } } }', 'filter-syntax'],
    ['read: { fields: [id], filter: { comments: { _some: { bdy: a } } } }', 'unknown-field'],
    ['read: { fields: [id], filter: { comments: { _any: { body: a } } } }', 'filter-syntax'],
    ['read: { fields: [id], filter: { "yaer(at)": 2024 } }', 'filter-syntax'],
    ['read: { fields: [id], filter: { "year(ta)": 2024 } }', 'unknown-field'],
    ['read: { fields: [id], filter: { "year(title)": 2024 } }', 'filter-value'],
    ['read: { fields: [id], filter: { "count(coments)": 1 } }', 'unknown-field'],
    ['create: { fields: [title], validation: { titel: 1 } }', 'unknown-field'],
    ['create: { fields: [title], validation: { title: { _regexp: a } } }', 'filter-syntax'],
    ['create: { fields: [title], presets: { titel: 1 } }', 'unknown-field'],
    ['update: { fields: [titel] }', 'unknown-field'],
    ['update: { fields: [title], filter: { titel: 1 } }', 'unknown-field'],
    ['delete: { filter: { titel: 1 } }', 'unknown-field'],
  ])('%s', (rule, code) => {
    const found = problems(`permissions: { public: { articles: { ${rule} } } }`).filter((text) =>
      text.startsWith('error'),
    );
    expect(found.map((text) => text.split(' ')[1])).toEqual([code]);
  });
});

describe('numbers beside fields of text', () => {
  const codes: TableSketch = { columns: ['id!=:integer', 'code'], key: ['id'] };
  const read = (values: string) =>
    resolve(
      { codes },
      { permissions: `permissions: { public: { codes: { read: { fields: [id], filter: { code: ${values} } } } } }` },
    );

  test.each([
    ['978', '978'],
    ['{ _eq: 9780306406157 }', '9780306406157'],
    ['{ _eq: -9007199254740993 }', '-9007199254740993'],
    ['{ _starts_with: 007 }', '007'],
    ['{ _in: [7, 007, 12345678901234567890, "7"] }', ['7', '007', '12345678901234567890', '7']],
  ])('%s is text as written', (values, text) => {
    const { schema, diagnostics } = read(values);
    expect(diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(schema.permissions[0]?.where).toMatchObject({ operand: { kind: 'literal', value: text } });
  });

  test.each(['{ _eq: 1.50 }', 'true', '{ _in: [0.5, a] }'])('%s needs quotes', (values) => {
    expect(read(values).diagnostics.filter(({ severity }) => severity === 'error')).toMatchObject([
      { code: 'filter-value', message: expect.stringContaining('must be text'), hint: 'Write the value in quotes.' },
    ]);
  });
});

describe('paths from the caller', () => {
  const users: TableSketch = {
    schema: 'platform',
    columns: ['id!=:uuid', 'name', 'password', 'level:integer', 'team_id:integer'],
    key: ['id'],
    foreignKeys: ['team_id > public.teams.id'],
  };
  const teams: TableSketch = { columns: ['id!=:integer', 'name'], key: ['id'] };
  const notes_: TableSketch = { columns: ['id!=:integer', 'body', 'rank:integer'], key: ['id'] };
  const said = (rule: string, more: Readonly<Record<string, TableSketch>> = { platform_users: users, teams }) =>
    resolve({ notes: notes_, ...more }, { permissions: `permissions: { public: { notes: { ${rule} } } }` })
      .diagnostics.filter(({ severity }) => severity === 'error')
      .map(({ code, place, message, hint }) => `${code} ${place} ${message} ${hint ?? ''}`.trim());
  const read = (filter: string) => `read: { fields: [id], filter: ${filter} }`;

  test.each([
    '{ body: $CURRENT_USER.name }',
    '{ body: { _in: [a, $CURRENT_USER.team_id.name] } }',
    '{ rank: { _lt: $CURRENT_USER.level } }',
    '{ rank: { _in: $CURRENT_USER.team_id.platform_users.level } }',
  ])('%s is right', (filter) => {
    expect(said(read(filter))).toEqual([]);
  });

  test.each([
    [
      '{ body: $CURRENT_USER.nmae }',
      'dynamic-value permissions.yaml:1:67 "body" in the filter follows "$CURRENT_USER.nmae", where "nmae" does not exist. Did you mean "name"?',
    ],
    [
      '{ body: { _eq: $CURRENT_USER.password } }',
      'dynamic-value permissions.yaml:1:75 "_eq" in the filter follows "$CURRENT_USER.password", where "password" does not exist. Fields of type "hash" cannot be used in conditions.',
    ],
    [
      '{ body: { _eq: $CURRENT_ROLE.name } }',
      'dynamic-value permissions.yaml:1:75 "_eq" in the filter follows "$CURRENT_ROLE.name", where "name" does not exist. Fields of the caller are those of "platform_roles", which is not installed: run `platform migrate`.',
    ],
    [
      '{ body: { _eq: $CURRENT_USER.level } }',
      'filter-value permissions.yaml:1:75 "_eq" in the filter compares a field of type "text" with "integer".',
    ],
    [
      '{ rank: { _lt: $CURRENT_USER.team_id.platform_users.level } }',
      'filter-value permissions.yaml:1:75 "_lt" in the filter compares with a list of values, which only _in and _nin take.',
    ],
  ])('%s is wrong', (filter, message) => {
    expect(said(read(filter))).toEqual([message]);
  });

  test('presets keep them, and are of the type of their field', () => {
    const create = (presets: string) => `create: { fields: [body], presets: { ${presets} } }`;
    expect(said(create('body: $CURRENT_USER.team_id.name, rank: $CURRENT_USER.level'))).toEqual([]);
    expect(said(create('rank: $CURRENT_USER.name'))).toEqual([
      'preset-value permissions.yaml:1:78 The preset "rank" takes no value of type "text".',
    ]);
    expect(said(create('rank: $CURRENT_USER.team_id.platform_users.level'))).toEqual([
      'preset-value permissions.yaml:1:78 The preset "rank" takes one value, not a list.',
    ]);
    expect(said(create('body: $CURRENT_USER'))).toEqual([]);
    expect(said(create('rank: $CURRENT_USER'))).toEqual([
      'preset-value permissions.yaml:1:78 The preset "rank" takes no value of type "uuid".',
    ]);
    expect(said(create('body: $CURRENT_USER.nmae'))).toEqual([
      'dynamic-value permissions.yaml:1:78 The preset "body" follows "$CURRENT_USER.nmae", where "nmae" does not exist. Did you mean "name"?',
    ]);
  });

  test('credentials are secret whatever the configuration says', () => {
    const config = { collections: { platform_users: { fields: { password: { type: 'json' as const } } } } };
    const { schema, diagnostics } = resolve({ platform_users: users, teams }, { config });
    expect(complaints(diagnostics)).toEqual(['error system-table platform.config.ts: collections.platform_users']);
    expect(notes(diagnostics, 'private')).toHaveLength(1);
    expect(schema.collections[0]?.fields.find(({ name }) => name === 'password')?.type).toBe('hash');
  });
});
