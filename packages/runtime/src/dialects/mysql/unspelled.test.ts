import { expect, it } from 'vitest';
import { plainValue, rawColumn } from './json.ts';

const trimmed = `TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM DATE_FORMAT(t0."at", '%Y-%m-%dT%H:%i:%s.%f')))`;

it.each([
  ['CAST(t0."id" AS CHAR(20))', 't0."id" AS "platform: integer"'],
  ['CAST(t12."a ""b"" (c)" AS CHAR(20))', 't12."a ""b"" (c)" AS "platform: integer"'],
  [`DATE_FORMAT(t0."at", '%Y-%m-%dT%H:%i:%s')`, 't0."at" AS "platform: date and time"'],
  [trimmed, 't0."at" AS "platform: date and time"'],
  [`CONCAT(${trimmed}, '+00:00')`, 't0."at" AS "platform: instant"'],
  [`CONCAT(DATE_FORMAT(t0."at", '%Y-%m-%dT%H:%i:%s'), '+00:00')`, 't0."at" AS "platform: instant"'],
  ['CAST(COUNT(*) AS CHAR)', 'COUNT(*) AS "platform: integer"'],
  ['CAST(COUNT(DISTINCT t1.x0) AS CHAR)', 'COUNT(DISTINCT t1.x0) AS "platform: integer"'],
])('leaves %s to the lane', (expression, column) => {
  expect(rawColumn(expression)).toBe(column);
});

it.each([
  't0."id"',
  'CAST(t0."id" AS CHAR)',
  'CAST(CASE WHEN t0."a" THEN t0."id" END AS CHAR(20))',
  'CAST(t0."a" AS CHAR(20)) = CAST(t0."b" AS CHAR(20))',
  'CAST(COUNT(*) AS CHAR(20))',
  `DATE_FORMAT(MIN(t0."at"), '%Y-%m-%dT%H:%i:%s')`,
  `DATE_FORMAT(t0."at", '%Y')`,
  'CAST(AVG(t1.x0) AS CHAR)',
  'CAST(COUNT(*) + 1 AS CHAR)',
])('has %s made by the server', (expression) => {
  expect(rawColumn(expression)).toBeUndefined();
});

it.each([
  ['CAST(t0."id" AS CHAR(20))', '=', 't0."id"'],
  [`CONCAT(${trimmed}, '+00:00')`, '@', 't0."at"'],
  [trimmed, '&', 't0."at"'],
  [`DATE_FORMAT(t0."at", '%Y-%m-%dT%H:%i:%s')`, '&', 't0."at"'],
  ['CAST(AVG(t1.x0 + 0e0) AS CHAR)', '=', 'CAST(AVG(t1.x0 + 0e0) AS CHAR)'],
  ['CAST(COUNT(*) AS CHAR)', '=', 'CAST(COUNT(*) AS CHAR)'],
])('knows that %s holds no mark', (expression, sign, value) => {
  expect(plainValue(expression)).toEqual({ sign, expression: value });
});

it.each([
  'CAST(MIN(t1.x0) AS CHAR)',
  'CAST(t0."name" AS CHAR)',
  't0."name"',
  'CAST(SUM(t1.x0) AS CHAR), CAST(t0."name" AS CHAR)',
  `DATE_FORMAT(MIN(t0."at"), '%Y-%m-%dT%H:%i:%s')`,
])('does not know whether %s holds one', (expression) => {
  expect(plainValue(expression)).toBeUndefined();
});
