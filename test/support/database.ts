/** What a test file of the vitest project `database` needs; the server is started once per run by global-setup.ts. */
import { inject } from 'vitest';
import { createDatabaseOn, type TestDatabase } from './postgres.ts';

export { loadDump, type TestDatabase, withClient } from './postgres.ts';

/** Makes a database of this test file's own. Drop it in `afterAll`: `const db = await createDatabase(sql)`. */
export function createDatabase(sql?: string): Promise<TestDatabase> {
  return createDatabaseOn(inject('postgresUrl'), sql);
}
