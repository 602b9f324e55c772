import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultQueryLimits } from '../descriptors/limits.ts';
import type { JsonValue } from '../values/parse-text.ts';
import type { ValueType } from '../values/value-type.ts';
import { type FilterOptions, parseFilter } from './filter.ts';
import type { FilterNames, NamedRelation } from './filter-names.ts';

const fields: Record<string, Record<string, ValueType>> = {
  articles: {
    id: { type: 'bigInteger' },
    title: { type: 'string' },
    views: { type: 'integer' },
    status: { type: 'enum', values: ['draft', 'published'] },
    released: { type: 'timestamp' },
    author_id: { type: 'integer' },
    live: { type: 'boolean' },
    meta: { type: 'json' },
    password: { type: 'hash' },
    _rev: { type: 'integer' },
  },
  authors: { id: { type: 'integer' }, name: { type: 'string' } },
  comments: { id: { type: 'integer' }, body: { type: 'text' } },
  blocks: { id: { type: 'integer' }, sort: { type: 'integer' } },
  headings: { id: { type: 'integer' }, text: { type: 'text' } },
  platform_users: {
    id: { type: 'uuid' },
    name: { type: 'text' },
    level: { type: 'integer' },
    groups: { type: 'array', element: 'string' },
    data: { type: 'json' },
    token: { type: 'token' },
    team: { type: 'integer' },
  },
  teams: { id: { type: 'integer' }, name: { type: 'string' } },
};
const relations: Record<string, Record<string, NamedRelation>> = {
  articles: {
    author_id: { kind: 'm2o', target: 'authors' },
    comments: { kind: 'o2m', target: 'comments' },
    blocks: { kind: 'm2a', target: 'blocks', targets: ['headings'] },
    place: { kind: 'm2o', target: 'authors' },
  },
  platform_users: { team: { kind: 'm2o', target: 'teams' }, teams: { kind: 'm2m', target: 'teams' } },
};
const names: FilterNames = {
  field: (collection, name) => own(own(fields, collection) ?? {}, name),
  relation: (collection, name) => own(own(relations, collection) ?? {}, name),
  key: () => ['id'],
};

