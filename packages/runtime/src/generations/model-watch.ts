/**
 * Keeps the served API equal to the platform's own tables. Writes of its own requests are compiled before they commit;
 * writes of other processes and people are found by looking. Source: API specification, section 12.4.
 */

import type { Database, Transaction } from '../database/database.ts';
import { allRows } from '../database/own-statements/own-rows.ts';
import { ownTables } from '../dialects/index.ts';
import type { Listener } from '../dialects/server-dialect.ts';
import { PlatformError } from '../errors.ts';
import { failedValidation } from '../json/problems.ts';
import { type CompiledApi, modelChannel, modelLock } from '../language/index.ts';
import type { ProjectMigration } from '../model/migration-text.ts';
import type { CompileOptions, Made, Problems, WatchedTables } from '../model/model-changer.ts';
import { compiledModel, type ModelChanges, type ModelCollection } from '../model/model-changes.ts';
import type { ModelDigests, Recompiler, RunTexts } from '../model/recompiler.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { SystemPlace } from '../system/place.ts';
import { createModelChanger } from './change-model.ts';
import { createLooks, type Hearings } from './looks.ts';
import { readModelRows } from './model-sql.ts';

/** Options of the watch. */
export interface ModelWatchOptions {
  readonly database: Pick<Database, 'query' | 'transaction' | 'schemaSession'>;
  /** Where the platform's own tables lie. */
  readonly place: SystemPlace;
  readonly recompiler: Recompiler;
  /** The API that is served. */
  readonly current: () => CompiledApi;
  /** Serves another one; resolves when new requests are answered by it. */
  readonly swap: (api: CompiledApi) => Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** False for an embedded database, which belongs to this process. */
  readonly isShared: boolean;
  /** Hears of changes that other processes tell of on `modelChannel`. Default: nothing is heard, only looked for. */
  readonly listen?: (heard: () => void) => Listener;
}

/** Watches the tables. */
export interface ModelWatch {
  readonly changes: ModelChanges;
  /** Looks whether the tables say otherwise than what is served, and serves what they say. Never rejects. */
  look(): Promise<void>;
  /** Looks from now on every two seconds, and whenever the database tells of a change. */
  start(): void;
  stop(): Promise<void>;
}

