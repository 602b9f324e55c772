import { mkdir } from 'node:fs/promises';
import type { PGlite } from '@electric-sql/pglite';
import type { Family } from '@tablewright/introspect';
import {
  databaseLabel,
  EmbeddedInUseError,
  isMysqlUrl,
  lockEmbedded,
  type OwnSql,
  type Parameter,
  runScript,
  type Statement,
} from '@tablewright/runtime';
import type { Dialect } from '@tablewright/runtime/language';
import pg from 'pg';
import { CommandError, exitCodes } from './exit-codes.ts';
import { leave, openReading, type ReadingSession, runText } from './postgres-session.ts';
import { hasDatabase, refuseNewDatabase } from './present-database.ts';
import type { Progress } from './progress.ts';
import type { Project } from './project.ts';
import { databaseUrl, embeddedFolder } from './settings.ts';
import { unreachable } from './unreachable.ts';

/** Runs one statement; values in text form. */
export type Run = (
  sql: string,
  parameters: readonly (string | null)[],
) => Promise<readonly (readonly (string | null)[])[]>;

/** A database opened to read its catalog, or to migrate the platform's own tables in it. */
export interface Source {
  /** For people, without credentials: `PostgreSQL at localhost:5432/shop`. */
  readonly label: string;
  /** Protocol and SQL that the server speaks; `dialect` names the exact server. */
  readonly family: Family;
  readonly dialect: Dialect;
  readonly run: Run;
  /**
   * Runs a statement that was planned for a server, in a session such as servers have; `before` (`EXPLAIN `) stands in front.
   * `settings` (`enable_seqscan = off`) of PostgreSQL hold for this statement alone.
   */
  readonly read: (
    statement: Statement,
    parameters: readonly Parameter[],
    before?: string,
    settings?: readonly string[],
  ) => Promise<readonly (readonly (string | null)[])[]>;
  /**
   * Runs a script: migrations, and the sample's set-up. It has several statements on PostgreSQL, one on MySQL and
   * MariaDB.
   */
  readonly script: (sql: string) => Promise<void>;
  readonly close: () => Promise<void>;
  /** Set where a pooler stands before the server, as far as that is known. */
  readonly pooled?: true;
  /** The running embedded database, which the server takes over; null for a server of its own. */
  readonly embedded: PGlite | null;
}

/** Runs a statement that is written for each family of servers. */
export function runOwn({ run }: Pick<Source, 'run'>, sql: OwnSql, values: readonly (string | null)[]): ReturnType<Run> {
  return typeof sql === 'string' ? run(sql, values) : runScript(sql, values, ({ text }, sent) => run(text, sent));
}

/** Purpose of a connection. */
export interface ConnectOptions {
  /**
   * True for migrations, which find an embedded database as it is, even empty. Other commands must never write,
   * regardless of the role's rights, except for the migrations that a new embedded database begins with.
   */
  readonly writable?: boolean;
}

/** Opens the project's database as a phase of its own. */
export async function connect(project: Project, progress: Progress, options: ConnectOptions = {}): Promise<Source> {
  const isNew = !hasDatabase(project);
  // Making the embedded database keeps this thread busy for seconds, so nothing could tell while it lasts.
  if (isNew) progress.say('  making the embedded PostgreSQL (only this first time) …');
  const source = await progress.phase('connect', () => openSource(project, options));
  if (!isNew || options.writable === true) return source;
  try {
    const { beginDatabase } = await import('./begin-database.ts');
    await beginDatabase(source, project, progress);
    return source;
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** The same for a command that only asks: rejects where an embedded database would have to be made first. */
export async function connectPresent(
  project: Project,
  progress: Progress,
  { hint, ...options }: ConnectOptions & { readonly hint?: string } = {},
): Promise<Source> {
  refuseNewDatabase(project, hint);
  return connect(project, progress, options);
}

/** Opens the project's database. Rejects with advice when it cannot be reached. */
async function openSource(project: Project, { writable = false }: ConnectOptions): Promise<Source> {
  const url = databaseUrl(project);
  if (url === null) return openEmbedded(embeddedFolder(project));
  if (!isMysqlUrl(url)) return openPostgres(url, writable);
  // Commands on PostgreSQL do without the ninety files of the driver.
  const { openMysql } = await import('./mysql-source.ts');
  return openMysql(url, writable);
}

async function openPostgres(url: string, writable: boolean): Promise<Source> {
  const label = databaseLabel(url);
  const open = async (): Promise<pg.Client> => connectPostgres(url);
  const { client, run, runUnder, isShared } = await (writable ? openWriting(open) : openReading(open)).catch(
    (error: unknown) => {
      throw unreachable(label, error);
    },
  );
  return {
    label,
    family: 'postgres',
    dialect: 'postgres',
    run,
    read: ({ text }, parameters, before = '', settings = []) =>
      settings.length === 0 ? run(before + text, parameters) : runUnder(settings, before + text, parameters),
    script: async (sql) => void (await client.query(sql)),
    close: () => client.end(),
    ...(isShared && { pooled: true }),
    embedded: null,
  };
}

async function connectPostgres(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'platform',
    connectionTimeoutMillis: 10_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    leave(client);
    throw error;
  }
}

async function openWriting(connect: () => Promise<pg.Client>): Promise<ReadingSession> {
  const client = await connect();
  const run: Run = (sql, parameters) => runText(client, sql, parameters);
  return { client, run, runUnder: (_, ...statement) => run(...statement), isShared: false };
}

async function openEmbedded(folder: string): Promise<Source> {
  const { PGlite } = await import('@electric-sql/pglite');
  await mkdir(folder, { recursive: true });
  const release = lock(folder);
  const database = await PGlite.create({ dataDir: folder });
  // Every type stays in its text form.
  const parsers = Object.fromEntries(Object.keys(database.parsers).map((type) => [type, (text: string) => text]));
  const form = { rowMode: 'array', parsers } as const;
  const run: Run = async (sql, parameters) => {
    const result = await database.query<(string | null)[]>(sql, [...parameters], form);
    return result.rows;
  };
  const underSettings = (settings: readonly string[], ...[sql, parameters]: Parameters<Run>): ReturnType<Run> =>
    database.transaction(async (inner) => {
      for (const setting of settings) await inner.exec(`SET LOCAL ${setting}`);
      return (await inner.query<(string | null)[]>(sql, [...parameters], form)).rows;
    });
  return {
    label: 'the embedded PostgreSQL',
    family: 'postgres',
    dialect: 'postgres',
    run,
    read: ({ text }, parameters, before = '', settings = []) => underSettings(settings, before + text, parameters),
    script: async (sql) => void (await database.exec(sql)),
    close: () => database.close().finally(release),
    embedded: database,
  };
}

function lock(folder: string): () => void {
  try {
    return lockEmbedded(folder);
  } catch (error) {
    if (!(error instanceof EmbeddedInUseError)) throw error;
    throw new CommandError(exitCodes.database, error.message, error.hint);
  }
}
