/**
 * A server refuses the platform's own tables of a later version; it works with older ones, and reports the parts that
 * they lack.
 */

import type { Database } from '../database/database.ts';
import { type CompiledApi, dialectFacts } from '../language/index.ts';
import type { Log } from '../operate/log.ts';
import { MigrationError } from '../system/errors.ts';
import { systemSchemaOf } from '../system/schema.ts';
import { type MigrationState, readMigrations } from './migrate.ts';

/**
 * Rejects with a `MigrationError` where the tables are newer than this version. Resolves to whether that is known: false
 * while the database does not answer.
 */
export async function refuseNewerTables(
  api: Pick<CompiledApi, 'collections' | 'dialect'>,
  database: Pick<Database, 'query'>,
  log: Pick<Log, 'warn'>,
): Promise<boolean> {
  const schema = systemSchemaOf(api);
  if (schema === null) return true;
  const state = await readState(database, api.dialect, schema);
  const pending = state?.pending ?? [];
  if (pending.length > 0) {
    const names = pending.map(({ id, name }) => `${id} ${name}`);
    log.warn({ pending: names }, 'The tables of the platform are older than this version. Run `platform migrate`.');
  }
  return state !== null;
}

/** Null where the ledger cannot be read, for a lack of rights or of a database: requests say that better. */
async function readState(
  { query }: Pick<Database, 'query'>,
  dialect: CompiledApi['dialect'],
  schema: string,
): Promise<MigrationState | null> {
  const name = schema.replace(/^"|"$/g, '').replaceAll('""', '"');
  try {
    return await readMigrations({ query, family: dialectFacts[dialect].family }, name === '' ? {} : { schema: name });
  } catch (error) {
    if (error instanceof MigrationError && error.problem === 'ahead') throw error;
    return null;
  }
}
