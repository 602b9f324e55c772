import { describe, expect, test } from 'vitest';
import { type ListKind, readAllowedValues } from './checks.ts';

/** Reads a check; each column in it is of the kind. */
function read(expression: string, kind: ListKind | null = 'text'): unknown {
  return readAllowedValues(expression, () => kind);
}

describe('lists', () => {
  test.each([
    ["(s = ANY (ARRAY['a'::text, 'b'::text]))", 's', ['a', 'b']],
    ["((s)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))", 's', ['a', 'b']],
    ["((s)::text = ANY (ARRAY[('a'::character varying)::text, ('b'::character varying)::text]))", 's', ['a', 'b']],
    ['(s = ANY (ARRAY[\'a\'::public.status, \'b\'::"Odd.Schema"."Enum Type"]))', 's', ['a', 'b']],
    ["(s = ANY ('{a,b}'::text[]))", 's', ['a', 'b']],
    ["((s = 'a'::text) OR (s = 'b'::text) OR (s IS NULL))", 's', ['a', 'b']],
    ["((s IS NOT NULL) AND (s = ANY (ARRAY['a'::text, 'b'::text])))", 's', ['a', 'b']],
    ["((s = ANY (ARRAY['a'::text, 'b'::text])) AND (s = ANY (ARRAY['b'::text, 'c'::text])))", 's', ['b']],
    ["(((s = 'a'::text) AND (other IS NULL) AND (n > 1)) OR ((third IS NULL) AND (s = 'b'::text)))", 's', ['a', 'b']],
    ["((s = 'a'::text) OR ((other IS NULL) AND (s IS NULL)))", 's', ['a']],
    ['("say ""hi""" = \'it\'\'s\'::text)', 'say "hi"', ["it's"]],
    ['("VALUE" = \'a\'::text)', 'VALUE', ['a']],
    ["(VALUE = 'a'::text)", null, ['a']],
    ["(s = ANY (ARRAY['a'::text, 'a'::text]))", 's', ['a']],
    ["(s = 'a\\b'::text)", 's', ['a\\b']],
    ["(s = 'AND (s = 1)'::text)", 's', ['AND (s = 1)']],
  ])('%s', (expression, column, values) => {
    expect(read(expression)).toEqual({ column, values });
  });

  test.each([
    ['(n = ANY (ARRAY[1, 2, 3]))', ['1', '2', '3']],
    ["(n = ANY (ARRAY[1, '-2'::integer, (-3)]))", ['1', '-2', '-3']],
    ["(n = ANY (ARRAY[(1)::bigint, '9007199254740993'::bigint]))", ['1', '9007199254740993']],
  ])('of whole numbers: %s', (expression, values) => {
    expect(read(expression, 'integer')).toEqual({ column: 'n', values });
  });
});

describe('no lists', () => {
  test.each([
    '(s <> ALL (ARRAY[1, 2]))',
    '(length(s) > 3)',
    "(lower(s) = 'a'::text)",
    "((s = 'a'::text) OR (other = 'b'::text))",
    "((s = 'a'::text) OR (n > 1))",
    "((s = 'a'::text) AND (other = 'b'::text))",
    "((s = 'a'::text) OR ((s IS NULL) AND (other IS NULL)) OR (other IS NULL))",
    "((s = 'a'::text) OR (other IS NULL))",
    "((s = 'a'::text) OR ((other IS NULL) AND (s IS NOT NULL)))",
    "(((s)::text = 'a'::text) OR ((s = 'b'::text) IS NULL))",
    "(s = ANY (ARRAY['a'::text, NULL::text]))",
    "(s = ANY ('{a,NULL}'::text[]))",
    "(s = ANY (ARRAY['abc'::character varying(2)]))",
    "((s)::character varying(1) = 'a'::text)",
    "(s = ('2020-1-1'::date)::text)",
    "(s OPERATOR(public.=) 'a'::text)",
    '((s)::integer = ANY (ARRAY[1, 2]))',
    "(s = ('a'::text || 'b'::text))",
    "(NOT (s = 'a'::text))",
    '(s IS NULL)',
    "(s = 'a'::text",
    'true',
    '',
    "(CURRENT_USER = 'a'::name)",
    `${'('.repeat(50_000)}s = 'a'::text${')'.repeat(50_000)}`,
  ])('%s', (expression) => {
    expect(read(expression)).toBeNull();
  });

  test('of a type that compares otherwise', () => {
    expect(read("(s = ANY (ARRAY['a'::text]))", null)).toBeNull();
    expect(read('(n = ANY (ARRAY[1.5, 2]))', 'integer')).toBeNull();
  });
});
