import { expect, it } from 'vitest';
import type { Database, RowSink } from '../../database/database.ts';
import { observeDatabase } from '../../database/observed.ts';
import { CollectionSeries } from './measured.ts';
import { operationName, StatementMetrics, tableName } from './statement-metrics.ts';

it.each([
  ['SELECT 1', 'SELECT'],
  ['  (select 1)', 'SELECT'],
  ['INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1', 'INSERT'],
  ['UPDATE a SET b = 1', 'UPDATE'],
  ['WITH rows AS (SELECT 1 FROM a FOR UPDATE) SELECT * FROM rows', 'SELECT'],
  ['WITH rows AS (SELECT 1 FROM a FOR NO KEY UPDATE OF a) SELECT * FROM rows', 'SELECT'],
  ['WITH rows AS (SELECT 1 FROM a FOR UPDATE) UPDATE a SET b = 1', 'UPDATE'],
  ["WITH rows AS (SELECT \"INSERT\", 'it''s DELETE' FROM `UPDATE`) SELECT 1", 'SELECT'],
  ['WITH made AS (INSERT INTO a VALUES (1) ON CONFLICT DO UPDATE SET b = 1 RETURNING *) SELECT * FROM made', 'INSERT'],
  ['WITH gone AS (DELETE FROM a RETURNING *) SELECT * FROM gone', 'DELETE'],
  ['SAVEPOINT a', 'SAVEPOINT'],
  ['', ''],
])('%s is %s', (text, name) => expect(operationName(text)).toBe(name));

it.each([
  [['"public"."docs"', '"public"."others"'], 'docs'],
  [['"a"".b"."c""d"'], 'c"d'],
  [['`shop`.`docs`'], 'docs'],
  [['docs'], 'docs'],
  [undefined, ''],
])('%j is %s', (tables, name) => expect(tableName(tables === undefined ? {} : { tables })).toBe(name));

it('tables beyond the bound share one child', () => {
  const metrics = new StatementMetrics('name of the server', new CollectionSeries(20, () => undefined));
  for (const table of ['"a"', '"b"', '"c"']) metrics.ran({ text: 'SELECT 1', tables: [table] }, 0.001, '');
  const counts = metrics.read()[0]?.values.filter(({ metricName }) => metricName?.endsWith('_count'));
  expect(counts?.map(({ labels, value }) => [labels.db_collection_name, value])).toEqual([
    ['a', 1],
    ['_other', 2],
  ]);
});

it('a read counts once: at its end, or when it fails', async () => {
  const times: (readonly [number, string])[] = [];
  const meter = {
    ran: (_: object, seconds: number, errorType: string) => void times.push([seconds, errorType]),
    retried() {},
  };
  const statement = { name: 'a', text: 'SELECT 1' };
  const sink: RowSink = { row() {} };
  const observed = (read: Database['read']) =>
    observeDatabase({ read } as Database, { meter, slow: null }).read(statement, [], sink);
  const startedAt = performance.now();
  await observed(async (_statement, _parameters, run) => {
    await undefined;
    run.end?.(startedAt + 2_000);
  });
  expect(times).toEqual([[expect.closeTo(2, 0), '']]);
  const failure = observed(() => Promise.reject(new Error('lost')));
  await expect(failure).rejects.toThrow('lost');
  expect(times.map(([, errorType]) => errorType)).toEqual(['', 'other']);
});
