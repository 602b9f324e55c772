/**
 * Keeps the served API equal to the platform's own tables. Writes of its own requests are compiled before they commit;
 * writes of other processes and people are found by looking. Source: API specification, section 12.4.
 */
import { randomUUID } from 'node:crypto';
import { type Database, type Transaction, wholeOf } from '../database/database.ts';
import { allRows } from '../database/own-statements.ts';
import { ownTables, serverOf } from '../dialects/index.ts';
import type { ModelTables } from '../dialects/own-tables.ts';
import type { Listener } from '../dialects/server-dialect.ts';
import { PlatformError } from '../errors.ts';
import { failedValidation } from '../json/problems.ts';
import { type CompiledApi, modelChannel, modelLock } from '../language/index.ts';
import {
  type ChangeModel,
  type CompileOptions,
  compiledModel,
  type Made,
  type ModelChangerOptions,
  type ModelChanges,
  type ModelCollection,
  type Problems,
  type WatchedTables,
} from '../model/model-changer.ts';
import type { ModelDigests, ModelRows, ProjectMigration, Recompiler, RunTexts } from '../model/recompiler.ts';
import type { Broadcast } from '../operate/broadcast.ts';
import { describeCause, type Log } from '../operate/log.ts';
import type { SystemPlace } from '../system/place.ts';
import { inOrder } from './generations.ts';
import { type Hearings, Looks } from './looks.ts';

interface ModelWatchOptions {
  readonly database: Pick<Database, 'query' | 'transaction' | 'schemaSession'>;
  /** Place of the platform's own tables. */
  readonly place: SystemPlace;
  readonly recompiler: Recompiler;
  readonly current: () => CompiledApi;
  /** Serves another one; resolves when new requests are answered by it. */
  readonly swap: (api: CompiledApi) => Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** False for an embedded database, which belongs to this process. */
  readonly isShared: boolean;
  /** Hears of changes that processes tell of on `modelChannel`. Default: nothing is heard, only looked for. */
  readonly listen?: (heard: (sender?: string) => void) => Listener;
  /** Another way of that, on which other processes are told as well. */
  readonly broadcast?: Pick<Broadcast, 'publish' | 'subscribe'>;
}

export interface ModelWatch {
  readonly changes: ModelChanges;
  /** Looks whether the tables say otherwise than what is served, and serves what they say. Never rejects. */
  look(): Promise<void>;
  /** True if the model in the tables is another one than that of an API. */
  isOutdated(api: CompiledApi): Promise<boolean>;
  /** Looks from now on every two seconds, and whenever the database tells of a change. */
  start(): void;
  stop(): Promise<void>;
}

export function createModelWatch(options: ModelWatchOptions): ModelWatch {
  return new TableWatch(options);
}

class TableWatch implements ModelWatch {
  readonly #options: ModelWatchOptions;
  readonly #sql: ModelTables;
  readonly #looks: Looks;
  readonly #sender = randomUUID();
  #tables: Omit<WatchedTables, 'permissions'>;
  readonly #compiled = new WeakMap<Transaction, Made>();
  #compilations = 0;
  #served = 0;
  /** Serves compilations one by one: a slow start of an API must not put it in the place of a later one. */
  readonly #serve = inOrder((made: Made) => this.#serveNext(made));
  /** Latest compilation, served by now or not. */
  #latest: Made | null = null;
  /** State of the tables when they last agreed with the served API, or did not compile. */
  #lastMark: string | null = null;
  /** The served API by then: others than this watch may replace it. */
  #lastApi: CompiledApi | null = null;
  #stopped = false;
  readonly changes: ModelChanges;

  constructor(options: ModelWatchOptions) {
    const { place: location, log } = options;
    this.#options = options;
    this.#sql = ownTables(location).statements.model;
    this.#tables = { place: location, model: false, ledger: false };
    this.#looks = new Looks(() => this.#compare(), log);
    this.changes = this.#makeChanges();
  }

  look(): Promise<void> {
    return this.#looks.look();
  }

  /** The tables, with the source of the rules as the project has it by now. */
  get #watched(): WatchedTables {
    return { ...this.#tables, permissions: this.#options.recompiler.permissions };
  }

