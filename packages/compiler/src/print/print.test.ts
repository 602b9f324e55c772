import type { JsonValue } from '@tablewright/runtime/language';
import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { joinChunks } from './chunks.ts';
import { printComment } from './declarations.ts';
import { call, code, printValue, type Value } from './expression.ts';
import { printImports } from './imports.ts';
import { canonicalJson, onlyText, printDocument, printJson, textAt } from './json.ts';
import { stringLiteral } from './text.ts';
import { generic, list, nullable, printTyped, union } from './type.ts';

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[*/\\'"`${}@\n\r\u2028a]{0,12}$/));

describe('string literals', () => {
  test('read back as the text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const source = ts.createSourceFile('a.ts', `(${stringLiteral(text)})`, ts.ScriptTarget.Latest);
        const [statement] = source.statements;
        const expression = statement && ts.isExpressionStatement(statement) ? statement.expression : undefined;
        const inner = expression && ts.isParenthesizedExpression(expression) ? expression.expression : undefined;
        expect(inner && ts.isStringLiteral(inner) ? inner.text : undefined).toBe(text);
      }),
    );
  });

  test.each([
    ["it's", `"it's"`],
    [`it's "both"`, `'it\\'s "both"'`],
    ['a\u2028b\u202e', `'a\\u2028b\\u202e'`],
    ['C:\\', "'C:\\u005c'"],
    ['$'.concat('{x}'), `'\\u0024{x}'`],
  ])('%j', (text, expected) => {
    expect(stringLiteral(text)).toBe(expected);
  });
});

describe('comments', () => {
  test('hold nothing but the comment, whatever the text', () => {
    fc.assert(
      fc.property(fc.array(anyText), (notes) => {
        const source = ts.createSourceFile('a.ts', `${printComment(notes, 2)}x;`, ts.ScriptTarget.Latest);
        expect(source.statements.map((statement) => statement.getText(source))).toEqual(['x;']);
      }),
    );
  });

  test('have no tags and no suppressions', () => {
    const text = printComment(['@deprecated {@link x}', '@ts-ignore', 'biome-ignore lint: x', 'mail a@b.example'], 0);
    expect(text).toContain('\\@deprecated {\\@link x}');
    expect(text).not.toMatch(/@ts-|biome-ignore/);
    expect(text).toContain('a@b.example');
  });

  test('are left out when nobody wrote anything', () => {
    expect(printComment([null, ' \n'], 0)).toBe('');
  });
});

describe('values', () => {
  const print = (value: Value): string => printValue(value, 0, 0, 0);

  test('stand on one line while they fit', () => {
    expect(print({ a: [1, 'b', null], 'c d': true, e: undefined })).toBe("{ a: [1, 'b', null], 'c d': true }");
  });

  test('break one element per line', () => {
    expect(print(['a'.repeat(70), 'b'.repeat(70)])).toBe(`[\n  '${'a'.repeat(70)}',\n  '${'b'.repeat(70)}',\n]`);
  });

  test('several objects always stand one per line', () => {
    expect(
      print([
        { a: 1, b: 2 },
        { a: 3, b: 4 },
      ]),
    ).toBe('[\n  { a: 1, b: 2 },\n  { a: 3, b: 4 },\n]');
  });

  test('never set a prototype', () => {
    expect(print(JSON.parse('{"__proto__": 1}'))).toBe("{ ['__proto__']: 1 }");
  });

  test('calls break their arguments', () => {
    const value = [call('list', 'x'.repeat(120), code('y'))];
    expect(printValue(value, 0, 0, 0)).toBe(`[\n  list(\n    '${'x'.repeat(120)}',\n    y,\n  ),\n]`);
  });
});

describe('types', () => {
  test('say nothing twice', () => {
    expect(printTyped('a', ':', nullable(union('string', 'null', 'string')), 0)).toBe(': string | null');
  });

  test('break long unions, lists and arguments', () => {
    const long = ['A'.repeat(60), 'B'.repeat(60)] as const;
    expect(printTyped('a', ':', union(...long), 2)).toBe(`:\n    | ${long[0]}\n    | ${long[1]}`);
    expect(printTyped('a', ':', list(union(...long)), 2)).toBe(
      `: readonly (\n    | ${long[0]}\n    | ${long[1]}\n  )[]`,
    );
    expect(printTyped('a', ':', generic('G', ...long), 2)).toBe(`: G<\n    ${long[0]},\n    ${long[1]}\n  >`);
  });
});

test('imports are sorted as the linter sorts them', () => {
  const from = [
    './b10.ts',
    './b2.ts',
    './b_1.ts',
    './b.ts',
    '../x.ts',
    '@tablewright/runtime',
    './1.ts',
    './_.ts',
    './B.ts',
  ];
  const sorted = printImports(from.map((name) => ({ from: name, names: ['b', 'type C', 'A'] })));
  expect([...sorted.matchAll(/from '(.*)'/g)].map(([, name]) => name)).toEqual([
    '@tablewright/runtime',
    '../x.ts',
    './_.ts',
    './1.ts',
    './B.ts',
    './b.ts',
    './b_1.ts',
    './b2.ts',
    './b10.ts',
  ]);
  expect(sorted).toContain('import { A, b, type C } from');
});

describe('JSON', () => {
  test('reads back as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(printJson(plain))).toEqual(plain);
        expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
      }),
    );
  });

  test('is canonical: the order of keys does not matter', () => {
    expect(canonicalJson({ b: 1, a: [{ d: 1, c: undefined }] })).toBe('{"a":[{"d":1}],"b":1}');
  });
});

describe('documents', () => {
  const printed = (value: JsonValue, levels: number): string => joinChunks(printDocument(value, { levels }));

  test('read back as the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(4), (value, levels) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(printed({ properties: plain, plain }, levels))).toEqual({ properties: plain, plain });
      }),
    );
  });

  test('stand open near their top and where there are properties, and on one line elsewhere', () => {
    const schema = { type: 'object', properties: { a: { type: ['string', 'null'] }, b: { properties: { c: {} } } } };
    const document = { paths: { '/a': [{ b: { c: 1 } }, []] }, one: { type: { more: [1] } }, schema, none: {} };
    expect(printed(document, 3).split('\n')).toEqual([
      '{',
      '  "paths": {',
      '    "/a": [',
      '      {"b":{"c":1}},',
      '      []',
      '    ]',
      '  },',
      '  "one": {',
      '    "type": {',
      '      "more": [1]',
      '    }',
      '  },',
      '  "schema": {',
      '    "type": "object",',
      '    "properties": {',
      '      "a": {"type":["string","null"]},',
      '      "b": {',
      '        "properties": {',
      '          "c": {}',
      '        }',
      '      }',
      '    }',
      '  },',
      '  "none": {}',
      '}',
      '',
    ]);
  });

  test('are made of texts of their parts, at one indentation only', () => {
    const part = { a: { b: [1, { c: 2 }] }, properties: { d: {} } };
    for (const levels of [2, 3, 4]) {
      const text = onlyText(textAt(part, 4, { levels }), 4);
      expect(printed([[text, text]], levels)).toBe(printed([[part, part]], levels));
    }
    expect(() => printed([onlyText('{}', 4)], 2)).toThrow('elsewhere');
  });
});
