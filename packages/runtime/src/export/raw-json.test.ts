import { describe, expect, test } from 'vitest';
import { compactJson, isNull, plainText, readRawJson } from './raw-json.ts';

describe('reading JSON text', () => {
  test.each([
    ['{"a":1,"b":[true,null,"x"],"c":{}}'],
    ['[]'],
    ['{}'],
    ['[[],[{}]]'],
    ['"\\"\\\\"'],
    ['{"\\\\":"\\\\","\\"":"\\""}'],
    ['12345678901234567890.12345678901234567890'],
    ['-1.50e+400'],
    ['{"__proto__":1,"constructor":2}'],
    ['"\u2028 é 😀"'],
  ])('%s is written as it was', (text) => {
    expect(compactJson(readRawJson(text))).toBe(text);
  });

  test('space is dropped', () => {
    expect(compactJson(readRawJson(' { "a" : [ 1 , "b c" ] ,\n"d":\t{ } } '))).toBe('{"a":[1,"b c"],"d":{}}');
  });

  test('nesting beyond all reason stays text', () => {
    const deep = `${'['.repeat(50_000)}"]"${']'.repeat(50_000)}`;
    expect(compactJson(readRawJson(deep))).toBe(deep);
  });

  test('scalars become their characters', () => {
    expect(plainText('"a\\n\\u00e9\\ud83d\\ude00"')).toBe('a\né😀');
    expect(plainText('1.50')).toBe('1.50');
    expect(isNull(readRawJson('null'))).toBe(true);
    expect(isNull(readRawJson('"null"'))).toBe(false);
  });
});
