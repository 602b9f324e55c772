import { expect, test } from 'vitest';
import { checkJson, parseJson } from './parse-parameters.ts';

const invalid = expect.objectContaining({ code: 'INVALID_QUERY' });

test.each([
  ['9007199254740993', JSON.rawJSON('9007199254740993')],
  ['12345678901234567890.1234567890', JSON.rawJSON('12345678901234567890.1234567890')],
  ['0.10000000000000000001', JSON.rawJSON('0.10000000000000000001')],
  ['1e400', JSON.rawJSON('1e400')],
  ['1.50', 1.5],
  ['-0', -0],
  ['0.30000000000000004', 0.30000000000000004],
  ['1E3', 1000],
  ['9007199254740991', 9007199254740991],
  ['9007199254740992', JSON.rawJSON('9007199254740992')],
  ['9007199254740994', JSON.rawJSON('9007199254740994')],
  ['-9007199254740994', JSON.rawJSON('-9007199254740994')],
  ['1e20', JSON.rawJSON('1e20')],
  ['123e-2', 1.23],
])('%s keeps its digits', (text, value) => {
  expect(parseJson(`[${text}]`, 'filter')).toEqual([value]);
});

test('digits are kept wherever they stand', () => {
  for (let before = 0; before < 40; before++) {
    const terms = 'w'.repeat(before);
    for (const number of ['9007199254740993', '-0.1000000000000000000001', '1e400', '12345678901234567890']) {
      expect(parseJson(`{"${terms}":${number}}`, 'filter')).toEqual({ [terms]: JSON.rawJSON(number) });
      expect(parseJson(`["${terms}",1,${number},2]`, 'filter')).toEqual([terms, 1, JSON.rawJSON(number), 2]);
    }
  }
});

test.each([
  '{',
  '{"a":1,"\\u0061":2}',
  '{"__proto__": 1}',
  '{"a": {"constructor": {"prototype": 1}}}',
  '["\\u0000"]',
  '["\\ud800"]',
  '',
])('%s is refused', (text) => {
  expect(() => parseJson(text, 'filter')).toThrow(invalid);
});

test('JSON of any depth is refused, not a stack overflow', () => {
  expect(() => parseJson('['.repeat(1_000_000), 'filter')).toThrow(invalid);
  expect(() => parseJson('['.repeat(5_000) + ']'.repeat(5_000), 'filter')).toThrow(invalid);
});

test('a constructor that holds no prototype is a name like any other', () => {
  expect(() => checkJson({ constructor: { _eq: 1 } }, 'filter')).not.toThrow();
});