function own<T>(of: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function read(input: JsonValue, options?: FilterOptions) {
  return parseFilter(input, 'articles', names, options);
}

function condition(input: JsonValue, options?: FilterOptions) {
  const { condition, problems } = read(input, options);
  expect(problems).toEqual([]);
  return condition;
}

function stage(input: JsonValue, options?: FilterOptions): string {
  const stages = read(input, options).problems.map((problem) => problem.stage);
  return (['syntax', 'name', 'value'] as const).find((name) => stages.includes(name)) ?? 'none';
}

const compare = (field: string, operator: string, value: JsonValue) => ({
  kind: 'compare',
  field,
  operator,
  operand: { kind: 'literal', value },
});

describe('normal form', () => {
  test('a bare value means _eq, keys of one object are joined by and', () => {
    expect(condition({ title: 'a', views: { _gt: 1, _lte: 5 } })).toEqual({
      kind: 'and',
      of: [
        compare('title', '_eq', 'a'),
        { kind: 'and', of: [compare('views', '_gt', 1), compare('views', '_lte', 5)] },
      ],
    });
  });

  test('the empty filter is true, an empty _or false', () => {
    expect(condition({})).toEqual({ kind: 'and', of: [] });
    expect(condition({ _or: [] })).toEqual({ kind: 'or', of: [] });
  });

  test('null and flags become _null and _nnull', () => {
    expect(condition({ title: null })).toEqual(compare('title', '_null', true));
    expect(condition({ title: { _neq: null } })).toEqual(compare('title', '_nnull', true));
    expect(condition({ title: { _null: false } })).toEqual(compare('title', '_nnull', true));
    expect(condition({ title: { _nempty: '' } })).toEqual(compare('title', '_nempty', true));
  });

  test('lists are arrays or comma text; dynamic elements are spread', () => {
    expect(condition({ views: { _in: '1,2' } })).toEqual(compare('views', '_in', ['1', '2']));
    expect(condition({ views: { _in: '' } })).toEqual(compare('views', '_in', []));
    expect(condition({ released: { _between: ['$NOW(-1 day)', '$NOW'] } })).toEqual({
      kind: 'and',
      of: [
        { kind: 'compare', field: 'released', operator: '_gte', operand: { kind: 'now', offset: 'P-1D' } },
        { kind: 'compare', field: 'released', operator: '_lte', operand: { kind: 'now', offset: 'P0D' } },
      ],
    });
    const yesterday = { kind: 'compare', field: 'released', operand: { kind: 'now', offset: 'P-1D' } };
    expect(condition({ released: { _nin: '$NOW(-1 day)' } })).toEqual({
      kind: 'and',
      of: [{ ...yesterday, operator: '_neq' }],
    });
  });

  test('an m2o takes key operators and nesting, joined into one look at the related row', () => {
    expect(condition({ author_id: { _nnull: true, name: 'a', id: { _gt: 1 } } })).toEqual({
      kind: 'and',
      of: [
        compare('author_id', '_nnull', true),
        {
          kind: 'related',
          relation: 'author_id',
          quantifier: 'one',
          where: { kind: 'and', of: [compare('name', '_eq', 'a'), compare('id', '_gt', 1)] },
        },
      ],
    });
  });

  test('a to-many is _some unless it says _none', () => {
    const body = compare('body', '_eq', 'x');
    expect(condition({ comments: { body: 'x' } })).toEqual({
      kind: 'related',
      relation: 'comments',
      quantifier: 'some',
      where: body,
    });
    expect(condition({ comments: { _none: { body: 'x' } } })).toMatchObject({ quantifier: 'none', where: body });
  });

  test('a many-to-any looks into the items of one collection', () => {
    expect(condition({ blocks: { 'item:headings': { text: 'a' } } })).toEqual({
      kind: 'related',
      relation: 'blocks',
      quantifier: 'some',
      where: {
        kind: 'related',
        relation: 'item',
        quantifier: 'one',
        item: 'headings',
        where: compare('text', '_eq', 'a'),
      },
    });
    expect(stage({ blocks: { 'item:authors': { name: 'a' } } })).toBe('name');
  });

  test('functions and dynamic values', () => {
    expect(condition({ 'year(released)': { _eq: 2021 } })).toMatchObject({ function: 'year', field: 'released' });
    expect(condition({ 'count(comments)': { _gt: '2' } })).toMatchObject({ function: 'count', field: 'comments' });
    expect(condition({ author_id: { _eq: '$CURRENT_USER' } })).toMatchObject({
      operand: { kind: 'caller', of: 'user', path: [] },
    });
    expect(condition({ title: '$CURRENT_USER.team.name' })).toMatchObject({
      operand: { kind: 'caller', of: 'user', path: ['team', 'name'] },
    });
    expect(condition({ title: '$100' })).toEqual(compare('title', '_eq', '$100'));
  });

  test('a path from the caller is a value of its type, or a list', () => {
    const user = (path: readonly string[]) => ({ kind: 'caller', of: 'user', path });
    expect(condition({ views: { _between: [1, '$CURRENT_USER.level'] } })).toMatchObject({
      kind: 'and',
      of: [
        { operator: '_gte', operand: { value: 1 } },
        { operator: '_lte', operand: user(['level']) },
      ],
    });
    expect(condition({ title: { _nin: ['a', '$CURRENT_USER.teams.name'] } })).toMatchObject({
      kind: 'and',
      of: [
        { operator: '_neq', operand: { value: 'a' } },
        { operator: '_nin', operand: user(['teams', 'name']) },
      ],
    });
    expect(condition({ title: { _in: '$CURRENT_USER.groups' } })).toMatchObject({ operator: '_in' });
    expect(condition({ 'count(comments)': { _gt: '$CURRENT_USER.level' } })).toMatchObject({ function: 'count' });
  });

  test.each<[JsonValue, string]>([
    [{ title: '$CURRENT_USER.nothing' }, 'name'],
    [{ title: '$CURRENT_USER.token' }, 'name'],
    [{ title: '$CURRENT_USER.team.nothing' }, 'name'],
    [{ title: '$CURRENT_USER.nothing.name' }, 'name'],
    [{ title: '$CURRENT_ROLE.name' }, 'name'],
    [{ title: '$CURRENT_USER.level' }, 'value'],
    [{ views: '$CURRENT_USER.name' }, 'value'],
    [{ title: '$CURRENT_USER.data' }, 'value'],
    [{ title: '$CURRENT_USER.teams' }, 'value'],
    [{ title: '$CURRENT_USER.name.first' }, 'value'],
    [{ title: { _eq: '$CURRENT_USER.groups' } }, 'value'],
    [{ title: { _contains: '$CURRENT_USER.teams.name' } }, 'value'],
    [{ views: { _between: [1, '$CURRENT_USER.teams.id'] } }, 'value'],
    [{ title: `$CURRENT_USER.${'team.'.repeat(10)}name` }, 'syntax'],
  ])('a path that does not fit is refused: %j', (input, expected) => {
    expect(stage(input)).toBe(expected);
  });

  test('paths from the caller count as relations', () => {
    const limits = { ...defaultQueryLimits, filterRelations: 3 };
    expect(stage({ title: '$CURRENT_USER.team.name' }, { limits })).toBe('none');
    expect(stage({ title: { _in: ['$CURRENT_USER.team.name', '$CURRENT_USER.teams.name'] } }, { limits })).toBe(
      'syntax',
    );
  });

  test('text of a query string is null by its letters except for text fields', () => {
    const text = { text: true };
    expect(condition({ views: { _eq: 'null' } }, text)).toEqual(compare('views', '_null', true));
    expect(condition({ title: { _eq: 'null' } }, text)).toMatchObject({ operand: { value: 'null', text: true } });
    expect(condition({ title: { _in: { 0: 'a', 1: 'b' } } }, text)).toMatchObject({ operand: { value: ['a', 'b'] } });
  });
});

describe('stages', () => {
  const cases: readonly (readonly [string, JsonValue, string])[] = [
    ['a list', [], 'syntax'],
    ['a scalar', 5, 'syntax'],
    ['an unknown operator', { title: { _foo: 1 } }, 'syntax'],
    ['an unknown operator on an unknown name', { nothing: { _foo: 1 } }, 'syntax'],
    ['an unknown logical operator', { _not: { title: 'a' } }, 'syntax'],
    ['an operator without a field', { _eq: 1 }, 'syntax'],
    ['_and with an object', { _and: { title: 'a' } }, 'syntax'],
    ['_or with a scalar element', { _or: [1] }, 'syntax'],
    ['an unknown function', { 'foo(title)': 1 }, 'syntax'],
    ['_regex in a filter', { title: { _regex: 'a' } }, 'syntax'],
    ['an unknown name', { nothing: 1 }, 'name'],
    ['a name of the prototype', { constructor: 1, toString: { _eq: 1 } }, 'name'],
    ['a secret field', { password: { _nnull: true } }, 'name'],
    ['a name below a scalar', { title: { name: 'a' } }, 'name'],
    ['a name starting with an underscore that exists', { _rev: 1 }, 'none'],
    ['an operator of another type', { live: { _gt: true } }, 'value'],
    ['text operators on numbers', { views: { _contains: '1' } }, 'value'],
    ['a comparison of a to-many', { comments: { _eq: 1 } }, 'value'],
    ['_some on an m2o', { author_id: { _some: {} } }, 'value'],
    ['a function of another type', { 'year(title)': 1 }, 'value'],
    ['null with another operator', { views: { _gt: null } }, 'value'],
    ['null in a list', { views: { _in: [1, null] } }, 'value'],
    ['one bound of two', { views: { _between: [1] } }, 'value'],
    ['a label that is none', { status: 'lost' }, 'value'],
    ['a number out of range', { views: 2147483648 }, 'value'],
    ['text for a number', { views: 'x' }, 'value'],
    ['a broken $NOW', { released: { _lt: '$NOW(1 fortnight)' } }, 'value'],
    ['$NOW beyond every date', { released: { _lt: '$NOW(999999999 y)' } }, 'value'],
    ['a number for text', { title: 5 }, 'value'],
    ['a comparison of a composite m2o', { place: { _eq: 5 } }, 'value'],
    ['operators of json', { meta: { _eq: 1 } }, 'value'],
  ];
  test.each(cases)('%s', (_, input, expected) => {
    expect(stage(input)).toBe(expected);
  });

  test('syntax is reported before names, names beside values', () => {
    expect(read({ nothing: 1, title: { _foo: 1 } }).problems).toEqual([
      { stage: 'syntax', path: ['title', '_foo'], message: 'is not an operator' },
    ]);
    expect(stage({ views: 'x', nothing: 1 })).toBe('name');
  });

  test('too many names in a path', () => {
    const nested = (depth: number): JsonValue => (depth === 0 ? 1 : { author_id: nested(depth - 1) });
    expect(stage(nested(11))).toBe('syntax');
    expect(stage(nested(10))).not.toBe('syntax');
  });

  test('a deep tree of _and is refused, not a stack overflow', () => {
    let filter: JsonValue = { title: 'a' };
    for (let depth = 0; depth < 5_000; depth++) filter = { _and: [filter] };
    expect(stage(filter)).toBe('syntax');
  });
});

test('never throws, whatever the filter', () => {
  const key = fc.oneof(
    fc.constantFrom('title', 'author_id', 'comments', 'blocks', 'item:headings', '_and', '_or', '_some', '_none'),
    fc.constantFrom('_eq', '_in', '_between', '_null', '__proto__', 'constructor', 'year(released)', 'count(comments)'),
    fc.string({ maxLength: 6 }),
  );
  const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(fc.string({ maxLength: 8 }), fc.double(), fc.boolean(), fc.constant(null), fc.constant('$NOW')),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4, noNullPrototype: false }),
    ),
  }));
  fc.assert(
    fc.property(tree, fc.boolean(), (input, text) => {
      const { condition, problems } = read(input, { text });
      if (problems.length > 0) expect(condition).toEqual({ kind: 'or', of: [] });
    }),
    { numRuns: 500 },
  );
});

test('names that look like operators or calls are names where they exist', () => {
  const odd: FilterNames = {
    field: (collection, name) =>
      collection === 'inner' && ['_id', 'odd(name)'].includes(name) ? { type: 'integer' } : undefined,
    relation: (collection, name) =>
      collection === 'outer' && name === 'rel' ? { kind: 'm2o', target: 'inner' } : undefined,
    key: () => [],
  };
  expect(parseFilter({ rel: { _id: 1, 'odd(name)': 2 } }, 'outer', odd).problems).toEqual([]);
  expect(parseFilter({ rel: { _other: 1 } }, 'outer', odd).problems).toMatchObject([{ stage: 'syntax' }]);
  expect(parseFilter({ hidden: { _id: 1 } }, 'outer', odd).problems).toMatchObject([{ stage: 'syntax' }]);
});
