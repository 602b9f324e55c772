import { parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { hostileTexts } from '../testing/hostile.ts';
import { sdlString, sdlType, sdlUnion } from './sdl.ts';

/** The description that GraphQL reads of a type. */
function noteOf(note: string): string | undefined {
  const { definitions } = parse(sdlType('type', 'a', [{ name: 'b', type: 'Int' }], note));
  const [first] = definitions;
  return first?.kind === 'ObjectTypeDefinition' ? first.description?.value : undefined;
}

describe('texts', () => {
  it.each(hostileTexts.filter((text) => text !== ''))('are read as they are: %j', (text) => {
    expect(noteOf(text)).toBe(text);
  });

  it('hold nothing that does not print', () => {
    expect(sdlString('a\u202eb\u0000c\u2028\ud800"\\')).toBe('"a\\u202eb\\u0000c\\u2028\ufffd\\"\\\\"');
  });

  it('are one line', () => {
    expect(sdlString('a\r\nb')).toBe('"a\\r\\nb"');
  });
});

describe('fields', () => {
  const wide = ['filter', 'sort', 'limit', 'offset'].map((name) => ({ name, type: `type_of_an_argument_${name}` }));

  it('stand on one line with all of their arguments', () => {
    const names = wide.map(({ name, type }) => `${name}: ${type}`).join(', ');
    expect(sdlType('type', 'a', [{ name: 'b', type: 'Int', args: wide }])).toBe(`type a {\n  b(${names}): Int\n}\n`);
  });

  it('say that they are deprecated', () => {
    const fields = ['', 'Use c.', 'x'.repeat(90), 'y'.repeat(120)].map((deprecated, index) => ({
      name: `a_name_of_a_field_${index}`,
      type: 'Int',
      deprecated,
    }));
    const printed = sdlType('type', 'a', fields);
    expect(printed.split('\n').slice(1, 3)).toEqual([
      '  a_name_of_a_field_0: Int @deprecated',
      '  a_name_of_a_field_1: Int @deprecated(reason: "Use c.")',
    ]);
    expect(print(parse(printed)).match(/@deprecated/g)).toHaveLength(4);
  });

  it('are never none', () => {
    expect(sdlType('input', 'a', [])).toBe('input a {\n  _empty: Void\n}\n');
  });
});

it('prints a union on lines where one is too short', () => {
  expect(sdlUnion('u', ['a', 'b'])).toBe('union u = a | b\n');
  expect(sdlUnion('u', ['a'.repeat(60), 'b'.repeat(60)])).toBe(
    `union u =\n  | ${'a'.repeat(60)}\n  | ${'b'.repeat(60)}\n`,
  );
});