  async isOutdated({ modelDigest }: CompiledApi): Promise<boolean> {
    const { database, recompiler } = this.#options;
    await this.#findTables();
    const rows = await readModelRows(this.#watched, (text) => database.query(text, []));
    return recompiler.digests(rows).model !== modelDigest;
  }

  start(): void {
    this.#looks.start(hearingsOf(this.#options, this.#sql.version, this.#sender));
    this.#options.broadcast?.subscribe('rules', () => void this.look());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#looks.stop();
    await this.#options.recompiler.close();
  }

  #makeChanges(): ModelChanges {
    const { database, recompiler, log } = this.#options;
    return {
      refusalOf: (collection) => (recompiler.permissions ? null : compiledModel.refusalOf(collection)),
      begin: async (transaction) => {
        if (recompiler.permissions) await allRows(transaction, this.#sql.lock, [modelLock]);
      },
      compile: async (transaction, collection) => {
        if (recompiler.permissions) await this.#compileWrite(transaction, collection);
      },
      committed: (transaction) => {
        const made = this.#compiled.get(transaction);
        return made === undefined ? undefined : this.#serveOwn(made);
      },
      changeModel: createModelChanger({
        database,
        recompiler,
        tables: () => this.#watched,
        compiledIn: (run, watched) => this.#compiledIn(run, watched),
        compileIn: (run, watched, requested) => this.#compileIn(run, watched, true, requested),
        serve: (made) => this.#serveOwn(made),
        sender: this.#sender,
        log,
      }),
    };
  }

  async #compileWrite(transaction: Transaction, collection: ModelCollection): Promise<void> {
    const made = await this.#compileIn(within(transaction), this.#watched, false);
    if (!('api' in made)) throw refusal(collection, made);
    this.#compiled.set(wholeOf(transaction), made);
    await allRows(transaction, this.#sql.announce, [modelChannel, this.#sender]);
  }

  /** `anew` reads the tables of the database again, which is done as well where another process has changed them. */
  async #compileIn(
    run: RunTexts,
    watched: WatchedTables,
    anew: boolean,
    { read, drafts: decoded, unless }: CompileOptions = { read: async () => {} },
  ): Promise<Made | Problems> {
    const rows = unless?.rows ?? (await readModelRows(watched, (text) => run(text, [])));
    // Numbered under the lock, so that the latest state of the tables has the highest number.
    this.#compilations += 1;
    const number = this.#compilations;
    const now = this.#options.current();
    const over = anew || this.#options.recompiler.digests(rows).model !== now.modelDigest ? null : now;
    const more = { served: now, ...(decoded && { drafts: decoded }), ...(unless && { unless: unless.api }) };
    const result = await this.#options.recompiler.compile(rows, run, over, read, more);
    if ('problems' in result) return result.problems;
    this.#latest = { number, api: result.api, rows };
    return this.#latest;
  }

  /** The API of what the tables say by now. */
  async #compiledIn(run: RunTexts, watched: WatchedTables): Promise<CompiledApi> {
    const rows = await readModelRows(watched, (text) => run(text, []));
    const digests = this.#options.recompiler.digests(rows);
    const apis = [this.#options.current(), ...(this.#latest === null ? [] : [this.#latest.api])];
    const cached = apis.find((api) => matches(api, digests));
    if (cached !== undefined) return cached;
    const made = await this.#compileIn(run, watched, true);
    if ('api' in made) return made.api;
    throw new PlatformError('UNPROCESSABLE_ENTITY', `The rows of the tables do not compile: ${made.join(' ')}`);
  }

  /** Looks for the tables, which may be installed while the server runs. */
  async #findTables(): Promise<void> {
    if (this.#tables.model && this.#tables.ledger) return;
    const [[model, ledger] = []] = await this.#options.database.query(...this.#sql.readable);
    this.#tables = { ...this.#tables, model: model === '1', ledger: ledger === '1' };
  }

