import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { camelCase, fileName, pascalCase, uniqueNames } from './identifier.ts';
import { shortHash } from './json.ts';

describe('identifiers', () => {
  test.each([
    ['order_lines', 'OrderLines', 'orderLines'],
    ['OrderLines', 'OrderLines', 'orderLines'],
    ['ORDER_LINES', 'OrderLines', 'orderLines'],
    ['HTTPServer', 'HTTPServer', 'httpServer'],
    ['address_1', 'Address_1', 'address_1'],
    ['1st', '_1st', '_1st'],
    ['__proto__', 'Proto', 'proto'],
    ['then', 'Then', 'then_'],
    ['class', 'Class', 'class_'],
    ['äpfel und birnen', 'ÄpfelUndBirnen', 'äpfelUndBirnen'],
    ['日本', '日本', '日本'],
    ['ab', 'Ab', 'ab'],
    ['a_b', 'AB', 'aB'],
    ['ab_cd', 'AbCd', 'abCd'],
    ['a_b_cd', 'ABCd', 'aBCd'],
  ])('%s', (name, pascal, camel) => {
    expect([pascalCase(name), camelCase(name)]).toEqual([pascal, camel]);
  });

  test('are identifiers, whatever the name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        for (const identifier of [pascalCase(name), camelCase(name)]) {
          expect(identifier).toMatch(/^[$_\p{ID_Start}][$\p{ID_Continue}]*$/u);
        }
      }),
    );
  });

  test('of plain names differ when the names do', () => {
    const plain = fc.stringMatching(/^[a-z][a-z0-9]{0,3}(_[a-z0-9]{1,3}){0,3}$/);
    fc.assert(
      fc.property(plain, plain, (a, b) => {
        expect(pascalCase(a) === pascalCase(b)).toBe(a === b);
        expect(camelCase(a) === camelCase(b)).toBe(a === b);
      }),
    );
  });
});

describe('file names', () => {
  test.each(['order_lines', 'OrderLines', '1st', '__proto__'])('%s stays', (name) => {
    expect(fileName(name)).toBe(name);
  });

  test.each(['', '.', '..', '../../etc/passwd', 'a b', 'con', 'NUL', '日本', 'a\u0000b', 'x'.repeat(200)])(
    'a file name that is none: %j',
    (name) => {
      expect(fileName(name)).toMatch(/^\w{0,80}_[0-9a-f]{6}$/);
    },
  );
});

describe('unique names', () => {
  const unique = (...names: readonly string[]) => Object.fromEntries(uniqueNames(names, pascalCase));

  test('the plain one of several that collide keeps the spelling', () => {
    expect(unique('OrderLines', 'order_lines', 'tags')).toEqual({
      OrderLines: expect.stringMatching(/^OrderLines_[0-9a-f]{6}$/),
      order_lines: 'OrderLines',
      tags: 'Tags',
    });
  });

  test('do not depend on the order of the names', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ maxLength: 4 })), (names) => {
        expect(unique(...names.toReversed())).toEqual(unique(...names));
      }),
    );
  });

  test('are unique', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[aA1_ -]{0,4}$/));
    fc.assert(
      fc.property(names, (all) => {
        expect(new Set(uniqueNames(all, pascalCase).values()).size).toBe(all.length);
      }),
    );
  });

  test('are unique where short hashes meet', () => {
    const all = Array.from({ length: 20_000 }, (_, index) => String.fromCodePoint(0x4e00 + index));
    const [pair = []] = [...Map.groupBy(all, (name) => shortHash(name)).values()].filter(({ length }) => length > 1);
    expect(pair.map(fileName)).toEqual(Array(pair.length).fill(fileName(pair[0] ?? '')));
    expect(new Set(uniqueNames(all, fileName).values()).size).toBe(all.length);
    const [first = '', second = ''] = all;
    expect(uniqueNames([first], fileName).get(first)).toBe(fileName(first));
    expect(uniqueNames([first, second], fileName).get(second)).toBe(fileName(second));
  });

  test('stay clear of names that are taken', () => {
    expect(uniqueNames(['a'], pascalCase, undefined, new Set(['A'])).get('a')).toMatch(/^A_[0-9a-f]{6}$/);
  });
});
