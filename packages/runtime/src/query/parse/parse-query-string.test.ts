import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultQueryLimits, type JsonValue } from '../../language/index.ts';
import { parseQueryString } from './parse-query-string.ts';

function parse(raw: string): Record<string, JsonValue> {
  const tree = parseQueryString(raw, defaultQueryLimits);
  return Object.fromEntries([...tree].map(([name, { value }]) => [name, value]));
}

describe('forms', () => {
  const cases: readonly (readonly [string, Record<string, JsonValue>])[] = [
    ['', {}],
    ['&&', {}],
    ['fields=a,b', { fields: 'a,b' }],
    ['fields', { fields: '' }],
    ['fields[]=a&fields[]=b', { fields: ['a', 'b'] }],
    ['fields=a&fields=b', { fields: ['a', 'b'] }],
    ['fields[1]=b&fields[0]=a', { fields: ['a', 'b'] }],
    ['filter[a][_eq]=1', { filter: { a: { _eq: '1' } } }],
    ['filter%5Ba%5D%5B_eq%5D=a%20b+c', { filter: { a: { _eq: 'a b c' } } }],
    ['filter[_and][0][a]=1&filter[_and][1][b]=2', { filter: { _and: [{ a: '1' }, { b: '2' }] } }],
    ['filter[_or][][a]=1', { filter: { _or: [{ a: '1' }] } }],
    ['filter[a][_in][]=1&filter[a][_in][]=2', { filter: { a: { _in: ['1', '2'] } } }],
    ['filter={"a":1}', { filter: '{"a":1}' }],
    ['limit=1&limit=2', { limit: ['1', '2'] }],
    ['unknown[=x&access_token=t&utm_source=y', {}],
  ];
  test.each(cases)('%s', (raw, expected) => {
    expect(parse(raw)).toEqual(expected);
  });
});

describe('refused', () => {
  test.each([
    ['invalid UTF-8', 'x=%ff'],
    ['a broken escape', 'fields=%4'],
    ['U+0000', 'filter[a]=%00'],
    ['an open bracket', 'filter[a=1'],
    ['text behind a bracket', 'filter[a]b=1'],
    ['a bracket in a bracket', 'filter[[a]]=1'],
    ['a key of the prototype', 'filter[__proto__][a]=1'],
    ['a value and a group', 'filter=1&filter[a]=1'],
    ['a group and a value', 'filter[a]=1&filter=1'],
    ['a list with named keys', 'filter[]=1&filter[a]=1'],
    ['too deep', `filter${'[a]'.repeat(11)}=1`],
    ['too many elements', 'fields[]=a&'.repeat(501)],
  ])('%s', (_, raw) => {
    expect(() => parse(raw)).toThrow(expect.objectContaining({ code: 'INVALID_QUERY' }));
  });
});

test('names of the prototype are ordinary keys', () => {
  const value = parse('filter[constructor]=1&filter[toString][_eq]=2').filter;
  expect(Object.keys(value ?? {})).toEqual(['constructor', 'toString']);
});

test('digits under a name are a name in trees of names, and an index in lists', () => {
  expect(parse('filter[1]=a&filter[_or][0][2]=b&filter[c][_in][1]=y&filter[c][_in][0]=x')).toEqual({
    filter: { 1: 'a', _or: [{ 2: 'b' }], c: { _in: ['x', 'y'] } },
  });
  expect(parse('deep[1][_filter][2][_some][3]=a&deep[1][_sort][0]=b&alias[4]=d&fields[0]=e')).toEqual({
    deep: { 1: { _filter: { 2: { _some: { 3: 'a' } } }, _sort: ['b'] } },
    alias: { 4: 'd' },
    fields: ['e'],
  });
  expect(parse('deep[a][_aggregate][sum][0]=x&deep[a][_group][0]=1&deep[a][_having][sum][3]=y')).toEqual({
    deep: { a: { _aggregate: { sum: ['x'] }, _group: ['1'], _having: { sum: { 3: 'y' } } } },
  });
});

test('what is written in brackets is read back', () => {
  const key = fc
    .string({ minLength: 1, maxLength: 5, unit: 'grapheme' })
    .filter((text) => !/^\d+$|[[\]\0]|^__proto__$/.test(text));
  const leaf = fc.string({ maxLength: 8, unit: 'grapheme' }).filter((text) => !text.includes('\0'));
  const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 3 },
      leaf,
      fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(key, tree, { minKeys: 1, maxKeys: 3, noNullPrototype: true }), (aggregate) => {
      const raw = print('aggregate', aggregate).join('&');
      expect(parse(raw)).toEqual({ aggregate });
    }),
  );
});

function print(name: string, value: JsonValue): string[] {
  if (typeof value !== 'object' || value === null)
    return [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`];
  return Object.entries(value).flatMap(([key, inner]) => print(`${name}[${key}]`, inner));
}

test('never throws anything but INVALID_QUERY', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'filter[]=&%0a1.,{}":') }), (raw) => {
      try {
        parse(`filter${raw}`);
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_QUERY' });
      }
    }),
    { numRuns: 2_000 },
  );
});
