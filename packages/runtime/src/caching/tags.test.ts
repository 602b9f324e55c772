import { expect, it } from 'vitest';
import type { Database, Statement, TableChange, Transaction } from '../database/database.ts';
import type { CachedTables } from '../language/index.ts';
import { createTags, watchChanges } from './tags.ts';

const tags = createTags('a secret of this test');
const caching = {
  ...{ derived: [], unbounded: ['"u"'] },
  cascades: { '"a"': ['"b"', '"c"'], '"d"': ['"u"'] },
  keyCascades: { '"a"': ['"b"'] },
};
const sink = { row: () => {} };

const statement = (text: string, facts: Partial<Statement> = {}): Statement => ({ name: '', text, ...facts });
const write = (table: string, kind: TableChange['kind']): Statement =>
  statement('UPDATE', { changes: [{ table, kind }], tables: [table] });

/** A database with one transaction that all share, whose COMMIT ends as it is told. */
function openShared(failure?: Error, tables: CachedTables = caching) {
  const transaction: Transaction = { run: async () => {}, identify() {} };
  const told: string[][] = [];
  const attempt = async <T>(work: (shared: Transaction) => Promise<T>): Promise<T> => {
    const value = await work(transaction);
    if (failure !== undefined) throw failure;
    return value;
  };
  const database = {
    transaction: async (work) => (await attempt(work)).value,
    briefTransaction: attempt,
  } as Pick<Database, 'transaction' | 'briefTransaction'> as Database;
  return {
    told,
    database: watchChanges(database, { caching: tables, tags, changed: (changed) => told.push([...changed]) }),
  };
}

async function tagsAfter(...statements: readonly Statement[]): Promise<readonly string[]> {
  const { database, told } = openShared();
  await database.transaction(async (transaction) => {
    for (const each of statements) await transaction.run(each, [], sink);
    return { value: null };
  });
  return told.flat();
}

it('tells of tables, and of what the database changes with them', async () => {
  const { any, all } = tags;
  expect(await tagsAfter(write('"a"', 'create'))).toEqual([any, tags.table('"a"')]);
  expect(await tagsAfter(write('"a"', 'update'))).toEqual([any, tags.table('"a"'), tags.items('"a"')]);
  const withOthers = (...others: readonly string[]) => {
    const followed = others.flatMap((table) => [tags.table(table), tags.items(table)]);
    return [any, tags.table('"a"'), ...followed, tags.items('"a"')];
  };
  expect(await tagsAfter(write('"a"', 'delete'))).toEqual(withOthers('"b"', '"c"'));
  expect(await tagsAfter(write('"a"', 'key'))).toEqual(withOthers('"b"'));
  for (const change of [write('"u"', 'create'), write('"d"', 'delete'), write('*', 'update')]) {
    expect(await tagsAfter(change)).toEqual([all]);
  }
});

it('takes files of before, in which one list is for removals and changed keys', async () => {
  const { keyCascades: _, ...before } = caching;
  const { database, told } = openShared(undefined, before);
  await database.briefTransaction((transaction) => transaction.run(write('"a"', 'key'), [], sink));
  expect(told.flat()).toContain(tags.items('"c"'));
});

it('tells nothing of reads, and of a statement that does not say what it changes that it changes all of its tables', async () => {
  expect(await tagsAfter(statement('SELECT 1', { tables: ['"a"'] }))).toEqual([]);
  expect(await tagsAfter(statement('WITH w AS (…) SELECT 1', { tables: ['"a"'] }))).toContain(tags.items('"a"'));
  expect(await tagsAfter(statement('UPDATE platform_sessions'))).toEqual([]);
});

it('names items only where every request of a shared transaction does', async () => {
  const run = async (named: readonly (string | null)[]) => {
    const { database, told } = openShared();
    await Promise.all(
      named.map((key) =>
        database.briefTransaction(async (transaction) => {
          transaction.names?.(key === null ? null : { table: '"a"', keys: [key] });
          await transaction.run(write('"a"', 'update'), [], sink);
        }),
      ),
    );
    return new Set(told.flat());
  };
  const both = await run(['1', '2']);
  expect([tags.item('"a"', '1'), tags.item('"a"', '2')].every((tag) => both.has(tag))).toBe(true);
  expect(both.has(tags.items('"a"'))).toBe(false);
  expect((await run(['1', null])).has(tags.items('"a"'))).toBe(true);
});

it('tells of a transaction whose end is not known', async () => {
  const { database, told } = openShared(new Error('lost'));
  const work = async (transaction: Transaction) => {
    await transaction.run(write('"a"', 'create'), [], sink);
    return { value: null };
  };
  await expect(database.transaction(work)).rejects.toThrow('lost');
  expect(told).toEqual([[tags.any, tags.table('"a"')]]);
});
