/** A server whose spans are exported to a collector by the module of docs/traces.md, with the SDK of OpenTelemetry. */
import { mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createDatabase } from './database.ts';
import { generateHosted } from './host.ts';
import { type CollectedSpan, type Collector, startCollector } from './otlp-collector.ts';
import { createProject, type Platform, startUnchecked } from './platform.ts';

const sql = `
  CREATE TABLE docs (id integer PRIMARY KEY, title text); INSERT INTO docs SELECT i, 'Title ' || i FROM generate_series(1, 200) i;
  CREATE TABLE notes (id integer PRIMARY KEY); CREATE TABLE secrets (id integer PRIMARY KEY);`;
/** The same tables on MySQL and MariaDB. */
export const mysqlSql = `
  CREATE TABLE docs (id int PRIMARY KEY, title varchar(50)); INSERT INTO docs VALUES (1, 'Title 1'), (2, 'Title 2');
  CREATE TABLE notes (id int PRIMARY KEY); CREATE TABLE secrets (id int PRIMARY KEY);`;
/** Written by a server when a hook has ended its work behind the commit. */
export const committed = 'All is done behind the commit.';
/** A row with an even id is refused; those that are made are counted in another table. */
const hooks = `import { PlatformError } from '@tablewright/runtime';
import { defineExtension } from '../generated/extension.js';

export default defineExtension(({ before, after, afterCommit }) => {
  before('notes.create', async ({ payload, items }) => {
    await items.asAdmin('docs').list({ fields: ['id'], filter: { id: 1 } });
    if (payload.id === 13) throw new PlatformError('UNPROCESSABLE_ENTITY', 'of-a-client');
  });
  after('notes.create', ({ payload }) => {
    if (payload.id === 14) throw new Error('of-a-client');
  });
  afterCommit('notes.create', async ({ items }) => {
    await items.asAdmin('docs').list({ fields: ['title'], filter: { id: 2 } });
    console.warn('${committed}');
  });
});
`;
const rules =
  'permissions: { public: { docs: { read: true, create: true, update: true }, notes: { read: true, create: true } } }\n';

/** A project over a database, and the collector of its spans. */
export interface Tracing {
  readonly collector: Collector;
  readonly folder: string;
  readonly databaseUrl: string;
  /** Serves the project, or another one, with the module, and gives the spans that were exported when it had ended. */
  traced(
    use: (server: Platform) => Promise<unknown>,
    environment?: Readonly<Record<string, string>>,
    args?: readonly string[],
    place?: readonly [folder: string, databaseUrl: string],
  ): Promise<readonly CollectedSpan[]>;
  close(): Promise<void>;
}

/** Makes the project and starts the collector. */
export async function openTracing(): Promise<Tracing> {
  const database = await createDatabase(sql);
  const project = await projectOver(database.url);
  const collector = await startCollector(project.folder);
  return {
    collector,
    folder: project.folder,
    databaseUrl: database.url,
    async traced(use, environment = {}, args = [], [folder, url] = [project.folder, database.url]) {
      collector.take();
      const server = await startUnchecked(folder, url, { ...collector.variables, ...environment }, args);
      try {
        await use(server);
      } finally {
        expect(await server.stop()).toBe(0);
      }
      return collector.take();
    },
    async close() {
      await project.remove();
      await collector.close();
      await database.drop();
    },
  };
}

/** Makes a project with a hook, over a database with the same tables. */
export async function projectOver(url: string): ReturnType<typeof createProject> {
  const made = await createProject();
  await writeFile(join(made.folder, 'permissions.yaml'), rules);
  await mkdir(join(made.folder, 'extensions'));
  await writeFile(join(made.folder, 'extensions/notes.ts'), hooks);
  await generateHosted(made.folder, url);
  return made;
}

/** Spans of a kind. */
export const ofKind = (spans: readonly CollectedSpan[], kind: CollectedSpan['kind']) =>
  spans.filter((span) => span.kind === kind);

/** The span of the only request, and those below it. */
export function tree(spans: readonly CollectedSpan[]) {
  const [server, ...others] = ofKind(spans, 'server');
  if (server === undefined || others.length > 0) throw new Error(`${others.length} other requests`);
  expect(spans.every(({ traceId }) => traceId === server.traceId)).toBe(true);
  return { server, statements: ofKind(spans, 'client') };
}

/** Sends requests in one piece, so that they arrive at once; resolves when all are answered. */
export function sendTogether(server: Platform, bodies: readonly string[]): Promise<void> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.on('error', reject).on('data', (chunk) => {
      received += String(chunk);
      if (received.split('HTTP/1.1 200').length <= bodies.length) return;
      socket.destroy();
      resolve();
    });
    socket.write(bodies.join(''));
  });
}

/** Reads by key. */
export const reads = (keys: readonly number[]) =>
  keys.map((key) => `GET /items/docs/${key} HTTP/1.1\r\nhost: x\r\n\r\n`);
/** New rows with these keys. */
export const creates = (keys: readonly number[]) =>
  keys.map((id) => {
    const body = JSON.stringify({ id });
    const head = `host: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
    return `POST /items/docs HTTP/1.1\r\n${head}\r\n\r\n${body}`;
  });

/** Makes a row. */
export const post = (server: Platform, body: unknown) => server.ask('/items/docs', { method: 'POST', body });

/** Keys of rows that are there. */
export const twenty = Array.from({ length: 20 }, (_, index) => index + 1);
