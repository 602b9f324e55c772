import { visible } from '@tablewright/introspect/resolve';
import type { Schema, Table } from '@tablewright/introspect/schema';
import type { DatabasePlace, Parameter, Statement } from '@tablewright/runtime';
import { type Dialect, dialectFacts, type Family, ownSchema } from '@tablewright/runtime/language';
import { inTime, type OwnSql, runScript } from '@tablewright/runtime/tools';

/** Runs one statement; values in text form. */
export type Run = (
  sql: string,
  parameters: readonly (string | null)[],
) => Promise<readonly (readonly (string | null)[])[]>;

/** A database opened to read its catalog, or to migrate the platform's own tables in it. */
export interface Source {
  /** For people, without credentials: the server at `localhost:5432/shop`. */
  readonly label: string;
  /** Protocol and SQL that the server speaks; `dialect` names the exact server. */
  readonly family: Family;
  readonly dialect: Dialect;
  readonly run: Run;
  /**
   * Runs a statement that was planned for a server, in a session such as servers have; `before` (`EXPLAIN `) stands in front.
   * `settings` (`enable_seqscan = off`) hold for this statement alone, where there are such.
   */
  readonly read: (
    statement: Statement,
    parameters: readonly Parameter[],
    before?: string,
    settings?: readonly string[],
  ) => Promise<readonly (readonly (string | null)[])[]>;
  /** Runs a script, of several statements where the server takes them as one text, else of one. */
  readonly script: (sql: string) => Promise<void>;
  /** Other sessions whose locks the running statement waits for, for people; null where the server cannot say. */
  readonly findBlockers?: () => Promise<readonly string[] | null>;
  readonly close: () => Promise<void>;
  /** Set where a pooler stands before the server, as far as that is known. */
  readonly pooled?: true;
  /** The running embedded database, which the server takes over; null for a server of its own. */
  readonly embedded: Extract<DatabasePlace, { readonly embedded: unknown }>['embedded'] | null;
}

/** Milliseconds for the first answer of a server, and for the end of a connection. */
const [firstMs, endMs] = [10_000, 1_000];

/** Waits for the first answer on a connection: a proxy before a server that hangs accepts one, and answers nothing on it. */
export function firstAnswer<T>(reply: Promise<T>): Promise<T> {
  return inTime(reply, firstMs, () => Promise.reject(new Error('timeout expired')));
}

/** Ends a connection, by `cut` at last: an open one, as to a server that hangs, would keep the command from ending. */
export async function endConnection(end: Promise<unknown>, cut: () => void): Promise<void> {
  await inTime(end, endMs, () => undefined);
  cut();
}

/** Milliseconds without an answer after which a wait is told, and for finding its reason. */
const [slowMs, findMs] = [5_000, 2_000];

/** Takes a sentence that the database has not answered for five seconds, with the reason if it is known; null when it answers. */
export type WaitListener = (wait: string | null) => void;

/** Has waits of a source told, as where another session holds a lock: without a word a command would seem to hang. */
export function watchWaits(source: Source, onWait: WaitListener): Source {
  let pending = 0;
  let wait: NodeJS.Timeout | undefined;
  const begin = (): void => {
    const current = setTimeout(async () => {
      const text = await describeWait(source);
      if (wait === current) onWait(text);
    }, slowMs).unref();
    wait = current;
  };
  const end = (): void => {
    clearTimeout(wait);
    wait = undefined;
    onWait(null);
  };
  const watched =
    <Args extends readonly unknown[], Result>(send: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (pending++ === 0) begin();
      try {
        return await send(...args);
      } finally {
        end();
        if (--pending > 0) begin();
      }
    };
  return { ...source, run: watched(source.run), read: watched(source.read), script: watched(source.script) };
}

async function describeWait({ findBlockers }: Source): Promise<string> {
  const found = findBlockers?.().catch(() => null) ?? Promise.resolve(null);
  const sessions = await inTime(found, findMs, () => null);
  const text = 'The database has not answered for 5 seconds';
  if (sessions?.length === 0) return `${text}.`;
  if (sessions !== null) return `${text}: it waits for a lock of ${visible(sessions.join(' and '))}.`;
  return `${text}: another session may hold a lock, as a transaction that has changed tables and is open.`;
}

/** Runs a statement that is written for each family of servers. */
export function runOwn({ run }: Pick<Source, 'run'>, sql: OwnSql, values: readonly (string | null)[]): ReturnType<Run> {
  return typeof sql === 'string' ? run(sql, values) : runScript(sql, values, ({ text }, sent) => run(text, sent));
}

/** Does the work in one transaction, of which nothing stays where it fails. */
export async function inTransaction<T>(source: Source, work: () => Promise<T>): Promise<T> {
  await source.script('BEGIN');
  try {
    const result = await work();
    await source.script('COMMIT');
    return result;
  } catch (error) {
    await source.script('ROLLBACK');
    throw error;
  }
}

/** A column, or one part of another name, between the quotes of the server. */
export function quotedName(dialect: Schema['dialect'], name: string): string {
  const { quote } = dialectFacts[dialect];
  return `${quote}${name.replaceAll(quote, `${quote}${quote}`)}${quote}`;
}

/** A table with its schema, unless that is the database of the connection. */
export function quotedTable(dialect: Schema['dialect'], { schema, name }: Pick<Table, 'schema' | 'name'>): string {
  const parts = !dialectFacts[dialect].hasSchemas && schema === ownSchema ? [name] : [schema, name];
  return parts.map((part) => quotedName(dialect, part)).join('.');
}
