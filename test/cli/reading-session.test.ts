/** The connection of commands that only read. */
import { expect, test } from 'vitest';
import { openPostgres } from '../../packages/cli/src/sources/postgres/source.ts';
import { createDatabase } from '../support/database.ts';

test('it cannot write, and compiles no statement about the catalog', async () => {
  const database = await createDatabase('CREATE TABLE notes (id int PRIMARY KEY)');
  const source = await openPostgres(database.url, false);
  try {
    expect(await source.run('SHOW jit', [])).toEqual([['off']]);
    const statement = { name: '', text: 'SHOW jit', tables: [] };
    expect(await source.read(statement, [], '', ['enable_seqscan = off'])).toEqual([['off']]);
    await expect(source.run('INSERT INTO notes VALUES (1)', [])).rejects.toThrow('read-only transaction');
  } finally {
    await source.close();
    await database.drop();
  }
});
