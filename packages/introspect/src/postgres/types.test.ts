import { describe, expect, test } from 'vitest';
import { limitsOf, portableBuiltIn, portableExtension } from './types.ts';

describe('limitsOf', () => {
  // Modifiers as pg_attribute.atttypmod reports them.
  test.each([
    ['varchar', 24, { maxLength: 20 }],
    ['varchar', -1, {}],
    ['bpchar', 5, { maxLength: 1 }],
    ['bit', 8, { maxLength: 8 }],
    ['numeric', 655366, { precision: 10, scale: 2 }],
    ['numeric', 196612, { precision: 3, scale: 0 }],
    ['numeric', 198659, { precision: 3, scale: -1 }],
    ['numeric', 65536004 + 1000, { precision: 1000, scale: 1000 }],
    ['timestamptz', 0, { precision: 0 }],
    ['interval', 0x7fff0002, { precision: 2 }],
    ['interval', 0x1c08ffff, {}],
    ['name', -1, { maxLength: 63 }],
    ['text', -1, {}],
  ])('%s with %i', (name, typmod, limits) => {
    expect(limitsOf(name, typmod)).toEqual({ maxLength: null, precision: null, scale: null, ...limits });
  });
});

test('types are known by their exact names', () => {
  expect(portableBuiltIn('int8')).toBe('bigInteger');
  expect(portableBuiltIn('constructor')).toBe('unknown');
  expect(portableExtension('citext', 'citext')).toBe('text');
  expect(portableExtension(null, 'citext')).toBe('unknown');
});
