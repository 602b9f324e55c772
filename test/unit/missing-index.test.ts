/** What `platform explain` says of indexes: whatever a server adds to a condition, what was asked needs one. */
import { expect, test } from 'vitest';
import { withoutIndex } from '../../packages/cli/src/sources/missing-index.ts';
import { columnOf, tableOf, typeOf } from '../../packages/compiler/src/testing/build-schema.ts';

const text = typeOf('text', 'text');
const table = tableOf('authors', [columnOf('id', text), columnOf('name', text)], {
  primaryKey: { name: 'p', columns: ['id'], deferrable: false, nullsNotDistinct: false },
});

function columnsOf(condition: string): readonly (readonly string[])[] {
  return withoutIndex([{ table, alias: 't1', condition }]).map(({ columns }) => columns);
}

test('that the key is not null, which a server adds, hides no missing index', () => {
  expect(columnsOf(`t1."name" = 'Ann'`)).toEqual([['name']]);
  expect(columnsOf(`t1."name" = 'Ann' and t1."id" is not null`)).toEqual([['name']]);
  expect(columnsOf("(`shop`.`t1`.`name` = 'Ann') and (`shop`.`t1`.`id` is not null)")).toEqual([['name']]);
});

test('a condition that an index serves misses none', () => {
  expect(columnsOf(`t1."name" = 'Ann' and t1."id" > 5`)).toEqual([]);
  expect(columnsOf('t1."id" is not null')).toEqual([]);
});
