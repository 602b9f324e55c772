import { expect, test } from 'vitest';
import { createStatement } from './statement.ts';

test('equal binders of equal type share a parameter', () => {
  const statement = createStatement(new Map());
  const one = statement.parameter({ kind: 'fixed', value: 'a' }, 'text');
  expect(statement.parameter({ kind: 'fixed', value: 'a' }, 'text')).toBe(one);
  expect(statement.parameter({ kind: 'fixed', value: 'a' }, 'varchar')).not.toBe(one);
});

test('parameters that the text does not use are dropped, the others numbered in its order', () => {
  const statement = createStatement(new Map());
  statement.table('"public"."articles"');
  const [a, , c] = ['a', 'b', 'c'].map((value) => statement.parameter({ kind: 'fixed', value }, 'text'));
  expect(statement.finish(`SELECT ${c}, ${a}, ${c}`)).toMatchObject({
    text: 'SELECT $1::text, $2::text, $1::text',
    tables: ['"public"."articles"'],
    binders: [
      { kind: 'fixed', value: 'c' },
      { kind: 'fixed', value: 'a' },
    ],
  });
});

test('names and literals that look like placeholders are left alone', () => {
  const statement = createStatement(new Map());
  statement.parameter({ kind: 'fixed', value: 'unused' }, 'text');
  const a = statement.parameter({ kind: 'fixed', value: 'a' }, 'text');
  const text = `SELECT t0."$1""$2", '$1''$2' FROM "x$2" t0 WHERE t0."$2" = ${a}`;
  expect(statement.finish(text).text).toBe(`SELECT t0."$1""$2", '$1''$2' FROM "x$2" t0 WHERE t0."$2" = $1::text`);
});
