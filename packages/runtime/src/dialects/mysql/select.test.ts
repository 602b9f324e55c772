import { expect, test } from 'vitest';
import { mysql } from './select.ts';

const id = 'CAST(t0."id" AS CHAR(20))';

test('a column that may be null is told apart from an empty one', () => {
  const values = [
    { expression: id, nested: false },
    { expression: 't0."name"', nested: false },
  ];
  expect(mysql.record(values)).toBe(
    `CONCAT(_binary'(', IFNULL(CONCAT('=', t0."id", ';'), '~'), IFNULL(CONCAT(LENGTH(t0."name"), ':', t0."name"), '~'), ')')`,
  );
});

test('a column that is never null stands among the arguments of the record', () => {
  const values = [
    { expression: id, nested: false, present: true },
    { expression: 't0."name"', nested: false, present: true },
  ];
  expect(mysql.record(values)).toBe(`CONCAT(_binary'(', '=', t0."id", ';', LENGTH(t0."name"), ':', t0."name", ')')`);
});

test('what is made of a column may be null all the same', () => {
  const expression = 'CONVERT(t0."name" USING utf8mb4)';
  expect(mysql.record([{ expression, nested: false, present: true }])).toBe(
    mysql.record([{ expression, nested: false }]),
  );
});

test('a record within a record is told as missing where it is', () => {
  expect(mysql.record([{ expression: '(SELECT 1)', nested: true, present: true }])).toBe(
    `CONCAT(_binary'(', IFNULL((SELECT 1), '~'), ')')`,
  );
});
