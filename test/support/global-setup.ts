import type { TestProject } from 'vitest/node';
import { startPostgres } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser connection to the one PostgreSQL server of this run. */
    postgresUrl: string;
  }
}

/** Starts the run's PostgreSQL server, gives its address to the tests, and returns what stops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  process.stderr.write(`PostgreSQL ${server.version} (${server.source}) for this run\n`);
  project.provide('postgresUrl', server.url);
  return server.stop;
}
