/** The sample as a database of a test's own, and the platform over it. */
import { rmSync } from 'node:fs';
import { cp, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { dataSql } from '../../fixtures/magazine/data.ts';
import { createFilledDatabase, type TestDatabase, withClient } from './database.ts';
import { generateHosted } from './host.ts';
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

let compiled: Promise<string> | undefined;

/** The folder of the sample as it is compiled, once in a worker: it is the same over each database of that schema. */
async function compileMagazine(databaseUrl: string): Promise<string> {
  const { folder } = await createProject('fixtures/magazine');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await generateHosted(folder, databaseUrl);
  return folder;
}

/**
 * Serves the magazine over a database of its own, compiled anew where something is changed before; `alone` in processes of
 * its own, as the command does.
 */
export async function startMagazine(
  environment: Readonly<Record<string, string>> = {},
  prepare?: Prepare,
  alone = false,
): Promise<Magazine> {
  const database = await createMagazineDatabase();
  const project = await createProject(prepare && 'fixtures/magazine');
  await prepare?.(project.folder, database);
  if (prepare === undefined) {
    compiled ??= compileMagazine(database.url);
    await cp(await compiled, project.folder, { recursive: true });
  }
  const statements = await countStatements(database.url);
  const platform = await startBothLanes({
    folder: project.folder,
    databaseUrl: statements.url,
    directUrl: database.url,
    environment,
    alone,
    isCompiled: prepare === undefined,
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
