import type { Table } from '@tablewright/introspect/schema';
import { expect, test } from 'vitest';
import { withoutIndex } from './missing-index.ts';

const key = { name: 'k', columns: ['id'] };
const words = "(to_tsvector('english'::regconfig, ((title || ' '::text) || body)))";
const index = { name: 'w', method: 'gin', columns: [words], include: [], unique: false, predicate: null };
const columns = ['id', 'title', 'body'].map((name) => ({ name }));
const table = { id: 'public.texts', columns, primaryKey: key, uniques: [], indexes: [index] } as unknown as Table;
const missing = (condition: string) => withoutIndex([{ table, alias: 't0', condition }]).map((found) => found.columns);

test('an index of an expression serves conditions on it', () => {
  const asked = "(to_tsvector('english'::regconfig, ((t0.title || ' '::text) || t0.body)) @@ '''harbour'''::tsquery)";
  expect(missing(asked)).toEqual([]);
  expect(missing(asked.replace('english', 'dutch'))).toEqual([['title', 'body']]);
  expect(missing("(t0.body = 'x'::text)")).toEqual([['body']]);
  expect(missing('(t0.id > 3)')).toEqual([]);
});

test('what leaves archived items out needs no index', () => {
  const archiving = { ...table, columns: [...columns, { name: 'gone' }], archived: 'gone' } as unknown as Table;
  const lacking = (condition: string) =>
    withoutIndex([{ table: archiving, alias: 't0', condition }]).map((found) => found.columns);
  for (const live of [
    '(t0.gone IS NULL)',
    "((t0.gone IS NULL) OR ((t0.gone)::text <> 'yes'::text))",
    '(`shop`.`t0`.`gone` is null)',
    "((`t0`.`gone` is null) or (`t0`.`gone` <> 'yes'))",
    "t0.gone is null or t0.gone <> 'yes'",
  ]) {
    expect(lacking(live)).toEqual([]);
    expect(lacking(`(${live} AND (t0.body = 'x'))`)).toEqual([['body']]);
    expect(withoutIndex([{ table, alias: 't0', condition: live }])).toHaveLength(1);
  }
  expect(lacking("(t0.gone = 'yes')")).toEqual([['gone']]);
  expect(lacking('(t0.gone IS NOT NULL)')).toEqual([['gone']]);
});
