/** The platform with its own tables over a database that is only reached through a proxy that does harm. */
import pg from 'pg';
import { createDatabase, type TestDatabase, withClient } from './database.ts';
import { emptyingQuickly } from './empty-tables.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { generateHosted } from './host.ts';
import { createProject, type Platform, startPlatform } from './platform.ts';
import { installSystem } from './system.ts';

/** A server behind which connections break. */
export interface FaultyPlatform {
  readonly database: TestDatabase;
  readonly proxy: FaultProxy;
  /** The server that runs now. */
  platform(): Platform;
  /** Ends the server at once, as a crash does, and starts another. */
  crash(): Promise<void>;
  /** Runs SQL past the proxy; one array per row. */
  rows(sql: string): Promise<unknown[][]>;
  close(): Promise<void>;
}

/** Makes a database of SQL, installs the platform's tables and serves it. */
export async function startFaulty(
  sql: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<FaultyPlatform> {
  const database = await createDatabase();
  await installSystem(database.url);
  await withClient(database.url, (client) => client.query(sql));
  const proxy = await startFaultProxy(database.url);
  const project = await createProject();
  await generateHosted(project.folder, proxy.url);
  let platform = await startPlatform(project.folder, proxy.url, environment, []);
  // One connection for all that a test looks at: opening one takes longer than most of what is asked.
  const aside = new pg.Client({ connectionString: database.url });
  await aside.connect();
  return {
    database,
    proxy,
    platform: () => platform,
    async crash() {
      process.kill(platform.pid, 'SIGKILL');
      await platform.ended;
      platform = await startPlatform(project.folder, proxy.url, environment, []);
    },
    rows: async (text) => (await aside.query({ text: emptyingQuickly(text), rowMode: 'array' })).rows,
    async close() {
      await platform.stop();
      await aside.end();
      await proxy.close();
      await Promise.all([database.drop(), project.remove()]);
    },
  };
}
