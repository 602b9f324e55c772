import type { ColumnType } from '@tablewright/introspect/schema';
import { expect, test } from 'vitest';
import { columnOf, typeOf } from '../testing/build-schema.ts';
import { constantDefault } from './stored.ts';

const text = typeOf('text', 'text');

function textOf(expression: string, type: ColumnType = text): string | undefined {
  return constantDefault(columnOf('a', type, { fill: { kind: 'default', expression } }))?.text;
}

test.each([
  ['5', '5'],
  ['0.00', '0.00'],
  ['true', 'true'],
  ["'-5'::integer", '-5'],
  ["'it''s'::text", "it's"],
  [String.raw`E'a\\b'::text`, String.raw`a\b`],
  ["'2026-01-01 00:00:00+00'::timestamp with time zone", '2026-01-01 00:00:00+00'],
  ["'{}'::text[]", '{}'],
])('%s is a constant', (expression, expected) => {
  expect(textOf(expression)).toBe(expected);
});

test.each(['now()', "nextval('s'::regclass)", "'a'::text || 'b'::text", 'NULL::text', "upper('a'::text)", '(1 + 2)'])(
  '%s is computed',
  (expression) => {
    expect(textOf(expression)).toBeUndefined();
  },
);

test('keeps the type with its modifier', () => {
  const price = columnOf('price', typeOf('numeric', 'decimal'), {
    nativeType: 'numeric(10,2)',
    fill: { kind: 'default', expression: '0' },
  });
  expect(constantDefault(price)).toEqual({ text: '0', type: 'numeric(10,2)' });
  expect(constantDefault(columnOf('id', typeOf('int4', 'integer')))).toBeUndefined();
});
