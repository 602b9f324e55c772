import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrayLiteral } from '../types/array.ts';
import type { PortableType } from '../types/index.ts';
import type { JsonValue } from './parse-text.ts';
import type { ValueType } from './value-type.ts';
import { decodeValue } from './values.ts';

function decoded(type: PortableType | ValueType, value: JsonValue): string | null | undefined {
  const result = decodeValue(typeof type === 'string' ? { type } : type, value);
  return result.ok ? result.value : undefined;
}

describe('accepted values, as text of a parameter', () => {
  const cases: readonly (readonly [PortableType, JsonValue, string | null])[] = [
    ['integer', 7, '7'],
    ['integer', '-2147483648', '-2147483648'],
    ['integer', '007', '7'],
    ['bigInteger', '9223372036854775807', '9223372036854775807'],
    ['bigInteger', 9007199254740991, '9007199254740991'],
    ['decimal', '12345678901234567890.12345678901234567890', '12345678901234567890.12345678901234567890'],
    ['decimal', 1e20, '100000000000000000000'],
    ['decimal', 0.30000000000000004, '0.30000000000000004'],
    ['float', 'NaN', 'NaN'],
    ['float', '1.50', '1.5'],
    ['boolean', 1, 'true'],
    ['boolean', 'false', 'false'],
    ['date', '2024-02-29', '2024-02-29'],
    ['date', 'infinity', 'infinity'],
    ['date', '-0043-03-15', '0044-03-15 BC'],
    ['date', '0044-03-15 BC', '0044-03-15 BC'],
    ['date', '5874897-12-31', '5874897-12-31'],
    ['time', '24:00', '24:00:00'],
    ['timestamp', '0044-03-15T12:00:00.5+00:00 BC', '0044-03-15 12:00:00.5+00:00 BC'],
    ['time', '10:30', '10:30:00'],
    ['dateTime', '2023-01-02T03:04:05.123456', '2023-01-02 03:04:05.123456'],
    ['timestamp', '2023-01-02', '2023-01-02 00:00:00+00:00'],
    ['timestamp', '2023-01-02T03:04:05Z', '2023-01-02 03:04:05+00:00'],
    ['timestamp', '2026-11-20T10:00:00.123+05:30', '2026-11-20 10:00:00.123+05:30'],
    ['timestamp', '2023-01-02 03:04', '2023-01-02 03:04:00+00:00'],
    ['interval', 'P1Y2M3DT4H5M6.5S', 'P1Y2M3DT4H5M6.5S'],
    ['uuid', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
    ['binary', 'AQI=', '\\x0102'],
    ['csv', ['a', 'b'], 'a,b'],
    ['json', { a: [1, null] }, '{"a":[1,null]}'],
    ['json', null, 'null'],
    ['json', '\\u0000 written out', '"\\\\u0000 written out"'],
    ['text', null, null],
  ];
  test.each(cases)('%s %j', (type, value, text) => {
    expect(decoded(type, value)).toBe(text);
  });
});

describe('refused values', () => {
  const cases: readonly (readonly [PortableType, JsonValue])[] = [
    ['integer', 2147483648],
    ['integer', 1.5],
    ['integer', '1e3'],
    ['integer', '0x1'],
    ['integer', ' 1'],
    ['integer', '１'],
    ['integer', true],
    ['bigInteger', 2 ** 53],
    ['bigInteger', '9223372036854775808'],
    ['decimal', (2 ** 53 + 2) * 3],
    ['decimal', 'NaN'],
    ['decimal', '1.2.3'],
    ['float', Number.POSITIVE_INFINITY],
    ['float', '1e999'],
    ['float', ''],
    ['boolean', 'yes'],
    ['date', '2023-02-30'],
    ['date', '2023-13-01'],
    ['date', '2023-1-1'],
    ['date', '5874898-01-01'],
    ['time', '24:00:01'],
    ['time', '100:00:00'],
    ['date', '0000-01-01 BC'],
    ['date', '-0044-03-15 BC'],
    ['date', '4714-11-23 BC'],
    ['timestamp', '294277-01-01'],
    ['timestamp', '2023-01-02T00:00:00+00:00:30'],
    ['time', '10:00:60'],
    ['time', '10:00:00Z'],
    ['dateTime', '2023-01-02T03:04:05Z'],
    ['timestamp', '2023-01-02T24:00:00'],
    ['timestamp', '2023-01-02T10:00:00+99:00'],
    ['timestamp', 'now'],
    ['interval', 'P'],
    ['interval', 'PT'],
    ['interval', '1 day'],
    ['uuid', 'a0eebc999c0b4ef8bb6d6bb9bd380a11'],
    ['binary', 'AQI'],
    ['text', 'a\0b'],
    ['text', '\ud800'],
    ['text', 5],
    ['json', ['\0']],
    ['enum', 5],
  ];
  test.each(cases)('%s %j', (type, value) => {
    expect(decoded(type, value)).toBeUndefined();
  });

  test('a label that is none, a real out of range, JSON too deep', () => {
    expect(decoded({ type: 'enum', values: ['a'] }, 'b')).toBeUndefined();
    expect(decoded({ type: 'float', native: 'float4' }, 1e39)).toBeUndefined();
    expect(decoded({ type: 'float', native: 'float4' }, 1e-46)).toBeUndefined();
    // As PostgreSQL prints the largest and the smallest.
    expect(decoded({ type: 'float', native: 'float4' }, 3.4028235e38)).toBe('3.4028235e+38');
    expect(decoded({ type: 'float', native: 'float4' }, 1e-45)).toBe('1e-45');
    let deep: JsonValue = 1;
    for (let level = 0; level < 65; level++) deep = [deep];
    expect(decoded('json', deep)).toBeUndefined();
  });
});

test('arrays are literals whose values are never read as syntax', () => {
  expect(decoded({ type: 'array', element: 'text' }, ['a"b', 'c\\d', null, '{,}'])).toBe(
    '{"a\\"b","c\\\\d",NULL,"{,}"}',
  );
  expect(arrayLiteral([])).toBe('{}');
});

test('safe integers and their text mean the same', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), (value) => {
      expect(decoded('bigInteger', value)).toBe(String(value));
      expect(decoded('bigInteger', String(value))).toBe(String(value));
      expect(decoded('decimal', value)).toBe(String(value));
    }),
  );
});

test('every instant JavaScript can print is a timestamp', () => {
  const days = fc.date({ min: new Date('1000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(days, (date) => {
      const text = decoded('timestamp', date.toISOString());
      expect(new Date(text ?? '').getTime()).toBe(date.getTime());
    }),
  );
});
