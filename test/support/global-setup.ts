import type { TestProject } from 'vitest/node';
import { makeBundle } from './bundle.ts';
import { startPostgres, withClient } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser connection to the one PostgreSQL server of this run. */
    postgresUrl: string;
  }
}

/** Bundles the packages, starts the run's PostgreSQL server, unless `POSTGRES_URL` names one, gives its address to the tests, and returns what stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await makeBundle();
  const named = process.env.POSTGRES_URL;
  if (named !== undefined) {
    project.provide('postgresUrl', named);
    return async () => {};
  }
  const server = await startPostgres();
  await keepOrder(server.url);
  process.stderr.write(`PostgreSQL ${server.version} (${server.source}) for this run\n`);
  project.provide('postgresUrl', server.url);
  return server.stop;
}

/** Rows come in the order of their making where nothing sorts them, also after others were deleted: see empty-tables.ts. */
function keepOrder(url: string): Promise<void> {
  return withClient(url, async (client) => {
    await client.query('ALTER SYSTEM SET autovacuum = off');
    await client.query('SELECT pg_reload_conf()');
  });
}
