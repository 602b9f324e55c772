/** A server whose requests are counted, and its metrics as Prometheus reads them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createDatabase } from './database.ts';
import { generateHosted } from './host.ts';
import { type Metrics, parseMetrics } from './metrics-text.ts';
import { createProject, type Platform, startUnchecked } from './platform.ts';

const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs SELECT i, 'Title ' || i FROM generate_series(1, 200) i;
  CREATE TABLE notes (id integer PRIMARY KEY, doc integer REFERENCES docs);
  CREATE TABLE secrets (id integer PRIMARY KEY);`;

/** The same tables on MySQL and MariaDB. */
export const mysqlSql = `
  CREATE TABLE docs (id int PRIMARY KEY, title varchar(50)); INSERT INTO docs VALUES (1, 'Title 1'), (2, 'Title 2');
  CREATE TABLE notes (id int PRIMARY KEY, doc int); CREATE TABLE secrets (id int PRIMARY KEY);`;

/** Rules of the project. */
export const rules = 'permissions: { public: { docs: { read: true, create: true }, notes: { read: true } } }\n';

/** A compiled project over a database. */
export interface Metered {
  readonly folder: string;
  readonly databaseUrl: string;
  /** Starts a server with METRICS_PORT, and ends it after its use. */
  withServer(
    environment: Readonly<Record<string, string>>,
    args: readonly string[],
    use: (server: Platform, metricsUrl: string) => Promise<void>,
  ): Promise<void>;
  close(): Promise<void>;
}

/** Makes the project. */
export async function openMetered(): Promise<Metered> {
  const database = await createDatabase(sql);
  const project = await createProject();
  await writeFile(join(project.folder, 'permissions.yaml'), rules);
  await generateHosted(project.folder, database.url);
  return {
    folder: project.folder,
    databaseUrl: database.url,
    async withServer(environment, args, use) {
      const server = await startUnchecked(project.folder, database.url, { METRICS_PORT: '0', ...environment }, args);
      try {
        await use(server, /"metrics":"([^"]*)"/.exec(server.log())?.[1] ?? '');
      } finally {
        await server.stop();
      }
    },
    async close() {
      await project.remove();
      await database.drop();
    },
  };
}

/** Reads the metrics. */
export async function scrape(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Metrics> {
  const response = await fetch(`${url}/metrics`, { headers });
  expect(response.status).toBe(200);
  const isOpen = response.headers.get('content-type')?.startsWith('application/openmetrics-text') === true;
  return parseMetrics(await response.text(), isOpen);
}

/** Sends requests of every kind. */
export async function ask(server: Platform): Promise<void> {
  for (const key of [1, 2, 3]) await server.ask(`/items/docs/${key}`);
  await server.ask('/items/docs?limit=2');
  await server.ask('/items/docs', { method: 'POST', body: { id: 1 } });
  await server.ask('/items/secrets');
  await server.ask('/items/unknown_of_a_client/5');
  await server.ask('/nothing/of-a-client');
  await server.ask('/items/docs/1', { token: 'wrong' });
  await server.admin('/items/notes?limit=0');
  await server.ask('/graphql', { method: 'POST', body: { query: '{ docs(limit: 1) { id } }' } });
  await server.ask('/graphql', { method: 'POST', body: { query: '{ docs(limit: 1) { id } secrets { id } }' } });
}

/** Route of items by their key. */
export const route = '/items/:collection/:key';
/** Name of the times of requests. */
export const duration = 'http_server_request_duration_seconds';
