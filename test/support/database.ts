/** What a test file of the vitest project `database` needs; the server is started once per run by global-setup.ts. */
import { inject } from 'vitest';
import { createCopyOn, createDatabaseOn, type TestDatabase } from './postgres.ts';

export { loadDump, type TestDatabase, withClient } from './postgres.ts';

/** Makes a database of this test file's own. Drop it in `afterAll`: `const db = await createDatabase(sql)`. */
export function createDatabase(sql?: string): Promise<TestDatabase> {
  return createDatabaseOn(inject('postgresUrl'), sql);
}

/** The same with what `fill` puts there, by its name: a copy of what is made once in a worker, which takes half as long. */
export async function createFilledDatabase(
  contents: string,
  fill: (url: string) => Promise<unknown>,
): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  if (process.env.POSTGRES_URL === undefined) return createCopyOn(serverUrl, contents, fill);
  // On a server of somebody else, the database that others are copied from would stay.
  const database = await createDatabaseOn(serverUrl);
  await fill(database.url);
  return database;
}
