/** The sample as a database of a test's own, and the platform over it. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { dataSql } from '../../fixtures/magazine/data.ts';
import { createFilledDatabase, type TestDatabase, withClient } from './database.ts';
import { startBothLanes } from './lanes.ts';
import { createProject, type Platform } from './platform.ts';
import { type CountingProxy, countStatements } from './proxy.ts';

const schemaFile = fileURLToPath(new URL('../../fixtures/magazine/database.postgres.sql', import.meta.url));

/** The sample served for one test file. */
export interface Magazine extends Platform {
  readonly database: TestDatabase;
  /** Folder of the project, with `generated/` in it. */
  readonly folder: string;
  /** Counts the statements that the server sends. */
  readonly statements: CountingProxy;
  /** Stops the server and removes database and project. */
  close(): Promise<void>;
}

/** A database with the magazine's schema and its data at factor 1. */
export function createMagazineDatabase(): Promise<TestDatabase> {
  return createFilledDatabase('magazine', (url) =>
    withClient(url, async (client) => {
      await client.query(await readFile(schemaFile, 'utf8'));
      for (const statement of dataSql(1)) await client.query(statement);
    }),
  );
}

/** Changes the sample before it is compiled. */
export type Prepare = (folder: string, database: TestDatabase) => Promise<void>;

/** Compiles and serves the magazine over a database of its own; `alone` in processes of its own, as the command does. */
export async function startMagazine(
  environment: Readonly<Record<string, string>> = {},
  prepare: Prepare = async () => undefined,
  alone = false,
): Promise<Magazine> {
  const database = await createMagazineDatabase();
  const project = await createProject('fixtures/magazine');
  await prepare(project.folder, database);
  const statements = await countStatements(database.url);
  const platform = await startBothLanes({
    folder: project.folder,
    databaseUrl: statements.url,
    directUrl: database.url,
    environment,
    alone,
  });
  return {
    ...platform,
    database,
    folder: project.folder,
    statements,
    async close() {
      await platform.stop();
      await statements.close();
      await Promise.all([database.drop(), project.remove()]);
    },
  };
}