/** Makes a watch that has not looked yet. */
export function createModelWatch(options: ModelWatchOptions): ModelWatch {
  const { database, place: location, recompiler, current, swap, log } = options;
  const sql = ownTables(location).statements.model;
  let tables: WatchedTables = { place: location, permissions: recompiler.permissions, model: false, ledger: false };
  const compiled = new WeakMap<Transaction, Made>();
  let compilations = 0;
  let served = 0;
  /** Latest compilation, served by now or not. */
  let latest: Made | null = null;
  /** State of the tables when they last agreed with the served API, or did not compile. */
  let lastMark: string | null = null;
  let stopped = false;

  /** `anew` reads the tables of the database again, which is done as well where another process has changed them. */
  async function compileIn(
    run: RunTexts,
    watched: WatchedTables,
    anew: boolean,
    { read, drafts: decoded, unless }: CompileOptions = { read: async () => {} },
  ): Promise<Made | Problems> {
    const rows = unless?.rows ?? (await readModelRows(watched, (text) => run(text, [])));
    // Numbered under the lock, so that the latest state of the tables has the highest number.
    compilations += 1;
    const number = compilations;
    const now = current();
    const over = anew || recompiler.digests(rows).model !== now.modelDigest ? null : now;
    const more = { ...(decoded && { drafts: decoded }), ...(unless && { unless: unless.api }) };
    const result = await recompiler.compile(rows, run, over, read, more);
    if ('problems' in result) return result.problems;
    latest = { number, api: result.api, rows };
    return latest;
  }

  /** The API of what the tables say by now. */
  async function compiledIn(run: RunTexts, watched: WatchedTables): Promise<CompiledApi> {
    const rows = await readModelRows(watched, (text) => run(text, []));
    const digests = recompiler.digests(rows);
    const cached = [current(), ...(latest === null ? [] : [latest.api])].find((api) => matches(api, digests));
    if (cached !== undefined) return cached;
    const made = await compileIn(run, watched, true);
    if ('api' in made) return made.api;
    throw new PlatformError('UNPROCESSABLE_ENTITY', `The rows of the tables do not compile: ${made.join(' ')}`);
  }

  /** Looks for the tables, which may be installed while the server runs. */
  async function findTables(): Promise<void> {
    if (tables.model && tables.ledger) return;
    const [[model, ledger] = []] = await database.query(...sql.readable);
    tables = { ...tables, model: model === '1', ledger: ledger === '1' };
  }

  /** Serves a compilation, unless one of a later state of the tables is served already. */
  async function serve({ number, api }: Made): Promise<void> {
    if (stopped || number <= served) return;
    served = number;
    const start = performance.now();
    const before = current().modelDigest;
    try {
      await swap(api);
    } catch (error) {
      served = number - 1;
      throw error;
    }
    log.info({ milliseconds: Math.round(performance.now() - start) }, 'A generation of the API was replaced.');
    if (api.modelDigest !== before) await keepInProject(api);
  }

  /** The project follows what is served; where it cannot, the database still knows all of it. */
  async function keepInProject(api: CompiledApi): Promise<void> {
    try {
      await findTables();
      await recompiler.keep(api, await readMigrations(database, tables.ledger, sql.migrations));
    } catch (error) {
      log.warn({ cause: describeCause(error) }, 'The project does not hold what is served: it cannot be written.');
    }
  }

  /** Serves what the tables say by now, unless they agree with the served API. */
  async function compare(): Promise<void> {
    await findTables();
    const [stamp = null] = (await database.query(sql.mark(tables), []))[0] ?? [];
    if (stopped || (stamp !== null && stamp === lastMark)) return;
    const rows = await readModelRows(tables, (text) => database.query(text, []));
    const digests = recompiler.digests(rows);
    if (latest !== null && matches(latest.api, digests)) {
      // A request has compiled it, and is about to serve it as well.
      await serve(latest);
    } else if (!matches(current(), digests)) {
      const made = await database.transaction(async (transaction) => {
        await allRows(transaction, sql.lock, [modelLock]);
        return { value: await compileIn(within(transaction), tables, false) };
      });
      if ('api' in made) await serve(made);
      else log.error({ problems: made }, 'The tables hold rows that do not compile. The served version stays.');
    }
    lastMark = stamp;
  }

  const looks = createLooks(compare, log);
  const changeModel = createModelChanger({
    database,
    recompiler,
    tables: () => tables,
    compiledIn,
    compileIn: (run, watched, requested) => compileIn(run, watched, true, requested),
    serve,
    log,
  });

  return {
    changes: {
      refusalOf: (collection) => (recompiler.permissions ? null : compiledModel.refusalOf(collection)),
      async begin(transaction) {
        if (recompiler.permissions) await allRows(transaction, sql.lock, [modelLock]);
      },
      async compile(transaction, collection) {
        if (!recompiler.permissions) return;
        const made = await compileIn(within(transaction), tables, false);
        if (!('api' in made)) throw refusal(collection, made);
        compiled.set(transaction, made);
        await allRows(transaction, sql.announce, [modelChannel]);
      },
      committed(transaction) {
        const made = compiled.get(transaction);
        return made === undefined ? undefined : serve(made);
      },
      changeModel,
    },
    look: looks.look,
    // A process hears itself, too, just before it serves what it has compiled already.
    start: () => looks.start(hearingsOf(options, sql.version)),
    async stop() {
      stopped = true;
      await looks.stop();
      await recompiler.close();
    },
  };
}

/** Sources of changes; of those of rules alone the database tells. */
function hearingsOf({ database, recompiler, listen, isShared }: ModelWatchOptions, versionSql: string): Hearings {
  const hasChanged = watchVersion(database, versionSql);
  return { ...(isShared && { hasChanged }), ...(recompiler.permissions && listen !== undefined && { listen }) };
}

/** Tells if the version was raised since the last question: every write of requests to rules and model does. */
function watchVersion(database: Pick<Database, 'query'>, sql: string): () => Promise<boolean> {
  let version: string | null | undefined;
  return async function hasChanged() {
    const [[current = null] = []] = await database.query(sql, []);
    const changed = version !== undefined && version !== current;
    version = current;
    return changed;
  };
}

async function readMigrations(
  database: Pick<Database, 'query'>,
  hasLedger: boolean,
  sql: string,
): Promise<readonly ProjectMigration[]> {
  const rows = hasLedger ? await database.query(sql, []) : [];
  return rows.map(([name, checksum, source]) => ({ name: name ?? '', checksum: checksum ?? '', script: source ?? '' }));
}

function within(transaction: Transaction): RunTexts {
  return (text, parameters) => allRows(transaction, text, parameters);
}

/** True if an API was compiled of rows with these digests. */
function matches(api: CompiledApi, { permissions, model }: ModelDigests): boolean {
  return api.permissionsDigest === permissions && api.modelDigest === model;
}

/** Error with the reasons why written rows do not compile. */
function refusal(collection: ModelCollection, problems: readonly string[]) {
  const location = { collection, index: undefined };
  return failedValidation(location, null, 'compile', `does not compile: ${problems.join(' ')}`.replace(/\.$/, ''));
}
