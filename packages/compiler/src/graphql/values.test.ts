import { expect, test } from 'vitest';
import { valueType } from './values.ts';

const wire = { kind: 'number' } as const;

test('integers without a sign outgrow Int', () => {
  expect(valueType({ type: 'integer', native: 'int4', wire }, false)).toBe('Int');
  for (const isKey of [true, false]) {
    expect(valueType({ type: 'integer', native: 'uint4', wire }, isKey)).toBe('GraphQLBigInt');
    expect(valueType({ type: 'bigInteger', native: 'uint8', wire: { kind: 'text' } }, isKey)).toBe('GraphQLBigInt');
  }
});
