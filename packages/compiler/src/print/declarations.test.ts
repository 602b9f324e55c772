import fc from 'fast-check';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { member, optional, printDeclarations, type TypeDeclaration } from './declarations.ts';
import { stringLiteral } from './text.ts';
import { generic, list, union } from './type.ts';

const print = (types: readonly TypeDeclaration[]): string => printDeclarations(types, 'Record<string, never>');

const plain: TypeDeclaration = {
  kind: 'interface',
  name: 'Plain',
  notes: ['What follows.'],
  members: [member('id', 'string', [null]), optional('a b', union('string', 'null'), ['One.', 'Two\nlines.'])],
};

const plainText = `/** What follows. */
export interface Plain {
  id: string;
  /**
   * One.
   *
   * Two
   * lines.
   */
  'a b'?: string | null;
}
`;

test('an interface is printed with its comments', () => {
  expect(print([plain])).toBe(plainText);
});

test('nothing is printed as nothing', () => {
  expect(print([])).toBe('');
});

test('types stand apart by one empty line, whatever their kind', () => {
  const alias: TypeDeclaration = { kind: 'alias', name: 'A', notes: ['One.'], type: 'string' };
  const empty: TypeDeclaration = { kind: 'interface', name: 'B', notes: [], members: [] };
  expect(print([alias, empty, plain, alias, plain])).toBe(
    [
      '/** One. */\nexport type A = string;\n',
      'export type B = Record<string, never>;\n',
      plainText,
      '/** One. */\nexport type A = string;\n',
      plainText,
    ].join('\n'),
  );
});

test('types too long for their line are laid out as the formatter would', () => {
  const long = ['A'.repeat(60), 'B'.repeat(60)] as const;
  const members = [
    optional('a', union(...long)),
    optional('b', list(union(...long))),
    optional('c', generic('G', ...long)),
    optional('d', 'string'),
  ];
  const text = print([
    { kind: 'alias', name: 'T', notes: [], type: union(...long) },
    { kind: 'interface', name: 'I', notes: [], members },
  ]);
  expect(text).toBe(`export type T =
  | ${long[0]}
  | ${long[1]};

export interface I {
  a?:
    | ${long[0]}
    | ${long[1]};
  b?: readonly (
    | ${long[0]}
    | ${long[1]}
  )[];
  c?: G<
    ${long[0]},
    ${long[1]}
  >;
  d?: string;
}
`);
});

describe('text from outside', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.stringMatching(/^[*/\\'"`${}@\n\r\u2028a ]{0,12}$/),
    fc.stringMatching(/^[\\'"`]{1,3}$/),
    // Letters, some of which are too young for TypeScript to be part of a name.
    fc.stringMatching(/^[\u{1c80}-\u{1c8f}\u{32380}-\u{323c0}\u{a7c0}-\u{a7df}a]{1,3}$/u),
  );
  const literals = fc.uniqueArray(anyText, { minLength: 1, maxLength: 4 });
  const cases = fc.record({ key: anyText, notes: fc.array(anyText, { maxLength: 2 }), literals });

  test('neither adds to the declarations nor moves those that follow', () => {
    fc.assert(
      fc.property(cases, ({ key, notes, literals: values }) => {
        const type = union(...values.map(stringLiteral));
        const members = [member(key, type, notes)];
        const text = print([
          { kind: 'alias', name: 'T', notes, type },
          { kind: 'interface', name: 'I', notes, members },
          plain,
        ]);
        expect(text.endsWith(`}\n\n${plainText}`)).toBe(true);
        expect(declaredIn(text)).toEqual([
          ['T', values],
          ['I', [key]],
          ['Plain', ['id', 'a b']],
        ]);
      }),
    );
  });
});

/** What TypeScript sees: the name of every statement, with its literals or the names of its members. */
function declaredIn(text: string): unknown {
  const source = ts.createSourceFile('types.ts', text, ts.ScriptTarget.Latest);
  return source.statements.map((statement) => {
    if (ts.isInterfaceDeclaration(statement)) {
      return [statement.name.text, statement.members.map(({ name }) => (name && 'text' in name ? name.text : '?'))];
    }
    if (!ts.isTypeAliasDeclaration(statement)) return statement.getText(source);
    const types = ts.isUnionTypeNode(statement.type) ? statement.type.types : [statement.type];
    return [statement.name.text, types.map((type) => literalOf(type))];
  });
}

function literalOf(type: ts.TypeNode): string {
  return ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal) ? type.literal.text : '?';
}
