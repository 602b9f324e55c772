/** The platform's own tables in a database of a test's own. */
import { type MigrateOptions, type Migration, type MigrationConnection, migrate } from '@platform/runtime';
import type pg from 'pg';
import { withClient } from './database.ts';

/** What migrations need of a client. */
export function migrationConnection(client: pg.Client): MigrationConnection {
  return {
    async query(text, parameters) {
      const result = await client.query<(string | null)[]>({
        text,
        values: [...parameters],
        rowMode: 'array',
        types: { getTypeParser: () => (value: string) => value },
      });
      return result.rows;
    },
    script: async (text) => void (await client.query(text)),
  };
}

/** Installs them, in the schema `platform` unless another is named. */
export function installSystem(url: string, options: MigrateOptions = {}): Promise<readonly Migration[]> {
  return withClient(url, (client) => migrate(migrationConnection(client), options));
}