  /** Serves a compilation of a committed change, and tells of it. */
  #serveOwn(made: Made): Promise<void> {
    this.#options.broadcast?.publish('rules');
    return this.#serve(made);
  }

  /** Serves a compilation, unless one of a later state of the tables is served by then. */
  async #serveNext({ number, api }: Made): Promise<void> {
    if (this.#stopped || number <= this.#served) return;
    const { current, swap, log } = this.#options;
    const start = performance.now();
    const before = current().modelDigest;
    await swap(api);
    this.#served = number;
    log.info({ milliseconds: Math.round(performance.now() - start) }, 'A generation of the API was replaced.');
    if (api.modelDigest !== before) await this.#keepInProject(api);
  }

  /** The project follows what is served; where it cannot, the database still knows all of it. */
  async #keepInProject(api: CompiledApi): Promise<void> {
    const { database, recompiler, log } = this.#options;
    try {
      await this.#findTables();
      await recompiler.keep(api, await readMigrations(database, this.#tables.ledger, this.#sql.migrations));
    } catch (error) {
      log.warn({ cause: describeCause(error) }, 'The project does not hold what is served: it cannot be written.');
    }
  }

  /** Serves what the tables say by now, unless they agree with the served API. */
  async #compare(): Promise<void> {
    const { database, recompiler, current, log } = this.#options;
    await this.#findTables();
    const [stamp = null] = (await database.query(this.#sql.mark(this.#watched), []))[0] ?? [];
    let served = current();
    if (this.#stopped || (stamp !== null && stamp === this.#lastMark && served === this.#lastApi)) return;
    const rows = await readModelRows(this.#watched, (text) => database.query(text, []));
    const digests = recompiler.digests(rows);
    const latest = this.#latest;
    if (latest !== null && latest.number > this.#served && matches(latest.api, digests)) {
      // A request has compiled it, and is about to serve it as well.
      await this.#serve(latest);
      served = latest.api;
    } else if (!matches(current(), digests)) {
      const made = await database.transaction(async (transaction) => {
        await allRows(transaction, this.#sql.lock, [modelLock]);
        return { value: await this.#compileIn(within(transaction), this.#watched, false) };
      });
      if ('api' in made) {
        await this.#serve(made);
        served = made.api;
      } else log.error({ problems: made }, 'The tables hold rows that do not compile. The served version stays.');
    }
    this.#lastMark = stamp;
    this.#lastApi = served;
  }
}

/** Sources of changes; of those of rules alone the database tells. */
function hearingsOf(
  { database, recompiler, listen, isShared }: ModelWatchOptions,
  versionSql: string,
  sender: string,
): Hearings {
  const hasChanged = watchVersion(database, versionSql);
  const isListening = recompiler.permissions && listen !== undefined;
  return {
    ...(isShared && { hasChanged }),
    ...(isListening && { listen: (heard) => listen((from) => heard(from === sender)) }),
  };
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

function matches(api: CompiledApi, { permissions, model }: ModelDigests): boolean {
  return api.permissionsDigest === permissions && api.modelDigest === model;
}

/** Error with the reasons why written rows do not compile. */
function refusal(collection: ModelCollection, problems: readonly string[]) {
  const location = { collection, index: undefined };
  return failedValidation(location, null, 'compile', `does not compile: ${problems.join(' ')}`.replace(/\.$/, ''));
}

function createModelChanger(options: ModelChangerOptions): ChangeModel {
  return async (...requested) => {
    const { place: location, model } = options.tables();
    if (!model) throw new PlatformError('UNPROCESSABLE_ENTITY', uninstalled);
    const { answer: response, made } = await serverOf(location.dialect).changeModel(options, requested);
    if (made !== null) await options.serve(made);
    return response;
  };
}

const uninstalled =
  'The platform’s own tables cannot be read, and changes of the model are written there. Run `platform migrate`.';

/** Reads everything of which the API is compiled. */
async function readModelRows(
  { place: location, permissions, model, ledger }: WatchedTables,
  run: (text: string) => Promise<ModelRows['model']>,
): Promise<ModelRows> {
  const statements = ownTables(location).statements.model;
  return {
    roles: permissions ? await run(statements.roles) : [],
    rules: permissions ? await run(statements.rules) : [],
    model: model ? await run(statements.rows(ledger)) : [],
  };
}
